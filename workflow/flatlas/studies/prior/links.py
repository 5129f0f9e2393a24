"""Not in the paper: the prior with the hard sign, which it writes of, and with the probit link.

Claims: Not in the paper: whether it matters which link the prior has.
"""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import TIGHT
from flatlas.claims.correlations import Pair, correlated, log_prior
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, panels
from flatlas.studies.prior.nets import NET, nets, small_print
from flatlas.studies.prior.scatter import (
    ACCURACY,
    LEGEND,
    Quantity,
    draw_dots,
    name_shades,
)

PROBIT = Quantity("log10_p", r"$\log_{10}P(f)$, probit", "prior")
HARD = Quantity("log10_p_hard", r"$\log_{10}P(f)$, hard sign", "heaviside")


def draw(material: Material) -> Drawing:
    """A: one against the other. B, C: generalization against each."""
    figure, axes = panels(1, 3)
    points = both_links(material)
    for ax, pair in zip(axes, [(PROBIT, HARD), (PROBIT, ACCURACY), (HARD, ACCURACY)], strict=True):
        draw_dots(ax, points, *pair)
    if len(points):
        axes[0].axline((points["log10_p"].mean(),) * 2, slope=1, color=GREY, lw=0.8, zorder=0)
    name_shades(figure, axes, points)
    impossible = int(np.isneginf(points[HARD.column].astype(float)).sum())
    said = f"Grey: equality. {LEGEND}"
    if impossible:
        said += (
            f"{impossible} nets contradict themselves on equal images: P(f) = 0 for the hard sign. "
        )
    note(figure, small_print(material, points, said))
    return Drawing(figure, points)


def both_links(material: Material) -> pd.DataFrame:
    """Each net's prior by either link."""
    columns = {"log10_p": HARD.column, "heaviside_settled": "heaviside_settled"}
    hard = nets(material, "heaviside").rename(columns=columns)
    return nets(material, "prior").merge(hard[[*NET, *columns.values()]], on=NET)


def claims(material: Material) -> list[Claim]:
    """The paper's text has the hard sign, its program the probit link."""
    nets = Nets(material, "sgd")
    pair = Pair(log_prior(nets), log_prior(nets, "heaviside"), "log10 P(f) by either link")
    says = "the hard sign and the probit link tell the same of P(f)"
    return ours(correlated(nets, "same", says, TIGHT, pair))
