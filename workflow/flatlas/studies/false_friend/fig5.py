"""Figure 5: SGD and AdamW, each with its last iterate and with the average of its iterates."""

from collections.abc import Mapping
from functools import reduce

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import MORE, near
from flatlas.claims.nets import Nets, pooled_nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.statistics.trends import ratio
from flatlas.studies.false_friend import norms
from flatlas.studies.false_friend.norms import NORMS, TABLE, VGG

AVERAGED, SGD = "vgg_adamw_ia", "vgg_sgd"
OTHERS = [way for way in VGG if way != AVERAGED]
# In the preprint, averaged AdamW is this many times sharper than SGD.
TIMES = 30


def draw(material: Material) -> Drawing:
    """The three norms, the training loss and the accuracy, with a column for each training."""
    drawn = norms.points(material)
    ways = material.sweeps
    figure, axes = panels(1, 5, width=2.6)
    for ax, (name, norm) in zip(axes, NORMS.items(), strict=False):
        _dots(ax, drawn, ways, name, norm.colour, norm.marker)
        ax.set(yscale="log", ylabel=norm.symbol)
        plain_ticks(ax.yaxis)
    _dots(axes[3], drawn, ways, "train_loss", GREY, "D")
    axes[3].set(yscale="log", ylabel="training loss")
    _dots(axes[4], drawn, ways, "accuracy", BLACK, "o")
    axes[4].set_ylabel("test accuracy (%)")
    text = (
        "IA: the average of the iterates. Dots: realizations, with standard errors; lines: their"
        " means. "
    )
    note(figure, text + norms.unsettled(drawn) + small_print(material))
    return Drawing(figure, drawn)


def _dots(
    ax: Axes, drawn: pd.DataFrame, ways: list[str], column: str, colour: str, marker: str
) -> None:
    ax.set_xticks(range(len(ways)), [VGG.get(way, way) for way in ways], fontsize=7.5)
    ax.set_xlim(-0.6, len(ways) - 0.4)
    for at, way in enumerate(ways):
        some = drawn[drawn["sweep"] == way]
        for _, net in some.iterrows():
            norms.dot(ax, at, net, column, (colour, marker), size=4)
        if len(some):
            ax.plot([at - 0.25, at + 0.25], [some[column].mean()] * 2, "-", color=colour, lw=1.2)


def claims(material: Material) -> Claims:
    """The claims that averaged AdamW generalizes best, and how much sharper than SGD it is."""
    every = (AVERAGED, *OTHERS)
    # Runs are compared in the realizations that all of them have.
    material = pooled_nets(norms.with_history(material), every).material
    nets, ways = Nets(material, every), {way: Nets(material, way) for way in every}
    yield from _accurate(nets, ways)
    yield from _sharper(nets, ways)


def _accurate(nets: Nets, ways: Mapping[str, Nets]) -> Claims:
    accuracy = {way: one.read_of_run(TABLE, "accuracy") for way, one in ways.items()}
    best = nets.claim(
        "best",
        "adaptive steps with averaged iterates generalize best of the four",
        "mean test accuracy of averaged AdamW less that of the best other",
        MORE,
        lambda best, *rest: mean(best) - reduce(np.maximum, map(mean, rest)),
        *accuracy.values(),
    )
    yield from ours([best])
    yield nets.claim(
        "better",
        "adaptive steps with averaged iterates generalize better than SGD",
        "mean test accuracy of averaged AdamW less that of SGD",
        MORE,
        lambda best, sgd: mean(best) - mean(sgd),
        accuracy[AVERAGED],
        accuracy[SGD],
    )


def _sharper(nets: Nets, ways: Mapping[str, Nets]) -> Claims:
    for name, norm in NORMS.items():
        measured = [ways[way].read_of_run(TABLE, name) for way in (AVERAGED, SGD)]
        searches = [one for way in (AVERAGED, SGD) for one in norms.settled(ways[way], name)]
        yield nets.claim(
            f"{name}_sharper",
            "adaptive steps with averaged iterates are sharper than SGD",
            f"logarithm of the ratio of {norm.words} of averaged AdamW to that of SGD; of means",
            MORE,
            lambda ia, sgd: np.log10(ratio(ia, sgd)),
            *measured,
            settled=searches,
        )
        yield nets.claim(
            f"{name}_times",
            f"{TIMES} times sharper",
            f"ratio of {norm.words} of averaged AdamW to that of SGD; of means",
            near(TIMES),
            ratio,
            *measured,
            paper=f"{TIMES}",
            settled=searches,
        )
