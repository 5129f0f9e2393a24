"""The examples that the pages in docs/ print."""

import re
from pathlib import Path
from textwrap import dedent

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page):
    """The code of a page, block by block."""
    text = (DOCS / page).read_text()
    found = re.findall(r"(?:^ {8}.*\n(?:\n+(?= {8}))?)+", text, flags=re.MULTILINE)
    return [dedent(block) for block in found]
