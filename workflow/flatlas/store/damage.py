"""The error about a file that can't be read."""

from pathlib import Path

from flatlas.errors import FlatlasError

REMEDY = "and snakemake makes it again"


def unreadable(path: str | Path, error: Exception) -> FlatlasError:
    """The error to raise: the file, what is wrong with it, and what to do."""
    return FlatlasError(f"{path} can't be read ({error}). Delete it, {REMEDY}.")
