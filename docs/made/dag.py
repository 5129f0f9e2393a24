"""docs/dag.png, the picture of the demo's plan."""

import hashlib
import io
import json
from typing import Any

from figures import jobs, plan
from pages import ROOT
from pictures import with_few_colours
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from flatlas.plan.graph import picture
from flatlas.plotting.dag import draw_dag

PICTURE = ROOT / "docs" / "dag.png"
# The text of the PNG that has a digest of the plan it shows.
SHOWN = "stages"


def shown() -> str:
    """A digest of what the picture would show now."""
    text = json.dumps(_demo(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _demo() -> dict[str, Any]:
    return picture(plan("demo"), jobs("demo"))


def draw_plan() -> None:
    """Draw the picture with few colours, to keep it small."""
    drawn, texts = io.BytesIO(), PngInfo()
    draw_dag(_demo()).savefig(drawn, dpi=130)
    texts.add_text(SHOWN, shown())
    with Image.open(drawn) as picture:
        with_few_colours(picture, 96).save(PICTURE, optimize=True, pnginfo=texts)
