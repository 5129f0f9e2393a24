"""`make docs`: write the generated parts of pages, the galleries' pages, their explorer, the plan.

A part is between <!-- made: NAME --> and <!-- end: NAME -->; the rest of the page is written by
hand. tests/test_docs.py checks that the parts are up to date.
"""

from claims import CLAIMS
from columns import COLUMNS
from dag import draw_plan
from explorer import write_explorer
from figures import FIGURES
from gallery import galleries
from pages import PAGES, ROOT, filled
from settings import SETTINGS
from verdicts import VERDICTS

PARTS = {**CLAIMS, **COLUMNS, **SETTINGS, **FIGURES, **VERDICTS}


if __name__ == "__main__":
    draw_plan()
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), PARTS), encoding="utf-8")
    for path, text in galleries().items():
        path.write_text(text, encoding="utf-8")
    write_explorer()
