"""Figure 3: prior and flatness against generalization, for several systems."""

from collections.abc import Iterable
from math import log

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from flatlas.evidence.material import Material
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import LEGEND, REST_LEGEND, SYSTEMS, WITH_THE_REST, draw_grid
from flatlas.studies.prior.systems import columns
from flatlas.plotting.style import GREY, Drawing, note

# The authors' axis ranges, of log10 P(f) and accuracy; their residual net is deeper.
AXES = {"sgd": ((-440, -320), (48, 91)), "residual": ((-1925, -860), (47, 95))}
# Eq. 4 holds but for this share of all training sets.
DELTA = 0.05


def draw(material: Material) -> Drawing:
    """A column a system; the prior with the bound that it gives, flatness, and the remainder."""
    points = nets(material, "prior", "sharpness", "corners")
    points["bound"] = bound(points["log10_p"], points["train_size"])
    systems = columns(material, SYSTEMS)
    figure, axes = draw_grid(points, WITH_THE_REST, systems)
    framed = [sweep for ax, sweep in zip(axes, systems, strict=False) if _frame(ax, sweep)]
    for ax, sweep in zip(axes, systems, strict=False):
        _bound_axis(ax, points[points["sweep"] == sweep])
    said = (
        f"Upper axis: the bound of Eq. 4 on the test error (δ = {DELTA:g}), which says nothing"
        f" from 100 % on. {_ranges(framed)}{REST_LEGEND}{LEGEND}"
    )
    note(figure, small_print(material, points, said))
    return Drawing(figure, points)


def bound(log10_p: pd.Series, train_size: pd.Series | float) -> pd.Series:
    """Eq. 4: with probability 1 - δ the test error is at most (ln 1/P(f) + ln 1/δ) / |S|."""
    return (-log(10) * log10_p - log(DELTA)) / train_size


def _bound_axis(ax: Axes, points: pd.DataFrame) -> None:
    """The bound is linear in log10 P(f), so that it is an axis of its own over the same dots."""
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
    """The authors' axis ranges, if they are anywhere near our dots."""
    if sweep not in AXES:
        return False
    (left, right), (low, high) = AXES[sweep]
    near = Bbox.from_extents(left, low, right, high).overlaps(ax.dataLim)
    if near:
        width, height = right - left, high - low
        ax.add_patch(Rectangle((left, low), width, height, fill=False, ec=GREY, ls="--", lw=0.8))
        ax.autoscale_view()
    return near


def _ranges(drawn: Iterable[str]) -> str:
    told = [
        rf"$\log_{{10}}P(f)$ −{-left} to −{-right}, accuracy {low} to {high} % ({SYSTEMS[sweep]})"
        for sweep, ((left, right), (low, high)) in AXES.items()
        if sweep in drawn
    ]
    return f"Dashed, the authors' axis ranges: {'; '.join(told)}. " if told else ""
