"""Boolean functions on all inputs: their P(f), counted, against how flat the nets are.

Claims: Flatness against P(f) of Boolean functions, each of which is a realization.
"""

from math import log

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED
from flatlas.claims.correlations import Pair, correlated, flatness, log_prior
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, panels
from flatlas.statistics.pooling import over_all_nets
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import LOG_PRIOR, OF_ALL_NETS, Quantity, draw_dots


def draw_boolean(material: Material, *flatnesses: Quantity) -> Drawing:
    """A panel a measure of flatness; one dot a function, with the standard error of its count."""
    figure, axes = panels(1, len(flatnesses), width=4.2, height=3.4)
    points = nets(material, "boolean_prior", *(one.search for one in flatnesses))
    error = points["standard_error"] / points["probability"] / log(10)
    for ax, shown in zip(axes, flatnesses, strict=True):
        ax.errorbar(
            points["log10_p"], points[shown.column], xerr=error, fmt="none", ecolor=GREY,
            elinewidth=0.4, capsize=0, alpha=0.5, zorder=0,
        )  # fmt: skip
        draw_dots(ax, points, LOG_PRIOR, shown)
    if len(axes) == 1:
        axes[0].set_title("", loc="left")
    said = "Bars: one standard error of the count. " + OF_ALL_NETS
    note(figure, small_print(material, points, said))
    return Drawing(figure, points.drop(columns="attack_size"))


def judge_boolean(material: Material, called: str, measure: str, column: str) -> list[Claim]:
    """Minus log10 of what is measured, against log10 P(f)."""
    nets = Nets(material, "boolean")
    pair = Pair(
        log_prior(nets, "boolean_prior"),
        flatness(nets, measure, column),
        f"log10 P(f) with {called}",
    )
    says = f"P(f) of Boolean functions correlates with {called}"
    return list(correlated(nets, "boolean", says, CORRELATED, pair, over_all_nets))
