"""`make docs`: fill in the parts of pages that repeat what is written elsewhere.

Such a part is between <!-- made: NAME --> and <!-- end: NAME -->; the rest of the page is written
by hand. A test compares the pages with what is made here.
"""

from dag import draw_plan
from figures import FIGURES
from pages import ROOT, filled
from settings import SETTINGS
from verdicts import VERDICTS

PAGES = ("README.md", "config/README.md", "docs/figures.md", "docs/add-a-claim.md")
PARTS = {**SETTINGS, **FIGURES, **VERDICTS}


if __name__ == "__main__":
    draw_plan()
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), PARTS), encoding="utf-8")
