"""Figure S7: a flatter solution and a smaller one have a smaller gap, computed for parabolas."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREEN, RED, Drawing, note, panels

# Curvature of the loss and deviation of the dual weights, of each pair of solutions.
PANELS = {
    "A": ("flatter", ("$w_1$", 4.0, 0.35), ("$w_2$", 1.0, 0.35)),
    "B": ("smaller", ("$w_4$", 2.0, 0.5), ("$w_3$", 2.0, 0.2)),
}
PLACES = (-1.5, 1.5)
REACH, STEPS = 1.3, 261
# How high the distribution of dual weights is drawn.
HEIGHT = 0.18


def draw(material: Material) -> Drawing:
    """A panel for each strategy, with the better solution on the right."""
    figure, axes = panels(1, 2, width=3.8, height=2.9)
    points: list[pd.DataFrame] = []
    for ax, (letter, (title, *solutions)) in zip(axes, PANELS.items(), strict=True):
        for place, (name, curvature, sigma) in zip(PLACES, solutions, strict=True):
            curves = solution(place, curvature, sigma)
            _draw_solution(ax, curves, place)
            points.append(curves.assign(panel=letter, solution=name.strip("$")))
        ax.set_title(title, loc="right")
        ax.set(xlabel="$w_n$", yticks=[], xlim=(-3.1, 3.1), ylim=(-0.2, 1.7))
        ax.set_xticks(PLACES, [name for name, *_ in solutions])
        ax.plot([], [], color=BLUE, label="$L(w)$")
        ax.fill_between([], [], color=GREEN, alpha=0.4, lw=0, label=r"dual weights $w^\prime$")
    axes[0].legend(loc="upper center", ncols=2)
    axes[0].set_ylabel("loss")
    note(
        figure,
        r"Red: $\Delta L=\langle L(w^\prime)\rangle-L(w)=H\sigma_w^2/2$ for curvature $H$.",
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def solution(place: float, curvature: float, sigma: float) -> pd.DataFrame:
    """The loss around a minimum, the density of its dual weights, and its gap."""
    w = np.linspace(place - REACH, place + REACH, STEPS)
    loss = curvature * (w - place) ** 2 / 2
    density = np.exp(-(((w - place) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))
    return pd.DataFrame({"w": w, "loss": loss, "density": density, "gap": curvature * sigma**2 / 2})


def _draw_solution(ax: Axes, curves: pd.DataFrame, place: float) -> None:
    gap = curves["gap"].iloc[0]
    shown = curves[curves["loss"] < 1.3]
    ax.plot(shown["w"], shown["loss"], color=BLUE)
    ax.fill_between(curves["w"], 0, HEIGHT * curves["density"], color=GREEN, alpha=0.4, lw=0)
    ax.plot([place - REACH, place + REACH], [gap, gap], color=RED, lw=1)
    ax.text(place, -0.13, rf"$\Delta L$ = {gap:.2f}", color=RED, ha="center", fontsize=8.5)
