"""Configuration files as Snakemake reads them, with a better error if it can't."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

# Ten times as fast if PyYAML was built with libyaml.
QUICK_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Say what is wrong with the file and where, if Snakemake fails to read it."""
    try:
        yield
    except Exception:
        # Imported here because its models are slow to load.
        from flatlas.plan.documents import read_yaml

        read_yaml(Path(file))
        raise


def where_set(key: str, config: Mapping[str, Any], files: Sequence[str | Path]) -> str:
    """Where a top-level key of the configuration is set: in a file, or by --config.

    `files` are those that Snakemake has read: first those of --configfile, then config/config.yaml.
    Of those of --configfile the last one decides.
    """
    *given, own = files
    for file in (*reversed(given), own):
        tree = yaml.load(Path(file).read_bytes(), QUICK_LOADER)
        if key in tree:
            # Text, since Snakemake has paths here, and the parameters of a job must be text.
            return str(file) if tree[key] == config[key] else "--config"
    return "--config"
