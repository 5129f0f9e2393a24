"""Figure 1: the post's picture of the ε-ball, from two real minibatches."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from flatlas.evidence.material import NET, ZERO_ERROR, Material, at_moment
from flatlas.plotting.style import BLACK, ORANGE, RED, Drawing, note, panels

STAR = ["epsilon", "x", "y", "x_formula", "y_formula", "f1", "f2", "residual", "of", "converged"]
COLUMNS = {"surface": ["x", "y", "f1", "f2"], "stars": STAR}
# The post's stars: where the loss of each minibatch is smallest.
STARS = {"f1": ORANGE, "f2": RED}
LEVELS = 12
SYMBOLS = {"f1": "$f_1$", "f2": "$f_2$"}


def draw(material: Material) -> Drawing:
    """A: f1 with its star. B: f2 with both stars; the regret is the difference between them."""
    surface, stars = (_first(material, table) for table in COLUMNS)
    figure, axes = panels(1, 2, width=3.4, height=3.1)
    for ax, name, shown in zip(axes, STARS, (["f1"], ["f1", "f2"]), strict=True):
        _surface(ax, surface, name)
        _stars(ax, stars[stars["of"].isin(shown)])
        ax.set_title(SYMBOLS[name])
    axes[1].set_ylabel("")
    note(figure, _small_print(stars))
    return Drawing(figure, pd.concat([surface, stars], ignore_index=True))


def _first(material: Material, name: str) -> pd.DataFrame:
    """The rows of the first realization that reached zero error, at the moment when it did."""
    rows = at_moment(material.tables[f"slice_{name}"], ZERO_ERROR)[[*NET, *COLUMNS[name]]]
    return rows.merge(rows[NET].drop_duplicates().head(1), on=NET).assign(table=name)


def _surface(ax: Axes, surface: pd.DataFrame, name: str) -> None:
    if len(surface):
        grid = surface.pivot(index="y", columns="x", values=name)
        filled = ax.contourf(grid.columns, grid.index, grid, LEVELS, cmap="Greys", alpha=0.75)
        bar = ax.figure.colorbar(filled, ax=ax, aspect=30, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7)
    ax.add_patch(Circle((0, 0), 1, fill=False, ec=BLACK, lw=1.2))
    ax.plot(0, 0, "o", color=BLACK, ms=3.5)
    ax.annotate(r"$\theta$", (0, 0), xytext=(4, 3), textcoords="offset points")
    ax.set(
        aspect="equal",
        xlabel=r"along $g_1$, in units of $\epsilon$",
        ylabel=r"across, in units of $\epsilon$",
    )


def _stars(ax: Axes, stars: pd.DataFrame) -> None:
    """Stars where the losses are smallest, crosses where their gradients alone predict it."""
    for _, star in stars.iterrows():
        colour = STARS[star["of"]]
        ax.plot([0, star["x_formula"]], [0, star["y_formula"]], "-", color=colour, lw=0.8)
        ax.plot(star["x_formula"], star["y_formula"], "x", color=colour, ms=6, mew=1.5)
        ax.plot(star["x"], star["y"], "*", color=colour, ms=13, mec=BLACK, mew=0.6)


def _small_print(stars: pd.DataFrame) -> str:
    text = "Stars: smallest values in the circle; crosses: as the gradient at θ alone predicts. "
    values = stars.set_index("of")["f2"]
    if set(STARS) <= set(values.index):
        epsilon = stars["epsilon"].iloc[0]
        regret = values["f1"] - values["f2"]
        text += rf"$\epsilon$ = {epsilon:g}; regret, $f_2$ at one star less $f_2$ at the other: "
        text += f"{regret:.2g}. "
        if not np.all(stars["converged"]):
            text += "A search for a star did not converge. "
    else:
        text += "No net reached zero error on S. "
    return text
