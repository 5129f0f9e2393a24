"""Not in the paper's figures: layers scaled against each other leave every ΔL_n as it is."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.realizations import LEGEND, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, spectrum
from flatlas.studies.duality.swept import stand
from flatlas.plotting.style import BLACK, BLUE, RED, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print

FACTOR, NET = "factor", ["run", "seed", "n"]
# What is compared with its value at p = 1, and how that is written.
RATIOS = {
    "sigma_g": (r"$\sigma_{g,n}$", BLUE, "v"),
    "sigma_w": (r"$\sigma_{w,n}$", RED, "^"),
    "gap": (r"$\Delta L_n$", BLACK, "o"),
}


def draw(material: Material) -> Drawing:
    """A, B: the determinants by direction. C: each relative to the net as it was, p = 1."""
    figure, axes = panels(1, 3)
    directions = material.measured("rescaled_directions", [FACTOR, "n", "eigenvalue", *RATIOS])
    points: list[pd.DataFrame] = []
    for ax, letter, column in zip(axes, "AB", ("sigma_g", "sigma_w"), strict=False):
        drawn = spectrum(directions, FACTOR, column)
        draw_spectrum(ax, drawn, FACTOR)
        points.append(drawn.assign(panel=letter))
    if len(directions):
        # The lines lie far apart: room for the legend above them.
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(low, high * (high / low) ** 0.4)
        axes[0].legend(title="$p$", ncols=3, loc="upper right")
    relative = relations(directions)
    _relations_panel(axes[2], relative)
    note(figure, LEGEND + "C: medians over directions. " + small_print(material))
    return Drawing(figure, pd.concat([*points, relative.assign(panel="C")], ignore_index=True))


def relations(directions: pd.DataFrame) -> pd.DataFrame:
    """Median over live directions of each quantity relative to p = 1, over realizations."""
    both = _beside_unscaled(directions)
    for column in RATIOS:
        both[column] = (both[column] / both[f"{column}_there"]).where(both[f"{column}_there"] != 0)
    medians = both.groupby(["run", "seed", "converged", FACTOR])[list(RATIOS)].median()
    return over_seeds(medians.reset_index(), [FACTOR], list(RATIOS))


def _beside_unscaled(directions: pd.DataFrame) -> pd.DataFrame:
    unscaled = directions[directions[FACTOR] == 1][[*NET, *RATIOS]]
    return directions.merge(unscaled, on=NET, suffixes=("", "_there"))


def _relations_panel(ax: Axes, relative: pd.DataFrame) -> None:
    stand(ax, sorted(relative[FACTOR].unique()), FACTOR)
    ax.set(yscale="log", ylabel="relative to $p=1$")
    if relative.empty:
        return
    for quantity, (label, colour, marker) in RATIOS.items():
        line = relative[relative["quantity"] == quantity]
        ax.plot(line[FACTOR], line["mean"], "-", color=colour)
        draw_means(ax, line[FACTOR], line, colour, marker)
        ax.plot([], [], f"{marker}-", color=colour, label=label)
    plain_ticks(ax.yaxis)
    ax.legend(loc="upper center", ncols=3, columnspacing=1.2)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high * (high / low) ** 0.2)
