"""Figure S1: four things that are called the function of a net (App. C), computed for a small one.

Each says less than the one before. The paper's prior is that of the last one.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import ConnectionPatch

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, Drawing, panels

# A net with one input, ReLU neurons that become active at these inputs, and one output.
THRESHOLDS = np.array([-3.0, -1.6, -0.4, 0.7, 1.9])
OUTPUT_WEIGHTS = np.array([4.0, -9.0, 10.0, -7.5, 5.0])
OUTPUT_BIAS = -2.4
INPUTS = np.linspace(-3, 3, 601)
# The finite set to which the last function is restricted: S and E in the paper.
POINTS = np.linspace(-2.75, 2.75, 8)
PANELS = {
    "latent": ("C.1: latent", r"$f:\ \mathcal{X}\to\mathbb{R}$", BLUE),
    "probability": ("C.2: probability", r"$\sigma\circ f:\ \mathcal{X}\to(0,1)$", GREEN),
    "label": ("C.3: coarse-grained", r"$\tau\circ\sigma\circ f:\ \mathcal{X}\to\{0,1\}$", ORANGE),
    "restricted": ("C.4: restricted", r"$\{c_1,\dots,c_m\}\to\{0,1\}$", RED),
}
STEPS = (r"sigmoid $\sigma$", r"threshold $\tau$", "finite set")


def draw(material: Material) -> Drawing:
    """A panel for each meaning, from left to right."""
    figure, axes = panels(1, 4, width=2.5, height=2.7)
    points = pd.concat([meanings(INPUTS), restriction()], ignore_index=True)
    for ax, (name, (title, maps, colour)) in zip(axes, PANELS.items(), strict=True):
        curve = points[points["meaning"] == name]
        ax.set_title(title, loc="right")
        ax.set(xlim=(-3.2, 3.2), xlabel=maps)
        if name == "restricted":
            _bits(ax, curve, colour)
        else:
            ax.plot(curve["x"], curve["value"], color=colour)
            ax.axhline(0.0 if name == "latent" else 0.5, color=GREY, ls=":", lw=0.8, zorder=0)
        if name != "latent":
            ax.set(ylim=(-0.15, 1.25), yticks=[0, 1])
    figure.set_layout_engine("constrained", wspace=0.1)
    for left, right, text in zip(axes, axes[1:], STEPS, strict=False):
        _arrow(left, right, text)
    return Drawing(figure, points)


def latent(x: np.ndarray) -> np.ndarray:
    """f: the net's output before any final activation."""
    hidden = np.maximum(x[..., np.newaxis] - THRESHOLDS, 0)
    return np.asarray(hidden @ OUTPUT_WEIGHTS + OUTPUT_BIAS)


def meanings(x: np.ndarray) -> pd.DataFrame:
    """The values of the first three meanings at some inputs."""
    f = latent(x)
    probability = 1 / (1 + np.exp(-f))
    values = {"latent": f, "probability": probability, "label": (probability >= 0.5).astype(float)}
    tables = [pd.DataFrame({"meaning": name, "x": x, "value": v}) for name, v in values.items()]
    return pd.concat(tables, ignore_index=True)


def restriction() -> pd.DataFrame:
    """The last meaning: one bit for each point."""
    table = meanings(POINTS)
    return table[table["meaning"] == "label"].assign(meaning="restricted")


def _bits(ax: Axes, curve: pd.DataFrame, colour: str) -> None:
    ax.vlines(curve["x"], 0, curve["value"], color=colour, lw=0.8, alpha=0.5)
    ax.plot(curve["x"], curve["value"], "o", color=colour, ms=5)
    for x, bit in zip(curve["x"], curve["value"], strict=True):
        ax.text(x, 1.14, f"{bit:.0f}", ha="center", family="monospace", fontsize=10, color=BLACK)
    ax.set_xticks(curve["x"], [f"$c_{place}$" for place in range(1, len(curve) + 1)], fontsize=7)


def _arrow(left: Axes, right: Axes, text: str) -> None:
    arrow = ConnectionPatch(
        (1.04, 0.5), (-0.16, 0.5), "axes fraction", "axes fraction", axesA=left, axesB=right,
        arrowstyle="-|>", color="0.35", mutation_scale=10,
    )  # fmt: skip
    left.figure.add_artist(arrow)
    left.text(1.16, 0.54, text, transform=left.transAxes, ha="center", fontsize=7.5, color="0.35")
