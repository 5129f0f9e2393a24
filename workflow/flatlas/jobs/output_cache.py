"""Snakemake's cache of results between workflows: checks that keep damaged entries out."""

import logging
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from flatlas.errors import FlatlasError
from flatlas.store.provenance import NAME, OF_FILES, checksum, read_provenance

if TYPE_CHECKING:
    from snakemake.jobs import Job

logger = logging.getLogger("snakemake")


def check_entries() -> None:
    """Make Snakemake check the files of an entry before it links them.

    If a file is damaged, the job runs, and its results replace the entry.
    """
    from snakemake.caching.local import OutputFileCache

    fetch = OutputFileCache.fetch

    async def fetch_intact(self: OutputFileCache, job: "Job") -> None:
        entry = dict(await self.get_outputfiles_and_cachefiles(job))
        # Another process may still be storing an entry that lacks files.
        if not all(file.is_file() for file in entry.values()):
            self.raise_cache_miss_exception(job)
        if not is_intact(entry):
            names = ", ".join(map(str, entry.values()))
            logger.warning("An entry of the cache is damaged, so its job runs again: %s", names)
            self.raise_cache_miss_exception(job)
        await fetch(self, job)

    OutputFileCache.fetch = fetch_intact


def is_intact(entry: dict[Path, Path]) -> bool:
    """Whether the files of an entry (output: file in the cache) are what their job wrote."""
    provenance = next(file for output, file in entry.items() if output.name == NAME)
    try:
        known = read_provenance(provenance)[OF_FILES]
        return all(
            checksum(file) == known.get(output.name)
            for output, file in entry.items()
            if output.name != NAME
        )
    except (FlatlasError, OSError):
        return False


def warn_if_open() -> None:
    """Warn if every local user can change the results in the cache."""
    folder = Path(os.environ.get("SNAKEMAKE_OUTPUT_CACHE", "")).resolve()
    if "SNAKEMAKE_OUTPUT_CACHE" not in os.environ or not folder.is_dir():
        return
    if all(os.stat(one).st_mode & stat.S_IXOTH for one in (folder, *folder.parents)):
        logger.warning(
            "Every user of this machine can change the results in the cache %s, because Snakemake "
            "makes its entries writable for all. Close it: chmod o= %s",
            folder,
            folder,
        )
