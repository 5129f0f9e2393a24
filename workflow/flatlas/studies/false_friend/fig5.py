"""Figure 5: SGD and AdamW, each with its last iterate and with the average of its iterates."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.nets import NORMS, error_bar, nets, sweeps, unsettled

NAMES = {
    "vgg_sgd": "SGD",
    "vgg_sgd_ia": "SGD\n+ IA",
    "vgg_adamw": "AdamW",
    "vgg_adamw_ia": "AdamW\n+ IA",
}


def draw(material: Material) -> Drawing:
    """The three norms, the loss they belong to, and the accuracy; a column for each training."""
    points = nets(material)
    ways = sweeps(material)
    figure, axes = panels(1, 5, width=2.6)
    for ax, (name, (symbol, colour, sign)) in zip(axes, NORMS.items(), strict=False):
        _dots(ax, points, ways, name, colour, sign)
        ax.set(yscale="log", ylabel=symbol)
        plain_ticks(ax.yaxis)
    _dots(axes[3], points, ways, "train_loss", GREY, "D")
    axes[3].set(yscale="log", ylabel="training loss")
    _dots(axes[4], points, ways, "accuracy", BLACK, "o")
    axes[4].set_ylabel("test accuracy (%)")
    said = (
        "IA: the mean of the iterates. Dots: realizations, with standard errors; lines: their"
        " means. "
    )
    note(figure, said + unsettled(points) + small_print(material))
    return Drawing(figure, points)


def _dots(
    ax: Axes, points: pd.DataFrame, ways: list[str], column: str, colour: str, sign: str
) -> None:
    ax.set_xticks(range(len(ways)), [NAMES.get(way, way) for way in ways], fontsize=7.5)
    ax.set_xlim(-0.6, len(ways) - 0.4)
    for at, way in enumerate(ways):
        some = points[points["sweep"] == way]
        for _, net in some.iterrows():
            hollow = column == "spectral_norm" and net["settled"] is False
            error_bar(ax, at, net, column, colour)
            face = "white" if hollow else colour
            ax.plot(at, net[column], sign, mfc=face, mec=colour, ms=4, alpha=0.8)
        if len(some):
            mean = some[column].astype(float).mean()
            ax.plot([at - 0.25, at + 0.25], [mean] * 2, "-", color=colour, lw=1.2)


def claims(material: Material):
    """See there."""
    from flatlas.studies.false_friend.fig5_claims import judge

    return judge(material)
