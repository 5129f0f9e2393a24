"""Figure 3: sharpness, size and gap against learning rate (A-C) and batch size (D-F).

Claims: Figure 3: larger learning rates and smaller batches find flatter solutions.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import ABOUT_HALF
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.duality.spectra import SHARPEST
from flatlas.studies.duality.strategies import Layer
from flatlas.studies.duality.sweeps import draw_sweeps
from flatlas.studies.duality.trends import ratio


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    return draw_sweeps(material, ("alpha", "optimizer.lr"), ("batch", "batch"))


def claims(material: Material) -> list[Claim]:
    """Panels A-C and D-F, and what the text says of the ten sharpest directions."""
    return judge_sweeps(material, "alpha", "batch", half="about 50 %")


def judge_sweeps(material: Material, rates: str, batches: str, half: str = "") -> list[Claim]:
    """The figure's claims of a sweep over learning rates and of one over batch sizes.

    `half` is what the paper says of this net's ten sharpest directions, if it does.
    """
    alpha = Layer(Sweep(material, rates, "optimizer.lr"), "α", "alpha")
    batch = Layer(Sweep(material, batches, "batch"), "B", "batch")
    return [*alpha.flatter(rises=False), *batch.flatter(rises=True), _half(alpha, half)]


def _half(alpha: Layer, paper: str) -> Claim:
    """The study's sweep has the default learning rate as its largest."""
    return alpha.sweep.claim(
        "half",
        "about half of ΔL comes from the 10 sharpest directions",
        "share of the directions n ≤ 10 in mean ΔL at the largest α",
        ABOUT_HALF,
        lambda sharp, whole: ratio(sharp[..., -1], whole[..., -1]),
        alpha.directions("gap")[..., :SHARPEST].sum(-1),
        alpha.net("dual_gap"),
        paper=paper,
    )
