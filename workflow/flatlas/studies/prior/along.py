"""Panels of quantities along a training: one curve per row, with a close-up on the right.

The realization with the median epoch of zero error is drawn in full with its moments; the others
are thin lines. Red marks epochs with errors on S, where the net has another function.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.evidence.material import DOT, NET, Material, with_settings
from flatlas.plotting.style import BLUE, GREY, ORANGE, RED, Drawing, note
from flatlas.plotting.trainings import small_print
from flatlas.studies.prior.quantities import Quantity, log10, plain

AFTER, FACTOR = "rescaling.after", "rescaling.factor"
MOMENT = [*DOT, "epoch", AFTER, FACTOR]
ERRORS = ("train_error", "test_error")
ROW_HEIGHT = 1.75
# No line is drawn across more epochs than this without a measurement.
GAP = 100
# If zero error comes before this share of all epochs, there is no room for its label on the left.
EARLY = 0.15

PRIOR = Quantity("prior", "watched_prior", "log10_p", r"$\log_{10}P(f)$", "P(f)")
# Claims are judged by corners. Where losses are low the ascent by minibatches has too little
# time; where slopes are steep its steps are as long as a small box, and the loss never settles.
SHARPNESS = Quantity(
    "sharpness", "watched_sharpness", "sharpness", r"$\log_{10}$ sharpness", "the sharpness"
)
CORNERS = replace(
    SHARPNESS,
    name="sharpness by corners",
    measure="watched_corners",
    label="the same, by corners",
    what="the sharpness by corners",
)
WIDE = replace(SHARPNESS, name="sharpness in a larger box", measure="watched_wide")
WIDE_CORNERS = replace(
    CORNERS, name="sharpness by corners in a larger box", measure="watched_wide_corners"
)
SPECTRAL_NORM = Quantity(
    "spectral norm",
    "watched_hessian",
    "spectral_norm",
    r"$\log_{10}$ spectral norm",
    "the spectral norm",
)
TOP = Quantity(
    "geometric mean of 50 eigenvalues",
    "watched_hessian",
    "log10_product",
    "$\\log_{10}$ geometric\nmean of 50 $\\lambda_i$",
    "the geometric mean of the 50 largest eigenvalues",
)
LOSS = Quantity("loss", "watched_corners", "loss", "", "the loss on S", searched=False)
ERROR = Quantity("error", "watched_prior", "train_error", "", "the error on S", plain, False)

_PARTS = ("first_order", "rest", "gradient_norm", "loss", "box")
# Further columns of a measure in a figure's table.
EXTRA_COLUMNS = {
    "watched_prior": (),
    "watched_sharpness": _PARTS,
    "watched_corners": _PARTS,
    "watched_wide": _PARTS,
    "watched_wide_corners": _PARTS,
    "watched_hessian": ("gradient_norm", "loss", "trace", "frobenius", "positive"),
}


@dataclass(frozen=True)
class CloseUp:
    """The part of a training that the panels on the right show, by a column of times."""

    since: str
    first: float
    last: float
    label: str


SCALING = CloseUp("since_scaling", -20, 20, r"epochs after the $\alpha$-scaling")


def draw_along(
    material: Material, curves: Sequence[Quantity], close_up: CloseUp = SCALING, about: str = ""
) -> Drawing:
    """A row of panels for each curve; remarks `about` the figure come before the small print."""
    figure, rows = _grid(len(curves))
    points = [moments(material, curve) for curve in curves]
    for (whole, part), curve, course in zip(rows, curves, points, strict=True):
        _draw_curve(whole, course, "epoch")
        near = course[course[close_up.since].between(close_up.first, close_up.last)]
        _draw_curve(part, near, close_up.since, dots=True)
        whole.set_ylabel(curve.label)
        if "box" in course and course["box"].notna().any():
            epsilon = course["box"].dropna().iloc[0]
            whole.set_title(rf"$\epsilon$ = {epsilon:g}", loc="right", fontsize=8)
    _mark(rows, points[0])
    figure.align_ylabels([whole for whole, _ in rows])
    rows[-1][0].set_xlabel("epoch")
    rows[-1][1].set_xlabel(close_up.label)
    legend = "Red: with errors on S; dotted: the first-order part of the sharpness. "
    if len(points[0][NET].drop_duplicates()) > 1:
        legend += "Thin: further realizations. "
    note(figure, about + legend + _unsettled(points) + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def moments(material: Material, curve: Quantity) -> pd.DataFrame:
    """A row for each moment of each training, in order; the column `log10` is drawn.

    `settled` says whether the measure itself converged. The errors are those on S and E from which
    the prior was computed.
    """
    table = _each_once(material, curve.measure).rename(columns={"converged": "settled"})
    table = with_settings(table, [AFTER, FACTOR])
    rows = table[[*MOMENT, "settled", curve.column, *EXTRA_COLUMNS[curve.measure]]]
    errors = _each_once(material, PRIOR.measure)[[*NET, "epoch", *ERRORS]]
    outcomes = material.trainings[[*NET, "met_epoch", "converged"]]
    rows = rows.merge(errors, on=[*NET, "epoch"], how="left").merge(outcomes, on=NET)
    rows = rows.sort_values([*NET, "epoch"], ignore_index=True)
    rows["since_zero_error"] = rows["epoch"] - rows["met_epoch"].where(rows["converged"])
    rows["since_scaling"] = rows["since_zero_error"] - rows[AFTER]
    values = curve.of(lambda column: rows[column].to_numpy(float))
    return rows.assign(quantity=curve.name, log10=np.where(np.isfinite(values), values, np.nan))


def _each_once(material: Material, measure: str) -> pd.DataFrame:
    """One row per moment: a moment may be both a checkpoint and a distance from zero error."""
    return material.tables[f"{measure}_summary"].drop_duplicates([*NET, "epoch"])


def in_full(points: pd.DataFrame) -> pd.DataFrame:
    """The rows of the realization that reached zero error in the median epoch, or of the first."""
    nets = points[[*NET, "converged", "met_epoch"]].drop_duplicates(NET)
    solved = nets[nets["converged"].astype(bool)].sort_values("met_epoch", kind="stable")
    middle = (len(solved) - 1) // 2
    chosen = solved.iloc[middle : middle + 1] if len(solved) else nets.head(1)
    return points.merge(chosen[NET], on=NET)


def unbroken(net: pd.DataFrame) -> pd.DataFrame:
    """The rows of a net, with an empty row in each long gap without a measurement."""
    after = net[net["epoch"].diff() > GAP]
    empty = after[["epoch"]] - 0.5
    return pd.concat([net, empty]).sort_values("epoch", kind="stable")


def _grid(count: int) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Rows of a wide panel and a narrow one, lettered; both panels of a row share their scale."""
    figure, grid = pyplot.subplots(
        count, 2, figsize=(7.8, ROW_HEIGHT * count + 0.9), sharex="col", sharey="row",
        squeeze=False, width_ratios=(2.3, 1),
    )  # fmt: skip
    figure.set_layout_engine("constrained", w_pad=0.1)
    for letter, ax in zip("ABCDEFGHIJ", grid.ravel(), strict=False):
        ax.set_title(letter, loc="left", fontweight="bold")
    return figure, [(whole, part) for whole, part in grid]


