"""Figure 4: the measures of a net after an α-scaling of a layer, relative to those before.

The α-scaling does not change the function.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, Criterion
from flatlas.claims.conventions import JUMPS, ONLY_THE_FUNCTION, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material
from flatlas.plotting.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Drawing,
    note,
    panels,
    plain_ticks,
)
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.statistics.trends import ratio
from flatlas.studies.mystery.nets import FLATNESS, JUDGED, TABLE, settled, with_local

# Label, colour and marker. A panel each; a contrast has the colour of its flatness.
REGRETS = {
    "regret": (r"$R/\epsilon$", BLUE, "o"),
    "norm": (r"$\mathrm{E}\,\|g\|$", SKY, "v"),
    "dissimilarity": (r"$\mathrm{E}[1-\cos]$", PURPLE, "^"),
    "damped_regret": ("KL-ball, damped", RED, "s"),
    "kl_regret": ("KL-ball, undamped", BLACK, "D"),
}
MEANS = {
    "trace_of_mean": ("trace", GREEN, "o"),
    "spectral_norm_of_mean": ("spectral norm", BLUE, "s"),
    "sharpness_of_mean": ("sharpness", ORANGE, "^"),
}
CONTRASTS = {name.replace("of_mean", "contrast"): style for name, style in MEANS.items()}
COLUMNS = [*REGRETS, *MEANS, *CONTRASTS]
CHANGE = "largest relative change with α, up or down; mean over nets"


def draw(material: Material) -> Drawing:
    """A: regrets. B: flatness of the mean loss. C: contrastive flatness, on the scale of B."""
    drawn = _relative(material).tables[TABLE]
    figure, axes = panels(1, 3, width=2.9)
    for ax, shown in zip(axes, (REGRETS, MEANS, CONTRASTS), strict=True):
        _panel(ax, drawn, shown)
    axes[0].set_ylabel("relative to what it was")
    axes[2].set_ylim(axes[1].get_ylim())
    for ax, title in zip(axes, ("regret", "flatness", "contrastive flatness"), strict=True):
        ax.set_title(title)
    text = "One line for each realization. The first layer is multiplied by α, the next divided. "
    note(figure, text + small_print(material))
    return Drawing(figure, drawn)


def _relative(material: Material) -> Material:
    """Add `<column>_relative`, the ratio to the value at α = 1, to the local measures."""
    material = with_local(material, "scaled_")
    local = material.tables[TABLE].sort_values([*DOT, "factor"], ignore_index=True)
    unscaled = local[local["factor"] == 1].set_index(DOT)[COLUMNS]
    before = unscaled.reindex(pd.MultiIndex.from_frame(local[DOT])).reset_index(drop=True)
    ratios = (local[COLUMNS] / before).add_suffix("_relative")
    return material.with_table(TABLE, local.join(ratios))


def _panel(ax: Axes, drawn: pd.DataFrame, shown: dict[str, tuple[str, str, str]]) -> None:
    ax.axhline(1, color=GREY, lw=0.8, ls="--", zorder=0)
    for column, (label, colour, marker) in shown.items():
        for _, net in drawn.groupby(DOT, sort=False):
            y = net[f"{column}_relative"]
            y = y.where(y > 0)
            ax.plot(net["factor"], y, f"{marker}-", color=colour, lw=0.9, ms=3.5, alpha=0.85)
        ax.plot([], [], f"{marker}-", color=colour, ms=3.5, label=label)
    ax.set(xscale="log", yscale="log", xlabel=r"$\alpha$")
    for axis in (ax.xaxis, ax.yaxis):
        plain_ticks(axis)
    ax.legend(loc="best", fontsize=7)


def claims(material: Material) -> Claims:
    """The claims on how much the regrets, flatness and contrastive flatness change with α."""
    nets = Nets(_relative(material), "solution")
    says = "the regret in a Euclidean ball is not invariant under re-parametrization"
    yield _changes(nets, "regret", "regret", says, "R/ε", JUMPS)
    # With damping by diag F, the regret does not survive every re-parametrization.
    for name, says, ball in (
        ("kl_regret", "the regret in a KL-ball depends only on the function", "KL-ball"),
        (
            "damped_regret",
            "the regret in a damped KL-ball stays after an α-scaling",
            "damped KL-ball",
        ),
    ):
        claim = _changes(nets, name, name, says, f"R/ε in the {ball}", ONLY_THE_FUNCTION)
        # The post does not mention damping.
        yield replace(claim, ours=name == "damped_regret")
    yield from _flatness(nets)


def _flatness(nets: Nets) -> Claims:
    for flatness in JUDGED:
        contrast, of_mean, by = f"{flatness}_contrast", f"{flatness}_of_mean", FLATNESS[flatness]
        says = "flatness is sensitive to re-parametrization"
        yield _changes(nets, f"{flatness}_changes", of_mean, says, f"flatness by {by}", JUMPS)
        yield nets.claim(
            contrast,
            "a ratio of two flatness measures changes much less than they do",
            f"largest factor by which contrastive flatness by {by} changes with α,"
            " in logarithms and relative to that of the flatness itself; ratio of means over nets",
            SMALL,
            ratio,
            _move(nets, contrast),
            _move(nets, of_mean),
            settled=_settled(nets, contrast),
        )
        # The post only hopes so: "may end up invariant".
        says = "a ratio of two flatness measures is invariant under re-parametrization"
        what = f"contrastive flatness by {by}"
        claim = _changes(nets, f"{contrast}_invariant", contrast, says, what, ONLY_THE_FUNCTION)
        yield replace(claim, ours=True)


def _changes(
    nets: Nets, name: str, column: str, says: str, what: str, criterion: Criterion
) -> Claim:
    """A claim about the largest |value / value at α = 1 − 1| of each net."""
    relative = nets.read_of_run(TABLE, f"{column}_relative", "factor")
    change = np.abs(relative - 1).max(-1) if relative.size else relative
    quantity, searches = f"{CHANGE}, of {what}", _settled(nets, column)
    return nets.claim(name, says, quantity, criterion, mean, change, settled=searches)


def _move(nets: Nets, column: str) -> np.ndarray:
    """The largest |log(value / value at α = 1)| of each net."""
    relative = nets.read_of_run(TABLE, f"{column}_relative", "factor")
    logs = np.log(np.where(relative > 0, relative, np.nan))
    return np.abs(logs).max(-1) if relative.size else relative


def _settled(nets: Nets, column: str) -> list[np.ndarray]:
    return [nets.read(TABLE, one, "factor") for one in settled(column)]
