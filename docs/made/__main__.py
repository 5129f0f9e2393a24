"""`make docs`: write the generated parts of pages, the galleries' pages, their explorer, the plan.

A part is between <!-- made: NAME --> and <!-- end: NAME -->. The rest of a page is written by hand,
except the numbers of claims that it cites (cited.py). tests/test_docs.py checks all of them.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow"))

from cited import scorecards, updated
from dag import draw_plan
from explorer import write_explorer
from gallery import galleries
from pages import PAGES, ROOT, filled
from parts import PARTS

if __name__ == "__main__":
    draw_plan()
    for name in PAGES:
        page = ROOT / name
        text = filled(page.read_text(encoding="utf-8"), PARTS)
        page.write_text(updated(text, scorecards()), encoding="utf-8")
    for path, text in galleries().items():
        path.write_text(text, encoding="utf-8")
    write_explorer()
