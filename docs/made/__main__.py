"""Write anew what pages say that is known elsewhere: `make docs`.

Such a part of a page stands between <!-- made: NAME --> and <!-- end: NAME -->; the rest of the
page is written by hand. A test holds the pages against what is made here.
"""

from dag import draw_plan
from figures import FIGURES
from pages import ROOT, filled
from settings import SETTINGS
from verdicts import VERDICTS

PAGES = ("README.md", "config/README.md", "docs/figures.md")
PARTS = {**SETTINGS, **FIGURES, **VERDICTS}


if __name__ == "__main__":
    draw_plan()
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), PARTS), encoding="utf-8")
