"""Figure 4: the measures of a net after an α-scaling of a layer, relative to what they were."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
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
from flatlas.studies.mystery.nets import NET, nets

# A panel each; the contrast is drawn in the colour of its flatness.
EUCLIDEAN = {
    "regret": (r"$R/\epsilon$", BLUE, "o"),
    "norm": (r"$\mathrm{E}\,\|g\|$", SKY, "v"),
    "dissimilarity": (r"$\mathrm{E}[1-\cos]$", PURPLE, "^"),
    "damped_regret": ("KL-ball, damped", RED, "s"),
    "kl_regret": ("KL-ball, undamped", BLACK, "D"),
}
FLATNESS = {
    "trace_of_mean": ("trace", GREEN, "o"),
    "spectral_norm_of_mean": ("spectral norm", BLUE, "s"),
    "sharpness_of_mean": ("sharpness", ORANGE, "^"),
}
CONTRASTS = {name.replace("of_mean", "contrast"): look for name, look in FLATNESS.items()}


def draw(material: Material) -> Drawing:
    """A: regrets. B: flatness of the mean loss. C: contrastive flatness, on the scale of B."""
    points = relative(nets(material, "scaled_"))
    figure, axes = panels(1, 3, width=2.9)
    for ax, shown in zip(axes, (EUCLIDEAN, FLATNESS, CONTRASTS), strict=True):
        _panel(ax, points, shown)
    axes[0].set_ylabel("relative to what it was")
    axes[2].set_ylim(axes[1].get_ylim())
    for ax, title in zip(axes, ("regret", "flatness", "contrastive flatness"), strict=True):
        ax.set_title(title)
    said = "A line a realization, as the first layer is multiplied by α and the next divided. "
    note(figure, said + small_print(material))
    return Drawing(figure, points)


def relative(points: pd.DataFrame) -> pd.DataFrame:
    """Each column beside `<column>_relative`, to what it is at α = 1."""
    unscaled = points[points["factor"] == 1].set_index(NET)
    ratios = {}
    for column in (*EUCLIDEAN, *FLATNESS, *CONTRASTS):
        there = points[NET].merge(unscaled[column], left_on=NET, right_index=True, how="left")
        ratios[f"{column}_relative"] = points[column].to_numpy(float) / there[column].to_numpy(
            float
        )
    return points.assign(**ratios).sort_values([*NET, "factor"], ignore_index=True)


def _panel(ax: Axes, points: pd.DataFrame, shown: dict[str, tuple[str, str, str]]) -> None:
    ax.axhline(1, color=GREY, lw=0.8, ls="--", zorder=0)
    for column, (label, colour, sign) in shown.items():
        for _, net in points.groupby(NET, sort=False):
            y = net[f"{column}_relative"].to_numpy(float)
            y = np.where(y > 0, y, np.nan)
            ax.plot(net["factor"], y, f"{sign}-", color=colour, lw=0.9, ms=3.5, alpha=0.85)
        ax.plot([], [], f"{sign}-", color=colour, ms=3.5, label=label)
    ax.set(xscale="log", yscale="log", xlabel=r"$\alpha$")
    for axis in (ax.xaxis, ax.yaxis):
        plain_ticks(axis)
    ax.legend(loc="best", fontsize=7)


def claims(material: Material):
    """See there."""
    from flatlas.studies.mystery.fig4_claims import judge

    return judge(material)
