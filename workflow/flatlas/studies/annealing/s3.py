"""Figure S3: the variance-flatness relation of other layers, another net, other optimizers."""

from collections.abc import Iterator
from itertools import cycle, pairwise, product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from flatlas.claims.claim import Claims
from flatlas.evidence.material import Material, with_settings
from flatlas.plotting.style import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, Drawing, note, panels
from flatlas.studies.annealing import relation
from flatlas.studies.annealing.directions import moving, runs
from flatlas.studies.annealing.recordings import VALLEY

LAYER = "snapshots"
# Colours of layers; a fourth layer has the first colour with another marker.
COLOURS = BLUE, ORANGE, GREEN
DEEP = ("784", "50", "50", "50", "50", "10")
# The layers of the LeNet for CIFAR-10, and the height of the block of each.
LENET = (
    ("image\n3×32×32", 1.0),
    ("conv\n5×5×6", 0.9),
    ("conv\n5×5×16", 0.72),
    ("dense\n120", 0.55),
    ("dense\n84", 0.42),
    ("dense\n10", 0.2),
)
# The panel of each sweep, and its net.
PANELS = {
    "deep": ("B", "four hidden layers"),
    "lenet_cifar": ("D", "LeNet on CIFAR-10, momentum"),
    "adam": ("E", "two hidden layers, Adam"),
    "momentum": ("F", "two hidden layers, momentum"),
}
EACH_LAYER = ("deep", "lenet_cifar")


def draw(material: Material) -> Drawing:
    """A, C: the nets. B, D: their relations. E, F: other optimizers."""
    figure, axes = panels(3, 2, width=3.7, height=2.6)
    rows = relation.flatnesses(material, LAYER)
    # A run records its own layer if no sweep names it.
    layers = rows.pop(LAYER).astype(object).fillna("its own")
    rows = rows.assign(**{LAYER: layers})
    _deep_net(axes[0])
    _lenet(axes[2])
    fits: list[pd.DataFrame] = []
    for ax, (sweep, (letter, net)) in zip((axes[1], *axes[3:]), PANELS.items(), strict=True):
        ax.set_title(net, loc="right", fontsize=8.5)
        mine = rows[rows["sweep"] == sweep]
        found = _layer_by_layer(ax, mine) if sweep in EACH_LAYER else relation.plot(ax, mine)
        fits += [one.assign(panel=letter) for one in found]
        relation.finish(ax)
    note(
        figure,
        "A, C: the paper's nets; the recorded weights are drawn in colour. E, F: mentioned, but not"
        " drawn, in the paper. " + relation.remarks(material, rows),
    )
    dots = relation.diffusive(rows)
    letters = {sweep: letter for sweep, (letter, _) in PANELS.items()}
    dots = dots.assign(panel=dots["sweep"].map(letters))
    return Drawing(figure, pd.concat([dots, *fits], ignore_index=True))


def _layer_by_layer(ax: Axes, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    layers = sorted(rows[LAYER].unique())
    for layer, colour, marker in zip(layers, cycle(COLOURS), cycle(MARKERS), strict=False):
        mine = rows[rows[LAYER] == layer]
        for found in relation.plot(ax, mine, layer, colour, marker):
            yield found.assign(**{LAYER: layer})


def _deep_net(ax: Axes) -> None:
    """Draw layers of neurons, with the recorded weights between the hidden layers in colour."""
    layers = [
        [2 * place / (neurons - 1) - 1 for place in range(neurons)]
        for neurons in (7, 5, 5, 5, 5, 3)
    ]
    colours = (GREY, *COLOURS, GREY)
    for place, (left, right) in enumerate(pairwise(layers)):
        for ends in product(left, right):
            ax.plot([place, place + 1], ends, color=colours[place], lw=0.5)
    for place, (heights, width) in enumerate(zip(layers, DEEP, strict=True)):
        ax.plot([place] * len(heights), heights, "o", color="white", mec=BLACK, ms=6, zorder=3)
        ax.text(place, -1.35, width, ha="center", fontsize=8)
    for place, colour in enumerate(COLOURS):
        ax.text(place + 1.5, 1.15, f"fc{place + 2}", color=colour, ha="center", fontsize=8)
    ax.set(xlim=(-0.5, 5.5), ylim=(-1.5, 1.4))
    ax.axis("off")


def _lenet(ax: Axes) -> None:
    """Draw layers as blocks, with the kernels of both convolutions in colour."""
    for place, (layer, height) in enumerate(LENET):
        colour = "0.6" if layer.startswith("conv") else "0.88"
        ax.add_patch(Rectangle((place - 0.17, -height), 0.34, 2 * height, fc=colour, ec=BLACK))
        ax.text(place, -1.1, layer, ha="center", va="top", fontsize=7)
        if place:
            ax.plot([place - 0.83, place - 0.17], [0, 0], color=GREY, lw=1.0)
    for place, colour in enumerate(COLOURS[:2]):
        ax.plot([place + 0.17, place + 0.83], [0, 0], color=colour, lw=2.5)
        ax.text(place + 0.5, 0.1, f"conv{place + 1}", color=colour, ha="center", fontsize=8)
    ax.set(xlim=(-0.5, 5.5), ylim=(-1.6, 1.1))
    ax.axis("off")


def claims(material: Material) -> Claims:
    """The claim about each run."""
    material = moving(material, VALLEY)
    for sweep, (_, net) in PANELS.items():
        for nets in runs(material, sweep):
            layer = with_settings(nets.outcomes, [LAYER])[LAYER].iloc[0]
            known = isinstance(layer, str)
            name, where = (f"{sweep}_{layer}", f"{net}, {layer}") if known else (sweep, net)
            yield relation.inverse_relation(nets, f"inverse_{name}", where)
