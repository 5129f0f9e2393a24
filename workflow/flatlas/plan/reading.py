"""A better error where Snakemake can't read its configuration file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