def _draw_curve(ax: Axes, points: pd.DataFrame, x: str, dots: bool = False) -> None:
    """Draw a curve, dashed where a training never reached zero error."""
    first = unbroken(in_full(points))
    for _, net in points.groupby(NET, sort=False):
        style = "-" if net["converged"].all() else "--"
        line = unbroken(net)
        ax.plot(line[x], line["log10"], style, color=BLUE, lw=0.5, alpha=0.35, zorder=1)
    style, size = "-" if first["converged"].dropna().all() else "--", 2.5 if dots else 1.5
    marker = "o" if dots else ""
    ax.plot(first[x], first["log10"], style, color=BLUE, lw=1.1, marker=marker, ms=size)
    off = first[first["train_error"] > 0]
    ax.plot(off[x], off["log10"], "o", color=RED, ms=size, zorder=3)
    if "first_order" in points:
        gradient = log10(lambda column: first[column].to_numpy(float), "first_order")
        ax.plot(first[x], gradient, ":", color=ORANGE, lw=1.0, zorder=1.5)


def _mark(rows: Sequence[tuple[Axes, Axes]], points: pd.DataFrame) -> None:
    """Mark zero error and the scaling of the realization that is drawn in full."""
    first = in_full(points)
    if first.empty or not first["converged"].all():
        return
    met, after, factor = first[["met_epoch", AFTER, FACTOR]].iloc[0].astype(float)
    early = met < EARLY * points["epoch"].max()
    marks = [(met, " zero error ", "left" if early else "right")]
    if np.isfinite(after):
        marks.append((met + after, rf" $\alpha$ = {factor:g}", "left"))
    for whole, part in rows:
        part.axvline(0, color=GREY, ls="--", lw=0.8, zorder=0)
        for epoch, *_ in marks:
            whole.axvline(epoch, color=GREY, ls="--", lw=0.8, zorder=0)
    top = rows[0][0]
    for epoch, text, side in marks:
        place = top.get_xaxis_transform()
        top.text(epoch, 1.02, text, transform=place, ha=side, fontsize=7.5, color="0.35")


def _unsettled(points: Sequence[pd.DataFrame]) -> str:
    """How many moments of each measure did not converge."""
    counts = {one["quantity"].iloc[0]: one["settled"].eq(False).sum() for one in points if len(one)}
    lost = [f"{name} {count}" for name, count in counts.items() if count]
    return f"Moments measured without converging: {', '.join(lost)}. " if lost else ""
