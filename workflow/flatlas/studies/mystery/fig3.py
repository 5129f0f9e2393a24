"""Figure 3: each local measure against the test error, over all nets."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import CORRELATED, RISING, TIGHTER
from flatlas.claims.nets import Nets, Sweep, pooled_nets
from flatlas.evidence.material import Material
from flatlas.minus import with_minus
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
from flatlas.plotting.trainings import zero_error
from flatlas.statistics.correlation import spearman
from flatlas.statistics.estimate import estimate
from flatlas.statistics.pooling import within_realizations
from flatlas.statistics.trends import trend
from flatlas.studies.mystery.nets import FLATNESS, JUDGED, TABLE, settled, with_local


@dataclass(frozen=True)
class Local:
    """A measure: its label on an axis, and its words in claims.

    A measure is `ours` if the post does not mention it.
    """

    label: str
    words: str
    ours: bool = False
    logarithmic: bool = True


# The post mentions the regret but not its factors, and a KL-ball without damping.
MEASURES = {
    "regret": Local(r"local regret $R/\epsilon$", "the local regret"),
    "norm": Local(r"$\mathrm{E}\,\|g\|$", "the gradients' norm", ours=True),
    "dissimilarity": Local(
        r"$\mathrm{E}\,[1-\cos(g_1,g_2)]$", "1 − cos(g₁, g₂)", ours=True, logarithmic=False
    ),
    "damped_regret": Local(
        "regret in the KL-ball, damped", "the regret in a damped KL-ball", ours=True
    ),
    "kl_regret": Local("regret in the KL-ball, undamped", "the regret in a KL-ball"),
    **{
        f"{name}_contrast": Local(
            f"contrastive flatness, {words.removeprefix('the ')}",
            f"contrastive flatness by {words}",
            logarithmic=False,
        )
        for name, words in FLATNESS.items()
    },
}
CONTRASTS = [f"{name}_contrast" for name in JUDGED]
# Colour, marker, legend and words of each sweep.
SWEEPS = {
    "batch": (BLUE, "o", "SGD, batch size", "SGD with minibatches of several sizes"),
    "sgd": (BLACK, "s", "SGD, |A|", "SGD with attack sets"),
    "adam": (RED, "^", "Adam, |A|", "Adam with attack sets"),
    "entropy_sgd": (ORANGE, "D", "Entropy-SGD, |A|", "Entropy-SGD with attack sets"),
}
OTHER = (GREEN, "v")
# An axis is logarithmic if its ends differ by more than the first factor; up to the second factor
# its ticks are plain numbers.
FACTORS = 3, 50
RHO = within_realizations(spearman)


def draw(material: Material) -> Drawing:
    """A panel for each measure; if the post is right, larger means worse."""
    material = with_local(material)
    local = material.tables[TABLE]
    drawn = local.assign(error=100 * local["test_error"])
    nets = pooled_nets(material, material.sweeps)
    figure, axes = panels(2, 4, width=2.6, height=2.5)
    for ax, column in zip(axes, MEASURES, strict=True):
        _panel(ax, drawn, column)
        ax.set_title(_rank_correlation(nets, column), fontsize=8)
    for ax in (axes[0], axes[4]):
        ax.set_ylabel("test error (%)")
    sweeps = material.sweeps
    for sweep in sweeps:
        colour, marker, name = _style(sweep)
        axes[0].plot([], [], marker, color=colour, ms=4, label=name)
    figure.legend(loc="outside upper center", ncols=len(sweeps))
    note(figure, _small_print(material, drawn))
    return Drawing(figure, drawn)


def _panel(ax: Axes, drawn: pd.DataFrame, column: str) -> None:
    known = drawn[np.isfinite(drawn[[column, "error"]]).all(axis=1)]
    if MEASURES[column].logarithmic:
        known = known[known[column] > 0]
        factor = known[column].max() / known[column].min()
        if factor > FACTORS[0]:
            ax.set_xscale("log")
        if FACTORS[0] < factor < FACTORS[1]:
            plain_ticks(ax.xaxis)
    for sweep, some in known.groupby("sweep", sort=False):
        colour, marker, _ = _style(str(sweep))
        lost = (some[settled(column)].to_numpy() == 0).any(axis=1)
        face = np.where(lost, "white", colour)
        x, y = some[column], some["error"]
        ax.scatter(x, y, s=13, marker=marker, c=face, edgecolors=colour, linewidths=0.7, alpha=0.85)
    ax.set_xlabel(MEASURES[column].label, fontsize=8.5)


def _rank_correlation(nets: Nets, column: str) -> str:
    """Spearman's coefficient in each realization: the mean, with its interval."""
    found = estimate(RHO, nets.read(TABLE, column), nets.read(TABLE, "test_error"))
    if not np.isfinite(found.value):
        return ""
    interval = f" [{found.low:.2f}, {found.high:.2f}]" if np.isfinite(found.low) else ""
    return with_minus(rf"$\rho$ = {found.value:.2f}{interval}")


