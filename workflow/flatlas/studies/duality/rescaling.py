"""Not in the paper's figures: scaling two layers against each other leaves every ΔL_n unchanged."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, between
from flatlas.claims.conventions import EXACT
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLACK, BLUE, RED, Drawing, make_room, panels, plain_ticks
from flatlas.statistics.means import mean
from flatlas.studies.duality.directions import live, logs
from flatlas.studies.duality.realizations import LEGEND, draw_means, finish, over_seeds
from flatlas.studies.duality.spectra import LABELS, draw_spectrum, spectrum
from flatlas.studies.duality.swept import set_ticks

TABLE, FACTOR = "rescaled_directions", "factor"
DIRECTION = [*NET, "n"]
# What is compared with its value at p = 1.
RATIOS = {"sigma_g": (BLUE, "v"), "sigma_w": (RED, "^"), "gap": (BLACK, "o")}
# The paper scales σ_g by p and σ_w by 1/p; which layer is scaled by p is a matter of naming.
POWERS = {"sigma_g": ("σ_g", -1), "sigma_w": ("σ_w", 1)}
ALMOST = 1e-3


def draw(material: Material) -> Drawing:
    """A, B: the determinants by direction. C: each relative to the net as trained, p = 1."""
    figure, axes = panels(1, 3)
    directions = material.measured(TABLE)
    points: list[pd.DataFrame] = []
    for ax, letter, column in zip(axes, "AB", POWERS, strict=False):
        drawn = spectrum(directions, FACTOR, column)
        draw_spectrum(ax, drawn, FACTOR)
        points.append(drawn.assign(panel=letter))
    if len(directions):
        # The lines are far apart.
        make_room(axes[0], above=0.4)
        axes[0].legend(title="$p$", ncols=3, loc="upper right")
    relative = _relations(directions)
    _relations_panel(axes[2], relative)
    points.append(relative.assign(panel="C"))
    return finish(figure, points, material, LEGEND + "C: medians over directions. ")


def _relations(directions: pd.DataFrame) -> pd.DataFrame:
    """Each quantity relative to p = 1: means over realizations of medians over directions."""
    unscaled = directions[directions[FACTOR] == 1][[*DIRECTION, *RATIOS]]
    both = directions.merge(unscaled, on=DIRECTION, suffixes=("", "_there"))
    for column in RATIOS:
        both[column] = (both[column] / both[f"{column}_there"]).where(both[f"{column}_there"] != 0)
    medians = both.groupby([*NET, "converged", FACTOR])[list(RATIOS)].median()
    return over_seeds(medians.reset_index(), [FACTOR], list(RATIOS))


def _relations_panel(ax: Axes, relative: pd.DataFrame) -> None:
    set_ticks(ax, sorted(relative[FACTOR].unique()), FACTOR)
    ax.set(yscale="log", ylabel="relative to $p=1$")
    if relative.empty:
        return
    for quantity, (colour, marker) in RATIOS.items():
        line = relative[relative["quantity"] == quantity]
        draw_means(ax, line, FACTOR, colour, marker)
        ax.plot([], [], f"{marker}-", color=colour, label=LABELS[quantity])
    plain_ticks(ax.yaxis)
    ax.legend(loc="upper center", ncols=3, columnspacing=1.2)
    make_room(ax, above=0.2)


def claims(material: Material) -> Claims:
    """The claims that ΔL_n does not change, and by which power of p both determinants do."""
    nets = Nets(material, "base")
    factors = np.asarray(nets.levels(TABLE, FACTOR), dtype=float)
    curvature = nets.read_of_run(TABLE, "eigenvalue", FACTOR, "n")
    if len(factors):
        # A direction has the same n for every p, so the directions at p = 1 are enough.
        curvature = curvature[:, [_unscaled(factors)]]
    curved = np.isfinite(live(curvature))
    yield _unchanged(nets, factors, curved)
    yield from _powers(nets, factors, curved)


def _unscaled(factors: np.ndarray) -> int:
    return int(np.argmin(np.abs(factors - 1)))


def _unchanged(nets: Nets, factors: np.ndarray, curved: np.ndarray) -> Claim:
    gap = nets.read_of_run(TABLE, "gap", FACTOR, "n")
    return nets.claim(
        "gap",
        "each ΔL_n is the same whatever the factor p",
        "largest change of a ΔL_n with p, relative to ΔL, over all directions with H_n above"
        " round-off (of the others, whose eigenvectors are arbitrary: of their sum) and all nets",
        EXACT,
        np.fmax.reduce,
        _largest_change(gap, curved, factors),
    )


def _largest_change(gap: np.ndarray, curved: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """The largest change of each net from p = 1."""
    if not gap.size:
        return gap[:, 0:0]
    rest = np.where(curved, 0.0, gap).sum(-1, keepdims=True)
    parts = np.concatenate([np.where(curved, gap, 0.0), rest], axis=-1)
    own = [_unscaled(factors)]
    changes = (parts - parts[:, own]) / gap[:, own].sum(-1, keepdims=True)
    return np.asarray(np.abs(changes).max((1, 2)))


def _powers(nets: Nets, factors: np.ndarray, curved: np.ndarray) -> Claims:
    """The claims about the exponents of p, the factor of the layer's weights."""
    steps = np.log(factors) - np.log(factors).mean() if len(factors) else factors
    for column, (symbol, power) in POWERS.items():
        values = nets.read_of_run(TABLE, column, FACTOR, "n")
        means = mean(logs(np.where(curved, values, np.nan)), -1)
        yield nets.claim(
            column,
            f"{symbol} scales by {'p' if power > 0 else '1/p'}, if the layer's weights do by p",
            f"exponent of p in {symbol}, mean over directions with H_n above round-off, and nets",
            between(power - ALMOST, power + ALMOST),
            lambda over: (mean(over) * steps).sum(-1) / (steps**2).sum(),
            means,
            paper="σ_g by p and σ_w by 1/p, or the other way round",
        )
