"""Figures 3 and 4: what L2 does to the Hessian's norms, to ‖w‖ and to the test accuracy."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import MORE, RISING
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.trends import change, difference, trend
from flatlas.studies.false_friend import norms
from flatlas.studies.false_friend.norms import KINDS, L2, NORMS, TABLE

# Distance between the dots of two realizations; all dots of one strength take at most this space.
SPACING, SPACE = 0.06, 0.5
# The strongest L2 that the author trained with.
STRONGEST = 5e-4
# A rank correlation of fewer strengths can take only a few values.
FEWEST = 4


@dataclass(frozen=True)
class Grid:
    """A figure that draws all its sweeps, with claims about these kinds of net."""

    kinds: tuple[str, ...]

    def draw(self, material: Material) -> Drawing:
        """A row for each sweep: the norms, ‖w‖ and the test accuracy over the strength of L2."""
        drawn = norms.points(material)
        rows = material.sweeps
        figure, axes = panels(len(rows), 3)
        for row, sweep in enumerate(rows):
            sharpness, weights, accuracy = axes[3 * row : 3 * row + 3]
            some = drawn[drawn["sweep"] == sweep]
            sharpness.set(yscale="log", ylabel="norm of the Hessian", title=norms.name_of(sweep))
            plain_ticks(sharpness.yaxis)
            for name, norm in NORMS.items():
                _line(sharpness, some, name, norm.colour, norm.marker)
                sharpness.plot([], [], f"{norm.marker}-", color=norm.colour, label=norm.symbol)
            _line(weights, some, "weight_norm", BLACK, "o")
            weights.set(ylabel=r"$\|w\|_2$")
            _line(accuracy, some, "accuracy", BLACK, "o")
            accuracy.set(ylabel="test accuracy (%)")
        if rows:
            axes[0].legend(loc="best")
        lines = "Lines: means over realizations; dots: each realization; bars: standard errors. "
        note(figure, lines + norms.unsettled(drawn) + small_print(material))
        return Drawing(figure, drawn)

    def claims(self, material: Material) -> Claims:
        """The claims that norms and accuracy are larger with L2, and rise along the grid."""
        material = norms.with_history(material)
        for kind in self.kinds:
            yield from _raised(material, kind)


def _line(ax: Axes, some: pd.DataFrame, column: str, colour: str, marker: str) -> None:
    """Draw a column over the strengths of L2, at equal distances: a logarithmic axis has no 0."""
    strengths = norms.strengths_in(some)
    # Written as 5e-4, which leaves room for the neighbours.
    short = [
        np.format_float_scientific(one, trim="-", exp_digits=1) if one else "0" for one in strengths
    ]
    ax.set_xticks(range(len(strengths)), short)
    ax.set_xlabel("L2")
    seeds = sorted(some["seed"].unique())
    spacing = min(SPACING, SPACE / max(len(seeds) - 1, 1))
    for at, strength in enumerate(strengths):
        for _, net in some[some[L2] == strength].iterrows():
            x = at + spacing * (seeds.index(net["seed"]) - (len(seeds) - 1) / 2)
            norms.dot(ax, x, net, column, (colour, marker), size=3.5)
    means = [some.loc[some[L2] == strength, column].mean() for strength in strengths]
    ax.plot(range(len(means)), means, "-", color=colour, lw=1)


def _raised(material: Material, kind: str) -> Claims:
    nets = norms.OverL2(material, kind)
    strongest = _strongest(nets.values)
    words = {name: norm.words for name, norm in NORMS.items()} | {"accuracy": "the test accuracy"}
    for column, says in words.items():
        values = nets.read(TABLE, column)
        of_norm = column in NORMS
        yield nets.claim(
            f"{kind}_{column}_more",
            f"adding L2 regularisation increases {says} of {KINDS[kind].words}",
            f"{'relative difference' if of_norm else 'difference'} of {says} with the"
            " author's strongest L2 from without; of means over nets",
            MORE,
            lambda over, moved=change if of_norm else difference: moved(over[..., [0, strongest]]),
            values,
            settled=norms.settled(nets, column),
        )
        if values.shape[1] < FEWEST:
            continue
        rises = Sweep(material, kind, along=L2).claim(
            f"{kind}_{column}_rises",
            f"the more L2, the larger {says} of {KINDS[kind].words}",
            f"rank correlation of {says}, mean over nets, with the strength of L2",
            RISING,
            trend(range(values.shape[1])),
            values,
            settled=norms.settled(nets, column),
        )
        yield from ours([rises])


def _strongest(strengths: list[float]) -> int:
    """The place of the strongest L2 up to the author's, or of the weakest if all exceed it.

    At place 0 there is no L2.
    """
    within = [place for place, one in enumerate(strengths) if 0 < one <= STRONGEST]
    return within[-1] if within else min(1, len(strengths) - 1)


FIGURES = {
    # On MNIST, and on colour images.
    "fig3": Grid(("logistic", "mlp", "cnn")),
    "fig4": Grid(("cnn_colour", "preresnet", "wideresnet")),
}
