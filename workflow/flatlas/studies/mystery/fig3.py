"""Figure 3: each local measure against the test error, over all nets."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    RED,
    Drawing,
    note,
    panels,
    plain_ticks,
)
from flatlas.statistics.correlation import spearman
from flatlas.statistics.estimate import estimate
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.mystery.nets import NET, nets


@dataclass(frozen=True)
class Quantity:
    """A column on an axis, its label, and the column that says whether its search converged."""

    column: str
    label: str
    settled: str = ""
    logarithmic: bool = True


QUANTITIES = (
    Quantity("regret", r"local regret $R/\epsilon$"),
    Quantity("norm", r"$\mathrm{E}\,\|g\|$"),
    Quantity("dissimilarity", r"$\mathrm{E}\,[1-\cos(g_1,g_2)]$", logarithmic=False),
    Quantity("damped_regret", "regret in the KL-ball, damped", "damped_converged"),
    Quantity("kl_regret", "regret in the KL-ball, undamped", "kl_converged"),
    Quantity("trace_contrast", "contrastive flatness, trace", "trace_converged", logarithmic=False),
    Quantity(
        "spectral_norm_contrast",
        "contrastive flatness, spectral norm",
        "spectral_norm_converged",
        logarithmic=False,
    ),
    Quantity(
        "sharpness_contrast",
        "contrastive flatness, sharpness",
        "sharpness_converged",
        logarithmic=False,
    ),
)
# Colour, sign and name of what the sweeps have in common.
SWEEPS = {
    "batch": (BLUE, "o", "SGD, batch size"),
    "sgd": (BLACK, "s", "SGD, |A|"),
    "adam": (RED, "^", "Adam, |A|"),
    "entropy_sgd": (ORANGE, "D", "Entropy-SGD, |A|"),
}
OTHER = (GREEN, "v")
# An axis whose ends differ by a smaller factor is not logarithmic, and up to the larger one a
# logarithmic axis has plain numbers on it.
FACTORS = 3, 50


def draw(material: Material) -> Drawing:
    """A panel a measure; larger means worse, if the post is right."""
    points = nets(material)
    points = points.assign(error=100 * points["test_error"])
    figure, axes = panels(2, 4, width=2.6, height=2.5)
    for ax, quantity in zip(axes, QUANTITIES, strict=True):
        _panel(ax, points, quantity)
    for ax in (axes[0], axes[4]):
        ax.set_ylabel("test error (%)")
    sweeps = list(material.tables["outcomes"]["sweep"].unique())
    for sweep in sweeps:
        colour, sign, name = _look(sweep)
        axes[0].plot([], [], sign, color=colour, ms=4, label=name)
    figure.legend(loc="outside upper center", ncols=len(sweeps))
    note(figure, _small_print(material, points))
    return Drawing(figure, points)


def _panel(ax: Axes, points: pd.DataFrame, quantity: Quantity) -> None:
    known = points[np.isfinite(points[[quantity.column, "error"]].to_numpy(float)).all(axis=1)]
    if quantity.logarithmic:
        known = known[known[quantity.column].astype(float) > 0]
        _logarithmic(ax, known[quantity.column])
    for sweep, some in known.groupby("sweep", sort=False):
        colour, sign, _ = _look(str(sweep))
        lost = some[quantity.settled].eq(False).to_numpy() if quantity.settled else False
        face = np.where(np.broadcast_to(lost, len(some)), "white", colour)
        x, y = some[quantity.column], some["error"]
        ax.scatter(x, y, s=13, marker=sign, c=face, edgecolors=colour, linewidths=0.7, alpha=0.85)
    ax.set_xlabel(quantity.label, fontsize=8.5)
    told = _rank_correlation(known, quantity.column)
    if told:
        ax.set_title(told, fontsize=8)


def _logarithmic(ax: Axes, values: pd.Series) -> None:
    factor = values.max() / values.min()
    if factor > FACTORS[0]:
        ax.set_xscale("log")
        if factor < FACTORS[1]:
            plain_ticks(ax.xaxis)


def _rank_correlation(points: pd.DataFrame, column: str) -> str:
    """Spearman's coefficient in each realization: the mean over these, with its interval."""
    if points.empty:
        return ""
    x, y = (
        points.drop_duplicates(["run", "seed"])
        .pivot(index="seed", columns="run", values=name)
        .to_numpy(float)
        for name in (column, "error")
    )
    found = estimate(within_realizations(spearman), x, y)
    if not np.isfinite(found.value):
        return ""
    interval = f" [{found.low:.2f}, {found.high:.2f}]" if np.isfinite(found.low) else ""
    return rf"$\rho$ = {found.value:.2f}{interval}".replace("-", "−")


def _look(sweep: str) -> tuple[str, str, str]:
    return SWEEPS.get(sweep, (*OTHER, sweep))


def _small_print(material: Material, points: pd.DataFrame) -> str:
    outcomes = material.tables["outcomes"].drop_duplicates(NET)
    never = len(outcomes) - len(points.drop_duplicates(NET))
    text = (
        "One dot a net where zero error on S is first reached. |A|: attack sets of several sizes."
        r" $\rho$: Spearman's coefficient in each realization, mean over these. "
    )
    if points.filter(like="_converged").eq(False).any(axis=None):
        text += "Hollow: what was measured has not converged. "
    nets = f"Of {len(outcomes)} nets {never} never" if never else f"All {len(outcomes)} nets"
    return text + f"{nets} had zero error on S."


def claims(material: Material):
    """See there."""
    from flatlas.studies.mystery.fig3_claims import judge

    return judge(material)