def _style(sweep: str) -> tuple[str, str, str]:
    return SWEEPS.get(sweep, (*OTHER, sweep, ""))[:3]


def _small_print(material: Material, drawn: pd.DataFrame) -> str:
    text = (
        "One dot for each net, when it first has zero error on S. |A|: attack sets of several"
        r" sizes. $\rho$: mean of Spearman's coefficient over the realizations that all runs have. "
    )
    if drawn.filter(like="_converged").eq(False).any(axis=None):
        text += "Hollow: the search did not converge. "
    return text + zero_error(material, drawn)


def claims(material: Material) -> Claims:
    """The claims about the test error by batch size, and how measures follow it, also by sweep."""
    material = with_local(material)
    nets = pooled_nets(material, material.sweeps)
    sweep = Sweep(material, "batch", "batch")
    yield sweep.claim(
        "batch",
        "SGD with smaller minibatches finds minima that generalize better",
        "rank correlation of the mean test error with the minibatches' size",
        RISING,
        trend(sweep.values),
        sweep.read(TABLE, "test_error"),
    )
    for name in MEASURES:
        if name != "trace_contrast":
            yield _correlates(nets, name, name, "over all nets")
    # The post does not distinguish how networks were trained.
    for name, (*_, words) in SWEEPS.items():
        by_sweep = Nets(material, name)
        yield from ours(
            _correlates(by_sweep, f"{column}_{name}", column, f"over the nets of {words}")
            for column in ("regret", "damped_regret", *CONTRASTS)
        )
    yield from _better(nets)


def _correlates(nets: Nets, name: str, column: str, over: str) -> Claim:
    says = MEASURES[column].words
    claim = nets.claim(
        name,
        f"the smaller {says}, the better a net generalizes",
        f"Spearman's coefficient of {says} with the test error, {over} in each realization;"
        " mean over these",
        CORRELATED["spearman"],
        RHO,
        nets.read(TABLE, column),
        nets.read(TABLE, "test_error"),
        settled=[nets.read(TABLE, one) for one in settled(column)],
    )
    return replace(claim, ours=MEASURES[column].ours)


def _better(nets: Nets) -> Claims:
    for flatness in JUDGED:
        yield nets.claim(
            f"{flatness}_better",
            "how flatness is affected by subsampling says more than flatness of the average loss",
            f"Spearman's coefficient of contrastive flatness by {FLATNESS[flatness]} with the test"
            " error, over all nets in each realization, mean over these; less the size of that of"
            " the flatness itself",
            TIGHTER,
            # Contrastive flatness should rise with the error; flatness itself may predict it
            # either way.
            lambda x, y, z: RHO(x, z) - abs(RHO(y, z)),
            *(nets.read(TABLE, one) for one in (f"{flatness}_contrast", f"{flatness}_of_mean")),
            nets.read(TABLE, "test_error"),
            settled=[nets.read(TABLE, f"{flatness}_converged")],
        )
