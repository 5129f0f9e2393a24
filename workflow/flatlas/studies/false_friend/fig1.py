"""Figure 1: the three norms along training, without L2 and with."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.nets import L2, NORMS, name_of, nets, sweeps

# Without L2, and with.
STYLES = ("-", ":")
LOSS, EPOCH = "train_loss", "epoch"


def draw(material: Material) -> Drawing:
    """A row a net: ‖w‖ and the norms over epochs, and the norms over the loss, which falls."""
    points = nets(material, every_moment=True)
    rows = sweeps(material)
    figure, axes = panels(len(rows), 3)
    for row, sweep in enumerate(rows):
        weights, along, against = axes[3 * row : 3 * row + 3]
        _axes(weights, along, against, name_of(sweep))
        some = points[points["sweep"] == sweep]
        strengths = sorted(some[L2].dropna().unique()) if L2 in some else []
        for strength, style in zip(strengths, STYLES, strict=False):
            _lines(weights, some[some[L2] == strength], EPOCH, "weight_norm", BLACK, style)
            for norm, (_, colour, _) in NORMS.items():
                _lines(along, some[some[L2] == strength], EPOCH, norm, colour, style)
                _lines(against, some[some[L2] == strength], LOSS, norm, colour, style)
            weights.plot([], [], style, color=BLACK, label=f"L2 {strength:g}")
        for symbol, colour, _ in NORMS.values():
            along.plot([], [], "-", color=colour, label=symbol)
        along.legend(loc="best")
        if strengths:
            weights.legend(loc="best")
            # The loss falls.
            against.invert_xaxis()
    note(figure, f"Lines: means over realizations; faint: each. {small_print(material)}")
    return Drawing(figure, points)


def _lines(ax: Axes, some: pd.DataFrame, x: str, y: str, colour: str, style: str) -> None:
    for _, net in some.sort_values("epoch").groupby("seed"):
        ax.plot(net[x], net[y], style, color=colour, lw=0.6, alpha=0.35)
    means = some.groupby("epoch")[list(dict.fromkeys([LOSS, y]))].mean().reset_index()
    ax.plot(means[x], means[y], style, color=colour, marker=".", ms=4)


def _axes(weights: Axes, along: Axes, against: Axes, name: str) -> None:
    weights.set(xscale="log", xlabel="epoch", ylabel=r"$\|w\|_2$", title=name)
    along.set(xscale="log", yscale="log", xlabel="epoch", ylabel="of the Hessian")
    against.set(xscale="log", yscale="log", xlabel="training loss", ylabel="of the Hessian")
    against.grid(color=GREY, alpha=0.2, lw=0.5)


def claims(material: Material):
    """See there."""
    from flatlas.studies.false_friend.fig1_claims import judge

    return judge(material)
