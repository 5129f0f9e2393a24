"""Figure 4: landscape-dependent constraints against forgetting, and elastic ones beside them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREY, RED, SKY, Drawing, note, panels
from flatlas.plotting.trainings import small_print

# What the paper holds its weights by in panels C and D, and its threshold ξ_i = 0.008 F_1i.
STRENGTH, COUNT, THRESHOLD = 10, 200, 0.008
Point = tuple[float, int]
FREE: Point = (0, 0)
# Below this, errors stand on a straight scale: there may be none at all.
STRAIGHT = 0.01
NET = ["run", "seed"]
POINT = ["strength", "directions"]
ERRORS = ["epsilon_1", "epsilon_2"]


class Method(NamedTuple):
    """A way to hold the weights: its measure in the study, its name, how it is drawn."""

    measure: str
    name: str
    style: str
    color: str

    def draw(self, ax: Axes, x: pd.Series, y: pd.Series) -> None:
        """A curve in the method's style."""
        ax.plot(x, y, self.style, color=self.color, label=self.name, ms=4)


METHODS = (
    Method("ldc", "LDC", "o-", BLUE),
    Method("ldc_variance", r"LDC, $F_i$ from $\sigma_i^2$", "^--", SKY),
    Method("ewc", "EWC", "s-", RED),
)


