"""Not in the paper's figures: layers scaled against each other leave every ΔL_n as it is.

Claims: Scaling two layers against each other: what the paper's discussion says of it.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, between
from flatlas.claims.conventions import EXACT
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, RED, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.realizations import LEGEND, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, live, logs, spectrum
from flatlas.studies.duality.swept import stand

FACTOR, NET = "factor", ["run", "seed", "n"]
# What is compared with its value at p = 1, and how that is written.
RATIOS = {
    "sigma_g": (r"$\sigma_{g,n}$", BLUE, "v"),
    "sigma_w": (r"$\sigma_{w,n}$", RED, "^"),
    "gap": (r"$\Delta L_n$", BLACK, "o"),
}
TABLE = "rescaled_directions"
# The paper lets σ_g scale by p and σ_w by 1/p; in which layer the p stands is a matter of naming.
POWERS = {"sigma_g": ("σ_g", -1), "sigma_w": ("σ_w", 1)}
ALMOST = 1e-3


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


def claims(material: Material) -> list[Claim]:
    """Both determinants scale, and their product does not."""
    nets = Nets(material, "base")
    factors = np.asarray(nets.levels(TABLE, "factor"), dtype=float)
    return [_unchanged(nets, factors), *_powers(nets, factors)]


def _unchanged(nets: Nets, factors: np.ndarray) -> Claim:
    gap, curvature = (nets.read(TABLE, name, "factor", "n")[:, 0] for name in ("gap", "eigenvalue"))
    return nets.claim(
        "gap",
        "each ΔL_n is the same whatever the factor p",
        "largest change of a ΔL_n with p, relative to ΔL, over all directions with H_n above"
        " round-off (of the others, whose eigenvectors are arbitrary: of their sum) and all nets",
        EXACT,
        np.fmax.reduce,
        _largest_change(gap, curvature, factors),
    )


def _largest_change(gap: np.ndarray, curvature: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Of each net, against p = 1; the table's direction n is the same one for every p."""
    if not gap.size:
        return gap[:, 0:0]
    own = int(np.argmin(np.abs(factors - 1)))
    alive = np.isfinite(live(curvature[:, [own]]))
    rest = np.where(alive, 0.0, gap).sum(-1, keepdims=True)
    parts = np.concatenate([np.where(alive, gap, 0.0), rest], axis=-1)
    changes = (parts - parts[:, [own]]) / gap[:, [own]].sum(-1, keepdims=True)
    return np.asarray(np.abs(changes).max((1, 2)))


def _powers(nets: Nets, factors: np.ndarray) -> Iterator[Claim]:
    """The exponents of p: of the layer's weights times p."""
    steps = np.log(factors) - np.log(factors).mean() if len(factors) else factors
    for column, (symbol, power) in POWERS.items():
        means = mean(logs(nets.read(TABLE, column, "factor", "n")[:, 0]), -1)
        yield nets.claim(
            column,
            f"{symbol} scales by {'p' if power > 0 else '1/p'}, if the layer's weights do by p",
            f"exponent of p in {symbol}, mean over directions and nets",
            between(power - ALMOST, power + ALMOST),
            lambda over: (mean(over) * steps).sum(-1) / (steps**2).sum(),
            means,
            paper="σ_g by p and σ_w by 1/p, or the other way round",
        )
