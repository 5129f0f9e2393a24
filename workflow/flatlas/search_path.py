"""Where the processes that flatlas starts find Python modules."""

import os
from pathlib import Path

# The folder with this library.
LIBRARY = Path(__file__).resolve().parents[1]


def search_path() -> str:
    """PYTHONPATH for a process: the library first, then what the user has set."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([str(LIBRARY), *(one for one in given if one not in ("", str(LIBRARY)))])
