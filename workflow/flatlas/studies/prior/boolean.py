"""Figures 2 and S3: P(f) of Boolean functions, by counting, against the flatness of nets.

Each function is a realization; a function's net was trained on all inputs.
"""

from dataclasses import dataclass, replace
from math import log

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import CORRELATED
from flatlas.claims.correlations import correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, panels
from flatlas.statistics.pooling import over_all_nets
from flatlas.studies.prior import quantities
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.quantities import Quantity, paired
from flatlas.studies.prior.scatter import OF_ALL_NETS, draw_dots

COUNTED = replace(quantities.LOG_PRIOR, measure="boolean_prior", searched=False)


@dataclass(frozen=True)
class BooleanFigure:
    """A panel for each measure of flatness; the last measure judges the claim."""

    flatnesses: tuple[Quantity, ...]

    def draw(self, material: Material) -> Drawing:
        """One dot per function, with the standard error of its count."""
        figure, axes = panels(1, len(self.flatnesses), width=4.2, height=3.4)
        measures = (flatness.measure for flatness in self.flatnesses)
        points = nets(material, COUNTED.measure, *measures)
        error = points["standard_error"] / points["probability"] / log(10)
        for ax, flatness in zip(axes, self.flatnesses, strict=True):
            ax.errorbar(
                points["log10_p"], points[flatness.name], xerr=error, fmt="none", ecolor=GREY,
                elinewidth=0.4, capsize=0, alpha=0.5, zorder=0,
            )  # fmt: skip
            draw_dots(ax, points, COUNTED, flatness)
        about = "Bars: one standard error of the count. " + OF_ALL_NETS
        note(figure, small_print(material, points, about))
        return Drawing(figure, points.drop(columns="attack_size"))

    def claims(self, material: Material) -> Claims:
        """The claims about P(f) against flatness, over all functions."""
        flatness = self.flatnesses[-1]
        nets = Nets(material, "boolean")
        says = f"P(f) of Boolean functions correlates with {flatness.what}"
        pair = paired(nets, COUNTED, flatness)
        return correlated(nets, "boolean", says, CORRELATED, pair, over_all_nets)


FIGURES = {
    # By corners too, because most of the paper's ascents of ten epochs have not converged.
    "fig2": BooleanFigure((quantities.FLATNESS, quantities.CORNERS_FLATNESS)),
    "s3": BooleanFigure((quantities.NORM_FLATNESS,)),
}
