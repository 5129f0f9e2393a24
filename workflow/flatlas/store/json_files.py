"""JSON files that people can read and compare line by line."""

import json
from pathlib import Path
from typing import Any

from flatlas.store.atomic import write_text
from flatlas.store.damage import unreadable


def write_json(path: str | Path, tree: Any) -> None:
    """Write one JSON value."""
    write_text(path, json.dumps(tree, indent=1, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> Any:
    """The JSON value in a file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
