"""Not in the paper: whether the prior's link matters.

The paper's text has the hard sign, its program the probit link.
"""

from dataclasses import replace

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import TIGHT
from flatlas.claims.correlations import correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material
from flatlas.plotting.style import GREY, Drawing, note, panels
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.quantities import ACCURACY, LOG_PRIOR, paired
from flatlas.studies.prior.scatter import LEGEND, draw_dots, name_shades

PROBIT = replace(LOG_PRIOR, label=f"{LOG_PRIOR.label}, probit")
HARD = replace(
    LOG_PRIOR, name="log10_p_hard", measure="heaviside", label=f"{LOG_PRIOR.label}, hard sign"
)


def draw(material: Material) -> Drawing:
    """A: one link against the other. B, C: generalization against each."""
    figure, axes = panels(1, 3)
    hard = nets(material, "heaviside").rename(columns={"log10_p": HARD.name})
    columns = [*DOT, HARD.name, "heaviside_settled"]
    points = nets(material, "prior").merge(hard[columns], on=DOT)
    for ax, pair in zip(axes, [(PROBIT, HARD), (PROBIT, ACCURACY), (HARD, ACCURACY)], strict=True):
        draw_dots(ax, points, *pair)
    if len(points):
        axes[0].axline((points["log10_p"].mean(),) * 2, slope=1, color=GREY, lw=0.8, zorder=0)
    name_shades(figure, axes, points)
    impossible = int(np.isneginf(points[HARD.name].astype(float)).sum())
    about = f"Grey: equality. {LEGEND}"
    if impossible:
        about += (
            f"{impossible} nets contradict themselves on equal images: P(f) = 0 for the hard sign. "
        )
    note(figure, small_print(material, points, about))
    return Drawing(figure, points)


def claims(material: Material) -> list[Claim]:
    """The question whether both links order nets alike."""
    nets = Nets(material, "sgd")
    pair = paired(nets, LOG_PRIOR, HARD, "log10 P(f) by either link")
    says = "the hard sign and the probit link give the same picture of P(f)"
    return ours(correlated(nets, "same", says, TIGHT, pair))
