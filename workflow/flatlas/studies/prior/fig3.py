"""Figure 3: the prior correlates tightly with generalization, flatness less so."""

from collections.abc import Iterable
from math import log

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import INSIDE
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.minus import with_minus
from flatlas.plotting.style import GREY, Drawing, note
from flatlas.statistics.means import largest, smallest
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.prior import systems
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.quantities import ACCURACY, LOG_PRIOR, REST_FLATNESS
from flatlas.studies.prior.scatter import LEGEND, REST_LEGEND, WITH_THE_REST, draw_grid
from flatlas.studies.prior.systems import SYSTEMS

# The authors' axis ranges, of log10 P(f) and accuracy; their residual net is deeper.
AXES = {"sgd": ((-440, -320), (48, 91)), "residual": ((-1925, -860), (47, 95))}
# Eq. 4 holds for all but this share of training sets.
DELTA = 0.05


def draw(material: Material) -> Drawing:
    """A column for each system: the prior with its bound, flatness, and the remainder."""
    points = nets(material, "prior", "sharpness", "corners")
    points["bound"] = bound(points["log10_p"], points["train_size"])
    drawn = systems.columns(material, SYSTEMS)
    figure, axes = draw_grid(points, WITH_THE_REST, drawn)
    framed = [sweep for ax, sweep in zip(axes, drawn, strict=False) if _frame(ax, sweep)]
    for ax, sweep in zip(axes, drawn, strict=False):
        _bound_axis(ax, points[points["sweep"] == sweep])
    about = (
        f"Upper axis: the bound of Eq. 4 on the test error (δ = {DELTA:g}), which says nothing at"
        f" 100 % and more. {_ranges(framed)}{REST_LEGEND}{LEGEND}"
    )
    note(figure, small_print(material, points, about))
    return Drawing(figure, points)


def bound(log10_p: pd.Series, train_size: pd.Series | float) -> pd.Series:
    """Eq. 4: with probability 1 - δ the test error is at most (ln 1/P(f) + ln 1/δ) / |S|."""
    return (-log(10) * log10_p - log(DELTA)) / train_size


def _bound_axis(ax: Axes, points: pd.DataFrame) -> None:
    """Add an upper axis with the bound, which is linear in log10 P(f)."""
    sizes = points["train_size"].dropna().unique()
    if len(sizes) != 1:
        return
    size = float(sizes[0])
    percent = (
        lambda log10_p: 100 * bound(log10_p, size),
        lambda percent: -(percent * size / 100 + log(DELTA)) / log(10),
    )
    upper = ax.secondary_xaxis("top", functions=percent)
    upper.set_xlabel("bound on the test error (%)", fontsize=8, color=GREY)
    upper.tick_params(labelsize=7.5, colors=GREY)
    upper.spines["top"].set_color(GREY)


def _frame(ax: Axes, sweep: str) -> bool:
    """Frame the authors' axis ranges if any of our dots are near them; returns whether they are."""
    if sweep not in AXES:
        return False
    (left, right), (low, high) = AXES[sweep]
    near = Bbox.from_extents(left, low, right, high).overlaps(ax.dataLim)
    if near:
        width, height = right - left, high - low
        shade = (*to_rgb(GREY), 0.12)
        frame = Rectangle((left, low), width, height, fc=shade, ec=GREY, ls="--", lw=0.8, zorder=0)
        ax.add_patch(frame)
        ax.autoscale_view()
    return near


def _ranges(framed: Iterable[str]) -> str:
    ranges = [
        rf"$\log_{{10}}P(f)$ −{-left} to −{-right}, accuracy {low} to {high} % ({SYSTEMS[sweep]})"
        for sweep, ((left, right), (low, high)) in AXES.items()
        if sweep in framed
    ]
    return f"Dashed: the authors' axis ranges, {'; '.join(ranges)}. " if ranges else ""


def claims(material: Material) -> Claims:
    """The claims about every system, and a question: are dots within the authors' axis ranges?"""
    drawn = material.sweeps
    for sweep in drawn:
        yield from systems.tight_prior(material, sweep)
    for sweep in drawn:
        yield from systems.scattered_flatness(material, sweep)
    for sweep in drawn:
        yield from ours(systems.scattered_flatness(material, sweep, REST_FLATNESS))
    yield from ours(systems.curvature(material, sweep) for sweep in drawn)
    # An axis range is not a sentence of the paper.
    yield from ours(_ends(Nets(material, "sgd")))


def _ends(nets: Nets) -> Claims:
    """The claims about the lowest and the highest net of each realization."""
    log_priors, accuracies = AXES["sgd"]
    for what, quantity, (low, high) in (
        ("log10 P(f)", LOG_PRIOR, log_priors),
        ("the accuracy (%)", ACCURACY, accuracies),
    ):
        axis = with_minus(f"{low} to {high}")
        measured = quantity.measured(nets)
        place = (measured.values - low) / (high - low)
        for end, extreme in (("lowest", smallest), ("highest", largest)):
            yield nets.claim(
                f"{end}_{quantity.name}",
                f"{what} lies within the authors' axis range, {axis}",
                f"{end} {what} of a realization's nets, as a place on that axis, which goes from 0"
                " to 1; mean over realizations",
                INSIDE,
                within_realizations(extreme),
                place,
                paper=axis,
                settled=(measured.settled,),
            )
