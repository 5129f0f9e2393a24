"""Boolean functions on all inputs: their P(f), counted, against how flat the nets are."""

from math import log

from flatlas.evidence.material import Material
from flatlas.figures.prior.nets import nets, small_print
from flatlas.figures.prior.scatter import LEGEND, LOG_PRIOR, Quantity, draw_dots
from flatlas.figures.style import GREY, Drawing, note, panels


def draw_boolean(material: Material, measure: str, flatness: Quantity) -> Drawing:
    """One dot a function, with the standard error of its count."""
    figure, (ax,) = panels(1, 1, width=4.2, height=3.4)
    points = nets(material, "boolean_prior", measure)
    error = points["standard_error"] / points["probability"] / log(10)
    ax.errorbar(
        points["log10_p"], points[flatness.column], xerr=error, fmt="none", ecolor=GREY,
        elinewidth=0.4, capsize=0, alpha=0.5, zorder=0,
    )  # fmt: skip
    draw_dots(ax, points, LOG_PRIOR, flatness)
    ax.set_title("", loc="left")
    said = "Bars: one standard error of the count. " + LEGEND
    note(figure, small_print(material, points, said))
    return Drawing(figure, points.drop(columns="attack_size"))
