"""Figure 3: prior and flatness against generalization, for several systems.

Claims: Figure 3: the prior goes tightly with generalization, flatness less so.
"""

from collections.abc import Iterable, Iterator
from math import log

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import INSIDE
from flatlas.claims.correlations import accuracy, log_prior
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.prior.extremes import largest, smallest
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import LEGEND, REST_LEGEND, SYSTEMS, WITH_THE_REST, draw_grid
from flatlas.studies.prior.systems import columns
from flatlas.studies.prior.systems_claims import (
    REST,
    WHOLE,
    curvature,
    drawn,
    scattered_flatness,
    tight_prior,
)

# The authors' axis ranges, of log10 P(f) and accuracy; their residual net is deeper.
AXES = {"sgd": ((-440, -320), (48, 91)), "residual": ((-1925, -860), (47, 95))}
# Eq. 4 holds but for this share of all training sets.
DELTA = 0.05
# The authors' axes of panel A, log10 P(f) and accuracy, from end to end.
LOG_PRIORS, ACCURACIES = (-440, -320), (48, 91)


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


def claims(material: Material) -> list[Claim]:
    """Every system, and whether the dots of the first lie where the authors' axes go."""
    systems = drawn(material)
    return [
        *(claim for sweep in systems for claim in tight_prior(material, sweep)),
        *(claim for sweep in systems for claim in scattered_flatness(material, sweep, WHOLE)),
        *ours(claim for sweep in systems for claim in scattered_flatness(material, sweep, REST)),
        *ours(curvature(material, sweep) for sweep in systems),
        # Axes are no sentences.
        *ours(_ends(Nets(material, "sgd"))),
    ]


def _ends(nets: Nets) -> Iterator[Claim]:
    """Of each realization's nets the lowest and the highest."""
    for name, told, measured, (low, high) in (
        ("log10_p", "log10 P(f)", log_prior(nets), LOG_PRIORS),
        ("accuracy", "the accuracy (%)", accuracy(nets), ACCURACIES),
    ):
        axis = f"{low} to {high}".replace("-", "−")
        place = (measured.values - low) / (high - low)
        for end, extreme in (("lowest", smallest), ("highest", largest)):
            yield nets.claim(
                f"{end}_{name}",
                f"{told} lies within the authors' axis range, {axis}",
                f"{end} {told} of a realization's nets, as a place on that axis, which goes from 0"
                " to 1; mean over realizations",
                INSIDE,
                within_realizations(extreme),
                place,
                paper=axis,
                settled=(measured.settled,),
            )
