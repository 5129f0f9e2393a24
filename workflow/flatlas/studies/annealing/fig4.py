"""Figure 4: landscape-dependent (LDC) and elastic (EWC) constraints against forgetting."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims import conventions
from flatlas.claims.claim import Claim, Claims
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLACK, BLUE, GREY, RED, SKY, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.annealing.fits import log_log
from flatlas.studies.annealing.recordings import first_net, measured

# The paper's constraints in panels C and D, and its threshold ξ_i = 0.008 F_1i.
STRENGTH, COUNT, THRESHOLD = 10, 200, 0.008
Point = tuple[float, float]
FREE: Point = (0, 0)
# Below this, errors have a linear scale: they may be zero.
STRAIGHT = 0.01
# 'Reaches its optimal level': nine tenths of the way from no constraints, as with 'barely'.
REACHED = 0.9
POINT = ["strength", "directions"]
ERRORS = ["epsilon_1", "epsilon_2"]


class Method(NamedTuple):
    """A way to constrain the weights: its measure in the study, its name, how it is drawn."""

    measure: str
    name: str
    style: str
    color: str

    def draw(self, ax: Axes, x: pd.Series, y: pd.Series) -> None:
        """A curve in the method's style."""
        ax.plot(x, y, self.style, color=self.color, label=self.name, ms=4)

    def constraints(self, counts: Iterable[float]) -> float:
        """How many constraints panel E has: the paper's 200 for LDC, all weights for EWC."""
        return max(counts, default=0) if self.measure == "ewc" else _nearest(counts, COUNT)


LDC = Method("ldc", "LDC", "o-", BLUE)
BY_VARIANCE = Method("ldc_variance", r"LDC, $F_i$ from $\sigma_i^2$", "^--", SKY)
EWC = Method("ewc", "EWC", "s-", RED)


def _nearest(values: Iterable[float], wanted: float) -> float:
    """The positive value nearest to the wanted one by ratio; 0 if none is positive."""
    positive = sorted(value for value in values if value > 0)
    return min(positive, key=lambda value: abs(log(value / wanted)), default=0)