def draw(material: Material) -> Drawing:
    """A, B: nothing is held. C, D: the first directions are. E, F: over λ, and over N_c."""
    figure, axes = panels(3, 2, width=3.5, height=2.7)
    ldc = METHODS[0]
    saturated = {method: _saturated(material, method) for method in METHODS}
    held = _nearest(saturated[ldc], STRENGTH, COUNT)
    counts = {method: _count(points, method) for method, points in saturated.items()}
    points = []
    for row, point in enumerate((FREE, held)):
        points.append(_over_time(axes[2 * row], _of(_table(material, ldc, "errors"), point)))
        moved = _of(_table(material, ldc, "displacements"), point)
        points.append(_displacements(axes[2 * row + 1], moved, point[1]))
    by_strength = axes[4].inset_axes((0.45, 0.67, 0.52, 0.31))
    for method, table in saturated.items():
        points.append(_trade_off(axes[4], by_strength, table, method, counts[method]))
        points.append(_counts(axes[5], table, method))
    points.append(_at_one_strength(axes[5], saturated[ldc], held[0]))
    _free_level(axes[5], saturated[ldc])
    for ax, title in zip(axes, _titles(held), strict=True):
        ax.set_title(title, fontsize=8.5)
        if ax in axes[4:]:
            # The curves may go anywhere.
            ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
        elif ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=True, framealpha=0.8, edgecolor="none")
    said = (
        "A, C: thin, each realization; thick, their mean. B, D: the first realization. E: a point a"
        " λ, the topmost with 0; inset, over λ, whose units differ;"
        f" LDC holds {counts[ldc]} directions, EWC {counts[METHODS[-1]]} weights."
        r" F: for each $N_c$ the λ with the least sum; grey, nothing held. E, F: means over"
        " realizations. "
    )
    note(figure, said + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _titles(held: Point) -> Sequence[str]:
    free, said = r"$\lambda = 0$", rf"$\lambda = {held[0]:g}$, $N_c = {held[1]}$"
    return (free, free, said, said, "", "")


def _table(material: Material, method: Method, table: str) -> pd.DataFrame:
    """A method's table, every row knowing its net and its point."""
    columns = {
        "errors": ["time", *ERRORS],
        "displacements": ["rank", "q", "flatness"],
        "points": ERRORS,
    }[table]
    rows = material.measured(f"{method.measure}_{table}", [*POINT, *columns])
    return rows[[*NET, *POINT, *columns]]


def _saturated(material: Material, method: Method) -> pd.DataFrame:
    """Means over realizations of the saturated errors at each point, and their sum."""
    rows = _table(material, method, "points")
    means = rows.groupby(POINT)[ERRORS].mean().reset_index()
    return means.assign(total=means["epsilon_1"] + means["epsilon_2"])


def _nearest(points: pd.DataFrame, strength: float, count: int) -> Point:
    """The strength and the number of directions that are there and nearest to these."""
    held = points[points["strength"] > 0]
    if held.empty:
        return FREE
    return float(_closest(held["strength"], strength)), int(_closest(held["directions"], count))


def _closest(values: pd.Series, wanted: float) -> float:
    """By its ratio."""
    apart = np.log(values / wanted).abs()
    return float(values[apart.idxmin()])


def _count(points: pd.DataFrame, method: Method) -> int:
    """How many directions are held in panel E: the paper's 200, and of single weights all."""
    if method.measure == "ewc":
        return int(max(points["directions"], default=0))
    return _nearest(points, STRENGTH, COUNT)[1]


def _of(rows: pd.DataFrame, point: Point) -> pd.DataFrame:
    return rows[(rows["strength"] == point[0]) & (rows["directions"] == point[1])]


def _over_time(ax: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    for column, color, name in (("epsilon_1", BLUE, "1"), ("epsilon_2", RED, "2")):
        for _, net in rows.groupby(NET):
            ax.plot(net["time"], net[column], color=color, lw=0.5, alpha=0.5)
        mean = rows.groupby("time")[column].mean()
        ax.plot(mean.index, mean, color=color, label=rf"$\epsilon_{name}$, task-{name}")
    _error_scale(ax.set_yscale, ax.set_ylim)
    ax.set(xlabel="epochs of task-2", ylabel="test error")
    return rows.assign(panel="A" if _is_free(rows) else "C")


def _is_free(rows: pd.DataFrame) -> bool:
    return bool((rows["strength"] == 0).all())


def _displacements(ax: Axes, rows: pd.DataFrame, count: int) -> pd.DataFrame:
    """q_i and the threshold of the first net."""
    first = rows[(rows["run"] == rows["run"].min()) & (rows["seed"] == rows["seed"].min())]
    shown = first.assign(threshold=THRESHOLD * first["flatness"])
    ax.plot(shown["rank"], shown["q"], ".", color=BLUE, ms=3, label="$q_i$")
    finite = shown[np.isfinite(shown["threshold"].astype(float))]
    threshold = rf"$\xi_i = {THRESHOLD:g}\,F_{{1i}}$"
    ax.plot(finite["rank"], finite["threshold"], ":", color=RED, label=threshold)
    if count:
        ax.axvline(count, color=GREY, lw=0.8, zorder=0)
    if len(shown):
        ax.set(xscale="log", yscale="log")
    ax.set(xlabel="rank $i$", ylabel="displacement $q_i$")
    return shown.assign(panel="B" if _is_free(rows) else "D")


def _trade_off(
    ax: Axes, inset: Axes, points: pd.DataFrame, method: Method, count: int
) -> pd.DataFrame:
    """ε1 against ε2, from λ = 0 on; and over λ, where one method's points lie on each other."""
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
    """The same at the paper's λ."""
    curve = points[(points["strength"] == strength) & (points["directions"] > 0)]
    label = rf"LDC, $\lambda = {strength:g}$"
    ax.plot(curve["directions"], curve["total"], ":", color=BLACK, label=label)
    return curve.assign(panel="F", method=METHODS[0].measure)


def _free_level(ax: Axes, points: pd.DataFrame) -> None:
    for total in _of(points, FREE)["total"]:
        ax.axhline(total, color=GREY, ls=":", lw=0.9, zorder=0)
    if len(points):
        ax.set_ylim(bottom=0)


def _error_scale(set_scale: Callable[..., Any], set_limits: Callable[..., Any]) -> None:
    """Decades, and below a hundredth a straight scale to 0."""
    set_scale("symlog", linthresh=STRAIGHT)
    set_limits(-STRAIGHT / 5, 1.2)


def claims(material: Material):
    """See there."""
    from flatlas.studies.annealing.fig4_claims import judge

    return judge(material)
