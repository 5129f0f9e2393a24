"""The folder of the data sets: errors about a set that it lacks.

The module is outside `plan`, so that its fingerprint belongs to the job that reads the images
(plan/fingerprint.py).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flatlas.errors import FlatlasError


class NotInDataRootError(FlatlasError):
    """A data set that is not in the data root."""


@contextmanager
def naming_data_root(root: Path, said_in: str) -> Iterator[None]:
    """Name the place where data_root was set in an error about a set that `root` lacks."""
    try:
        yield
    except NotInDataRootError as error:
        raise FlatlasError(f"{error} data_root is {root}, from {said_in}.") from error


def hint(root: Path, folder: str) -> str:
    """' Set data_root=….' if the data root already has the first folders of the path, else ''."""
    inside = Path(folder).parts
    for depth in range(1, len(inside) + 1):
        above = Path(*root.absolute().parts[:-depth])
        if root.absolute().parts[-depth:] == inside[:depth] and (above / folder).is_dir():
            return f" Set data_root={above}, which has it."
    return ""