def draw(material: Material) -> Drawing:
    """A, B: without constraints. C, D: with them. E, F: over λ, and over N_c."""
    figure, axes = panels(3, 2, width=3.5, height=2.7)
    saturated = {method: _saturated(material, method) for method in (LDC, BY_VARIANCE, EWC)}
    counts = {method: method.constraints(rows["directions"]) for method, rows in saturated.items()}
    held = _nearest(saturated[LDC]["strength"], STRENGTH), counts[LDC]
    said = rf"$\lambda = {held[0]:g}$, $N_c = {held[1]:g}$"
    points = [
        *_one_point(axes[:2], material, FREE, "AB", r"$\lambda = 0$"),
        *_one_point(axes[2:4], material, held, "CD", said),
    ]
    by_strength = axes[4].inset_axes((0.52, 0.17, 0.45, 0.26))
    for method, rows in saturated.items():
        points.append(_trade_off(axes[4], by_strength, rows, method, counts[method]))
        points.append(_counts(axes[5], rows, method))
    points.append(_at_one_strength(axes[5], saturated[LDC], held[0]))
    for ax in axes[4:]:
        # Above the panel: inside, it would cover curves.
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    note(
        figure,
        "A, C: thin, each realization; thick, their mean. B, D: the first realization. E: one point"
        " per λ, the topmost with λ = 0; inset, over λ, whose units differ;"
        f" LDC constrains {counts[LDC]:g} directions, EWC {counts[EWC]:g} weights."
        r" F: for each $N_c$ the λ with the least sum; grey, no constraints. E, F: means over"
        " realizations. " + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _saturated(material: Material, method: Method) -> pd.DataFrame:
    """Means over realizations of the saturated errors at each point, and their sum."""
    rows = measured(material, f"{method.measure}_points", *POINT, *ERRORS)
    means = rows.groupby(POINT)[ERRORS].mean().reset_index()
    return means.assign(total=means["epsilon_1"] + means["epsilon_2"])


def _rows_at(rows: pd.DataFrame, point: Point) -> pd.DataFrame:
    return rows[(rows["strength"] == point[0]) & (rows["directions"] == point[1])]


def _one_point(
    axes: list[Axes], material: Material, point: Point, letters: str, title: str
) -> list[pd.DataFrame]:
    """Errors over time and displacements by rank, with LDC at one λ and N_c."""
    errors = measured(material, "ldc_errors", *POINT, "time", *ERRORS)
    moved = measured(material, "ldc_displacements", *POINT, "rank", "q", "flatness")
    rows = [
        _over_time(axes[0], _rows_at(errors, point)),
        _displacements(axes[1], first_net(_rows_at(moved, point)), point[1]),
    ]
    for ax in axes:
        ax.set_title(title, fontsize=8.5)
        ax.legend(frameon=True, framealpha=0.8, edgecolor="none")
    return [one.assign(panel=letter) for one, letter in zip(rows, letters, strict=True)]


def _over_time(ax: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    for column, color, name in (("epsilon_1", BLUE, "1"), ("epsilon_2", RED, "2")):
        for _, net in rows.groupby(NET):
            ax.plot(net["time"], net[column], color=color, lw=0.5, alpha=0.5)
        course = rows.groupby("time")[column].mean()
        ax.plot(course.index, course, color=color, label=rf"$\epsilon_{name}$, task-{name}")
    _error_scale(ax.set_yscale, ax.set_ylim)
    ax.set(xlabel="epochs of task-2", ylabel="test error")
    return rows


def _displacements(ax: Axes, rows: pd.DataFrame, count: float) -> pd.DataFrame:
    rows = rows.assign(threshold=THRESHOLD * rows["flatness"])
    ax.plot(rows["rank"], rows["q"], ".", color=BLUE, ms=3, label="$q_i$")
    finite = rows[np.isfinite(rows["threshold"])]
    threshold = rf"$\xi_i = {THRESHOLD:g}\,F_{{1i}}$"
    ax.plot(finite["rank"], finite["threshold"], ":", color=RED, label=threshold)
    if count:
        ax.axvline(count, color=GREY, lw=0.8, zorder=0)
    log_log(ax, rows, xlabel="rank $i$", ylabel="displacement $q_i$")
    return rows


def _trade_off(
    ax: Axes, inset: Axes, points: pd.DataFrame, method: Method, count: float
) -> pd.DataFrame:
    """ε1 against ε2, from λ = 0 on; inset: ε1 over λ, as points of one method may coincide."""
    curve = points[points["directions"].isin([0, count])].sort_values("strength")
    method.draw(ax, curve["epsilon_2"], curve["epsilon_1"])
    held = curve[curve["strength"] > 0]
    inset.plot(held["strength"], held["epsilon_1"], method.style, color=method.color, ms=2, lw=0.9)
    if len(held):
        inset.set_xscale("log")
    inset.set(ylim=(0, 1.05))
    inset.set_xlabel(r"$\lambda$", fontsize=7.5, labelpad=0)
    inset.set_ylabel(r"$\epsilon_1$", fontsize=7.5, labelpad=0)
    inset.tick_params(which="both", labelsize=5.5, pad=1)
    _error_scale(ax.set_xscale, ax.set_xlim)
    ax.set(xlabel=r"$\epsilon_2$", ylabel=r"$\epsilon_1$", ylim=(0, 1.05))
    return curve.assign(panel="E", method=method.measure)


def _counts(ax: Axes, points: pd.DataFrame, method: Method) -> pd.DataFrame:
    """The least ε1 + ε2 over all λ, for each number of directions."""
    held = points[points["directions"] > 0]
    best = held.sort_values("total").drop_duplicates("directions").sort_values("directions")
    method.draw(ax, best["directions"], best["total"])
    if len(best):
        ax.set_xscale("log")
    ax.set(xlabel="$N_c$", ylabel=r"$\epsilon_1 + \epsilon_2$")
    return best.assign(panel="F", method=method.measure)


def _at_one_strength(ax: Axes, points: pd.DataFrame, strength: float) -> pd.DataFrame:
    curve = points[(points["strength"] == strength) & (points["directions"] > 0)]
    label = rf"LDC, $\lambda = {strength:g}$"
    ax.plot(curve["directions"], curve["total"], ":", color=BLACK, label=label)
    for total in _rows_at(points, FREE)["total"]:
        ax.axhline(total, color=GREY, ls=":", lw=0.9, zorder=0)
    ax.set_ylim(bottom=0)
    return curve.assign(panel="F", method=LDC.measure)


def _error_scale(set_scale: Callable[..., Any], set_limits: Callable[..., Any]) -> None:
    """Set a scale that is linear below a hundredth and logarithmic above."""
    set_scale("symlog", linthresh=STRAIGHT)
    set_limits(-STRAIGHT / 5, 1.2)


@dataclass(frozen=True)
class Results:
    """One method's results as arrays (realizations, λ, N_c); NaN where just λ or N_c is 0."""

    nets: Nets
    method: Method

    @cached_property
    def strengths(self) -> np.ndarray:
        """The values of λ, ascending from 0."""
        return self._levels("strength")

    @cached_property
    def counts(self) -> np.ndarray:
        """The values of N_c, ascending from 0."""
        return self._levels("directions")

    def _levels(self, axis: str) -> np.ndarray:
        return np.array(self.nets.levels(f"{self.method.measure}_points", axis), dtype=float)

    def read(self, column: str, table: str = "points", *axes: str) -> np.ndarray:
        """One quantity; the mean over runs if a user has several."""
        name = f"{self.method.measure}_{table}"
        return mean(self.nets.read(name, column, *POINT, *axes), 1)

    @property
    def free(self) -> np.ndarray:
        """Where nothing is constrained: a mask of (λ, N_c)."""
        return np.outer(self.strengths == 0, self.counts == 0)

    @property
    def held(self) -> np.ndarray:
        """The point nearest to the paper's: a mask of (λ, N_c)."""
        strength, count = _nearest(self.strengths, STRENGTH), _nearest(self.counts, COUNT)
        return ~self.free & np.outer(self.strengths == strength, self.counts == count)

    @property
    def start(self) -> np.ndarray:
        """ε1 before task-2 is learnt, when all points are the same."""
        before = self.read("epsilon_1", "errors", "time")[:, :1, :1, :1]
        return mean(before.reshape(len(before), -1), -1)

    def curve(self, column: str) -> np.ndarray:
        """One quantity along the curve of panel E, as (realizations, λ)."""
        count = self.method.constraints(self.counts)
        return self.read(column)[:, self.free | np.outer(self.strengths > 0, self.counts == count)]


def claims(material: Material) -> Claims:
    """The claims about panels A and C, B and D, E, and F."""
    nets = Nets(material)
    ldc, by_variance, ewc = (Results(nets, method) for method in (LDC, BY_VARIANCE, EWC))
    yield from _forgetting(nets, ldc)
    yield from _bounds(nets, ldc)
    yield _better(nets, ldc, ewc, "F_i as measured")
    yield _better(nets, by_variance, ewc, "F_i from the variances")
    yield from _optimum(nets, ldc, ewc)


def _forgetting(nets: Nets, ldc: Results) -> Claims:
    """The claims about ε1 and ε2.

    ε1 may drift on after ε2 has settled, because task-2 leaves most directions free. A rise of ε1
    that is already too large and still grows fails its claim, whatever its end.
    """
    epsilon_1, epsilon_2 = ldc.read("epsilon_1"), ldc.read("epsilon_2")
    settled_free, settled = (_value_at(ldc.read("converged"), at) for at in (ldc.free, ldc.held))
    lost, left = (_value_at(epsilon_1, at) - ldc.start for at in (ldc.free, ldc.held))
    without = _value_at(epsilon_2, ldc.free)
    cost = _value_at(epsilon_2, ldc.held) - without
    too_large = left > conventions.BARELY_OFF.high * mean(lost)
    growing = _value_at(ldc.read("change_1"), ldc.held) > 0
    yield nets.mean_claim(
        "forgotten",
        "without constraints, learning task-2 makes the error of task-1 rise",
        "rise of ε1 while task-2 is learnt with λ = 0",
        conventions.MORE,
        lost,
        settled=(settled_free,),
    )
    yield nets.claim(
        "kept",
        "with λ = 10 on 200 directions the error of task-1 remains about what it was",
        "rise of ε1 with these constraints, relative to that without; of means over nets",
        conventions.BARELY_OFF,
        _ratio,
        left,
        lost,
        settled=(settled_free, np.where(too_large & growing, 1.0, settled)),
    )
    yield nets.claim(
        "learnt",
        "with these constraints, task-2 is learnt to a comparable error",
        "rise of ε2 by these constraints, relative to ε2 without; of means over nets",
        conventions.NEAR,
        _ratio,
        cost,
        without,
        settled=[_value_at(ldc.read("converged_2"), mask) for mask in (ldc.free, ldc.held)],
    )


def _bounds(nets: Nets, ldc: Results) -> Claims:
    """The claims about q_i, over directions along which the valley has an end."""
    q, flatness, known = (
        np.moveaxis(ldc.read(column, "displacements", "rank")[..., :COUNT], -1, 1)
        for column in ("q", "flatness", "converged")
    )
    bounded = np.isfinite(q) & np.isfinite(flatness)
    threshold = THRESHOLD * flatness
    beyond = np.where(bounded, threshold <= conventions.SMALL.high * q, np.nan)
    within = np.where(bounded, q <= threshold, np.nan)
    yield nets.mean_claim(
        "beyond",
        "without constraints, the displacement q_i goes far beyond 0.008 F_1i in many of the"
        " first directions",
        "share of the first 200 directions with q_i of 4 · 0.008 F_1i or more",
        conventions.MOSTLY,
        mean(_value_at(beyond, ldc.free), -1),
        settled=(_value_at(known, ldc.free),),
    )
    yield nets.mean_claim(
        "bounded",
        "with λ = 10 on 200 directions, q_i is bounded by 0.008 F_1i in these",
        "share of the first 200 directions with q_i ≤ 0.008 F_1i",
        conventions.BOUNDED,
        mean(_value_at(within, ldc.held), -1),
        settled=(_value_at(known, ldc.free),),
    )


def _better(nets: Nets, ldc: Results, ewc: Results, flatness: str) -> Claim:
    gaps = curve_gaps(*([one.curve("epsilon_2"), one.curve("epsilon_1")] for one in (ldc, ewc)))
    return nets.claim(
        f"{ldc.method.measure}_below",
        f"LDC trades ε1 for ε2 better than EWC ({flatness})",
        "least ε1 of LDC at no more than a given ε2, less that of EWC; mean over all ε2 of"
        " either that both reach, and over nets",
        conventions.LESS,
        mean,
        mean(gaps, -1),
        settled=[one.curve("converged") for one in (ldc, ewc)],
    )


def curve_gaps(one: list[np.ndarray], other: list[np.ndarray]) -> np.ndarray:
    """The least ε1 of `one` less that of `other`, at each ε2 of either; NaN where one has none."""
    levels = np.concatenate([one[0], other[0]], axis=-1)

    def least(curve: list[np.ndarray]) -> np.ndarray:
        epsilon_2, epsilon_1 = (values[:, np.newaxis] for values in curve)
        reached = epsilon_2 <= levels[..., np.newaxis]
        return np.min(np.where(reached, epsilon_1, np.inf), axis=-1, initial=np.inf)

    with np.errstate(invalid="ignore"):
        gaps = least(one) - least(other)
    return np.where(np.isfinite(gaps), gaps, np.nan)


def _optimum(nets: Nets, ldc: Results, ewc: Results) -> Claims:
    how = "where ε1 + ε2, at the best λ, has come nine tenths of the way to its optimum"
    yield nets.claim(
        "few_directions",
        "LDC reaches its optimal level with about 200 constrained directions",
        f"N_c {how}; of means over nets",
        conventions.NEAR_TWO_HUNDRED,
        _reached(ldc.counts),
        ldc.read("epsilon_1") + ldc.read("epsilon_2"),
        paper="200",
        settled=[ldc.read("converged")],
    )
    yield nets.claim(
        "all_weights",
        "EWC needs all weights to be constrained",
        f"N_c {how}, as a share of the largest N_c; of means over nets",
        conventions.ALL,
        _reached(ewc.counts / ewc.counts.max(initial=1)),
        ewc.read("epsilon_1") + ewc.read("epsilon_2"),
        paper="1",
        settled=[ewc.read("converged")],
    )


def _reached(counts: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A statistic: the first of the `counts` at which ε1 + ε2 at the best λ is near its optimum."""

    def statistic(totals: np.ndarray) -> np.ndarray:
        means = mean(totals)
        best = np.min(np.where(np.isnan(means), np.inf, means), axis=-2)
        with np.errstate(invalid="ignore"):
            goal = best[..., :1] + REACHED * (best.min(-1, keepdims=True) - best[..., :1])
        first = np.argmax(best <= goal, axis=-1)
        return np.where(np.isfinite(best.min(-1)), counts[first], np.nan)

    return statistic


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The ratio of the means; NaN if nothing is forgotten, since then there is nothing to keep."""
    total = mean(whole)
    with np.errstate(invalid="ignore"):
        return np.asarray(mean(part) / np.where(total > 0, total, np.nan))


def _value_at(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The value at the one point that the mask marks on the last two axes; NaN if it marks none."""
    return mean(values[..., mask], -1)
