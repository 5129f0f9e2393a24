"""Pages with generated parts, and Markdown tables."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "config/README.md",
    "docs/figures.md",
    "docs/add-a-claim.md",
    "docs/claims.md",
    "docs/columns.md",
    "docs/annealing.md",
    "docs/atlas.md",
    "docs/duality.md",
    "docs/false_friend.md",
    "docs/library.md",
    "docs/mystery.md",
    "docs/prior.md",
    "docs/scale.md",
)
PART = re.compile(r"(<!-- made: ([\w-]+) -->\n).*?(<!-- end: \2 -->)", re.DOTALL)


def filled(page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """The page with each generated part as it should be."""
    return PART.sub(lambda part: f"{part[1]}\n{parts[part[2]]().strip()}\n\n{part[3]}", page)


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table. A bar in a cell is escaped, or it would end the cell."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
