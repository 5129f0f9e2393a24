"""Figure 1: the three norms along training, without L2 and with.

Without L2 the weights should grow, while the loss goes to 0 and the Hessian with it.
"""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.typing import LineStyleType

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import RISING, SMALL
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.false_friend import norms
from flatlas.studies.false_friend.norms import KINDS, L2, NORMS, TABLE, OverL2

# Line styles: without L2, then with more and more of it.
STYLES: tuple[LineStyleType, ...] = ("-", ":", "--", "-.", (0, (1, 4)), (0, (6, 1, 1, 1, 1, 1)))
LOSS, EPOCH = "train_loss", "epoch"


def draw(material: Material) -> Drawing:
    """A row for each net: ‖w‖ and the norms over epochs, and the norms over the falling loss."""
    drawn = norms.points(material, every_moment=True)
    rows = material.sweeps
    figure, axes = panels(len(rows), 3)
    for row, sweep in enumerate(rows):
        weights, along, against = axes[3 * row : 3 * row + 3]
        weights.set(xscale="log", xlabel="epoch", ylabel=r"$\|w\|_2$", title=norms.name_of(sweep))
        along.set(xscale="log", yscale="log", xlabel="epoch", ylabel="of the Hessian")
        against.set(xscale="log", yscale="log", xlabel="training loss", ylabel="of the Hessian")
        against.grid(color=GREY, alpha=0.2, lw=0.5)
        some = drawn[drawn["sweep"] == sweep]
        strengths = norms.strengths_in(some)
        for strength, style in zip(strengths, cycle(STYLES), strict=False):
            _lines(weights, some[some[L2] == strength], EPOCH, "weight_norm", BLACK, style)
            for name, norm in NORMS.items():
                _lines(along, some[some[L2] == strength], EPOCH, name, norm.colour, style)
                _lines(against, some[some[L2] == strength], LOSS, name, norm.colour, style)
            weights.plot([], [], ls=style, color=BLACK, label=f"L2 {strength:g}")
        for norm in NORMS.values():
            along.plot([], [], "-", color=norm.colour, label=norm.symbol)
        along.legend(loc="best")
        if strengths:
            weights.legend(loc="best")
            # The loss falls.
            against.invert_xaxis()
    lines = "Lines: means over realizations; faint lines: each realization. "
    note(figure, lines + small_print(material))
    return Drawing(figure, drawn)


def _lines(ax: Axes, some: pd.DataFrame, x: str, y: str, colour: str, style: LineStyleType) -> None:
    for _, net in some.sort_values("epoch").groupby("seed"):
        ax.plot(net[x], net[y], ls=style, color=colour, lw=0.6, alpha=0.35)
    means = some.groupby("epoch")[list(dict.fromkeys([LOSS, y]))].mean().reset_index()
    ax.plot(means[x], means[y], ls=style, color=colour, marker=".", ms=4)


def claims(material: Material) -> Claims:
    """The claims about weights and norms along training, in the nets without L2."""
    material = norms.with_history(material)
    for kind in ("logistic", "mlp"):
        yield from _along(OverL2(material, f"{kind}_path"), kind)


def _along(nets: OverL2, kind: str) -> Claims:
    name, weights = KINDS[kind].words, _without_l2(nets, "weight_norm")
    epochs = np.arange(weights.shape[-1], dtype=float)
    yield nets.mean_claim(
        f"{kind}_weights",
        f"on the way of {name} to no loss the weights grow (and have to, without bound)",
        "rank correlation of ‖w‖₂ with the epoch, without L2",
        RISING,
        spearman(epochs, weights),
    )
    loss = _without_l2(nets, LOSS)
    for column, norm in NORMS.items():
        values = _without_l2(nets, column)
        later = values.shape[-1] // 2
        searches = (_without_l2(nets, "settled"),) if column == "spectral_norm" else ()
        yield nets.mean_claim(
            f"{kind}_{column}_follows",
            f"in the limit of no training loss {norm.words} of {name} goes to 0",
            f"rank correlation of {norm.words} with the loss, over the later half of the moments,"
            " without L2",
            RISING,
            spearman(loss[..., later:], values[..., later:]),
            settled=searches,
        )
        yield nets.mean_claim(
            f"{kind}_{column}_small",
            f"solutions of {name} with low loss and large weights have a small Hessian",
            f"{norm.words} at the end over its largest value on the way, without L2",
            SMALL,
            values[..., -1] / values.max(-1),
            settled=searches,
        )


def _without_l2(nets: OverL2, column: str) -> np.ndarray:
    """A column as (realizations, epochs), without L2; NaN if none is known."""
    array = nets.read(TABLE, column, "epoch", "at")
    if not array.size:
        return np.full((len(nets.seeds), 1), np.nan)
    # Every epoch has only one moment.
    return mean(array, -1)[:, 0]
