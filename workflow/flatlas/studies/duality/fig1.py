"""Figure 1: what the activity-weight duality is, computed for a neuron with two weights."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.layout_engine import PlaceHolderLayoutEngine

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREEN, RED, Drawing

# The activities of a training image and of a test image, and the weights of a neuron that gets
# them.
ACTIVITY = np.array([1.0, 0.6])
CHANGED = np.array([0.45, 1.0])
WEIGHTS = np.array([1.9, 0.5])
# Eq. 6: the smallest change of weights with the effect of the change of activity.
DUAL_SHIFT = ACTIVITY * ((CHANGED - ACTIVITY) @ WEIGHTS) / (ACTIVITY @ ACTIVITY)
DUAL = WEIGHTS + DUAL_SHIFT
GRID = 41
EDGES = (0.0, 3.0), (-1.0, 2.0)
# The length of the line of dual weights on either side of the minimal ones.
REACH = 1.25
BOX = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8}
EQUATION = (
    r"$\Delta w_{ij}=\frac{a_i}{\|a\|^2}\,\sum_{i^\prime}\Delta a_{i^\prime}\,w_{i^\prime j}$"
)


def draw(material: Material) -> Drawing:
    """A: the duality in the plane of weights. B: the same numbers in a picture of the layer."""
    # Saving the figure would replace a layout engine of "none" by that of the style.
    figure = pyplot.figure(figsize=(9.4, 4.0), layout=PlaceHolderLayoutEngine(True, True))
    space = figure.add_axes((0.0, 0.04, 0.5, 0.96), projection="3d", computed_zorder=False)
    layer = figure.add_axes((0.53, 0.05, 0.45, 0.88))
    for x, letter in ((0.02, "A"), (0.53, "B")):
        figure.text(x, 0.94, letter, fontweight="bold", fontsize=9.5)
    figure.text(0.06, 0.02, r"blue: $l(x,\cdot)$, the darker the larger", fontsize=8, color=BLUE)
    points = _example()
    _weight_space(space, points)
    _layer_picture(layer)
    return Drawing(figure, points)


def loss(activity: np.ndarray, weights: np.ndarray) -> Any:
    """Logistic loss of one neuron, -log of the probability of its label."""
    return np.log1p(np.exp(-(weights @ activity)))


def _example() -> pd.DataFrame:
    """Every point of panel A with its weights, its activity (0: of x, 1: of x') and its loss."""
    along = np.array([-ACTIVITY[1], ACTIVITY[0]]) / np.linalg.norm(ACTIVITY)
    line = DUAL + np.linspace(-REACH, REACH, GRID)[:, None] * along
    axes = [np.linspace(low, high, GRID) for low, high in EDGES]
    plane = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    steps = np.linspace(0, 1, GRID)
    path = ACTIVITY + steps[:, None] * (CHANGED - ACTIVITY)
    parts = {
        "plane": (plane, 0.0, loss(ACTIVITY, plane)),
        "dual weights": (line, 0.0, loss(ACTIVITY, line)),
        "changed activity": (np.tile(WEIGHTS, (GRID, 1)), steps, loss(WEIGHTS, path)),
        "w": (WEIGHTS[None], 0.0, loss(ACTIVITY, WEIGHTS)),
        "w*": (DUAL[None], 0.0, loss(ACTIVITY, DUAL)),
        "x'": (WEIGHTS[None], 1.0, loss(CHANGED, WEIGHTS)),
    }
    tables: list[pd.DataFrame] = []
    for name, (at, activity, value) in parts.items():
        columns = {"w_1": at[:, 0], "w_2": at[:, 1], "activity": activity, "loss": value}
        tables.append(pd.DataFrame(columns).assign(panel="A", quantity=name))
    return pd.concat(tables, ignore_index=True)


def _weight_space(ax: Any, points: pd.DataFrame) -> None:
    """Draw the plane of weights, darker where the loss of x is larger; upwards, from x to x'."""
    plane, line, path, *dots = (
        points[points["quantity"] == name]
        for name in ("plane", "dual weights", "changed activity", "w", "w*", "x'")
    )
    square = (plane[column].to_numpy().reshape(GRID, GRID) for column in ("w_1", "w_2", "loss"))
    ax.contourf(*square, zdir="z", offset=0, levels=14, cmap="Blues", alpha=0.9, zorder=0)
    ax.plot(line["w_1"], line["w_2"], 0, ":", color=RED, lw=2, zorder=2)
    ax.plot(path["w_1"], path["w_2"], path["activity"], color=BLACK, lw=1.2, zorder=3)
    ax.plot(*zip(WEIGHTS, DUAL, strict=True), [0, 0], color=GREEN, lw=1.6, zorder=3)
    for dot, colour in zip(dots, (BLACK, RED, RED), strict=True):
        ax.plot(dot["w_1"], dot["w_2"], dot["activity"], "o", color=colour, ms=6, zorder=4)
    _name_dots(ax)
    tip = line.iloc[-1]
    ax.text(tip["w_1"], tip["w_2"], 0.06, "all dual weights", color=RED, ha="center", fontsize=8)
    _finish_space(ax)


def _name_dots(ax: Any) -> None:
    before, after = loss(ACTIVITY, WEIGHTS), loss(CHANGED, WEIGHTS)
    (x, y), (x_dual, y_dual) = WEIGHTS, DUAL
    style: dict[str, Any] = {"fontsize": 9, "zorder": 5, "bbox": BOX}
    ax.text(x + 0.12, y, 0.03, f"$l(x,w)$ = {before:.2f}", ha="left", **style)
    style["color"] = RED
    ax.text(x, y, 1.08, rf"$l(x^\prime,w)$ = {after:.2f}", ha="center", **style)
    ax.text(x_dual - 0.12, y_dual, 0.03, rf"$l(x,w^*)$ = {after:.2f}", ha="right", **style)
    middle = (WEIGHTS + DUAL) / 2
    ax.text(*middle, -0.16, r"$\Delta w$", color=GREEN, ha="center", fontsize=10)


def _finish_space(ax: Any) -> None:
    ax.set_zlim(0, 1.1)
    ax.set_zticks([0, 1], ["$x$", r"$x^\prime$"], fontsize=10)
    ax.set(xlim=EDGES[0], ylim=EDGES[1], xticks=range(4), yticks=range(-1, 3))
    ax.set_xlabel("$w_1$", labelpad=-6)
    ax.set_ylabel("$w_2$", labelpad=-6)
    ax.tick_params(labelsize=7, pad=-2)
    ax.grid(visible=False)
    for side in (ax.xaxis, ax.yaxis, ax.zaxis):
        side.pane.set_visible(False)
    ax.zaxis.set_ticks_position("lower")
    ax.view_init(elev=32, azim=-58)
    ax.set_box_aspect((1, 1, 0.7), zoom=1.0)


def _layer_picture(ax: Axes) -> None:
    """Draw the same pre-activation twice: from a changed activity, and from changed weights."""
    names = (r"a_{i}+\Delta a_{i}", "w_{i}"), ("a_{i}", r"w_{i}+\Delta w_{i}")
    _neuron(ax, 0.0, "activity changed", CHANGED, WEIGHTS, names[0], (RED, BLACK))
    _neuron(ax, 6.0, "weights changed", ACTIVITY, DUAL, names[1], (BLACK, RED))
    ax.text(4.75, 2.15, "=", ha="center", va="center", fontsize=16)
    ax.text(4.75, -0.6, EQUATION, ha="center", va="center", fontsize=13)
    ax.set(xlim=(-1.2, 10.6), ylim=(-1.1, 5.1))
    ax.axis("off")


def _neuron(
    ax: Axes,
    left: float,
    title: str,
    activity: np.ndarray,
    weights: np.ndarray,
    names: tuple[str, str],
    colours: tuple[str, str],
) -> None:
    """Draw two neurons and the one that they feed, with lines as thick as the weights.

    Names and colours are those of activities and weights; what changed is vermilion.
    """
    right, middle = left + 3.5, 2.15
    centre: dict[str, Any] = {"ha": "center", "va": "center"}
    ax.text(left + 1.75, 4.75, title, ha="center", fontsize=9)
    for i, (y, a, w) in enumerate(zip((3.4, 0.9), activity, weights, strict=True), start=1):
        name, weight_name = (name.replace("{i}", str(i)) for name in names)
        of_activity, of_weight = colours
        ax.plot([left, right], [y, middle], color=of_weight, lw=0.6 + 1.4 * abs(w), zorder=0)
        ax.plot(left, y, "o", ms=30, mfc="white", mec=of_activity, mew=1.2)
        ax.text(left, y, f"{a:.2f}", color=of_activity, fontsize=8, **centre)
        ax.text(left, y + np.copysign(0.68, y - middle), f"${name}$", color=of_activity, **centre)
        label, at = f"${weight_name}$\n{w:.2f}", y + 0.45 * (middle - y)
        box = BOX | {"alpha": 1}
        ax.text(left + 1.62, at, label, color=of_weight, fontsize=8.5, bbox=box, **centre)
    ax.plot(right, middle, "o", ms=30, mfc="#D6E6F2", mec=BLUE, mew=1.2)
    ax.text(right, middle, f"$z^\\prime$\n{activity @ weights:.2f}", fontsize=8, **centre)
