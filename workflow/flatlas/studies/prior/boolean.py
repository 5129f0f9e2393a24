"""Boolean functions on all inputs: their P(f), counted, against how flat the nets are."""

from math import log

from flatlas.evidence.material import Material
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import LOG_PRIOR, OF_ALL_NETS, Quantity, draw_dots
from flatlas.plotting.style import GREY, Drawing, note, panels


def draw_boolean(material: Material, *flatnesses: Quantity) -> Drawing:
    """A panel a measure of flatness; one dot a function, with the standard error of its count."""
    figure, axes = panels(1, len(flatnesses), width=4.2, height=3.4)
    points = nets(material, "boolean_prior", *(one.search for one in flatnesses))
    error = points["standard_error"] / points["probability"] / log(10)
    for ax, flatness in zip(axes, flatnesses, strict=True):
        ax.errorbar(
            points["log10_p"], points[flatness.column], xerr=error, fmt="none", ecolor=GREY,
            elinewidth=0.4, capsize=0, alpha=0.5, zorder=0,
        )  # fmt: skip
        draw_dots(ax, points, LOG_PRIOR, flatness)
    if len(axes) == 1:
        axes[0].set_title("", loc="left")
    said = "Bars: one standard error of the count. " + OF_ALL_NETS
    note(figure, small_print(material, points, said))
    return Drawing(figure, points.drop(columns="attack_size"))
