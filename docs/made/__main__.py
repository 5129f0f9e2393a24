"""Write anew what pages say that is known elsewhere: `make docs`.

Such a part of a page stands between <!-- made: NAME --> and <!-- end: NAME -->; the rest of the
page is written by hand. A test holds the pages against what is made here.
"""

import io

from figures import FIGURES, plan
from pages import ROOT, filled
from PIL import Image
from settings import SETTINGS
from verdicts import VERDICTS

from flatlas.figures.dag import draw_dag
from flatlas.plan.stages import stages

PAGES = ("README.md", "config/README.md", "docs/figures.md")
PARTS = {**SETTINGS, **FIGURES, **VERDICTS}


def draw_plan() -> None:
    """docs/dag.png: the picture of the demo, small."""
    drawn = io.BytesIO()
    draw_dag(stages(plan("demo"))).savefig(drawn, dpi=130)
    with Image.open(drawn) as picture:
        # The rare colours are those of the dots.
        few = picture.convert("RGB").quantize(
            96, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
        few.save(ROOT / "docs" / "dag.png", optimize=True)


if __name__ == "__main__":
    draw_plan()
    for name in PAGES:
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), PARTS), encoding="utf-8")
