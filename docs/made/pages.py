"""Pages with parts that are made."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PART = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)


def filled(page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The page with each of its made parts as it should be."""
    return PART.sub(lambda part: f"{part[1]}\n{parts[part[2]]().strip()}\n\n{part[3]}", page)


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table; a bar within a cell is no end of it."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
