"""Not in the paper, which trusts expectation propagation: how far it is from the exact prior."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import BARELY_OFF
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, ZERO_ERROR, Material, at_moment
from flatlas.plotting.style import GREY, Drawing, note, panels, shades
from flatlas.statistics.means import largest
from flatlas.studies.prior.nets import small_print, with_attack_size
from flatlas.studies.prior.scatter import name_shades

COLUMNS = [
    *("size", "log10_p_ep", "log10_p_tilting", "standard_error", "log10_p_variational"),
    *("converged_ep", "converged_tilting", "converged_variational"),
]
ESTIMATES = {"ep": "expectation propagation", "variational": "variational bound"}
# Length of a bar to either side, in standard errors.
BAR = 2
# Spread of the dots of one size, as a share of the distance to the next size.
SPREAD = 0.5


def draw(material: Material) -> Drawing:
    """A: expectation propagation minus the exact prior. B: the variational bound minus it."""
    figure, axes = panels(1, 2, width=3.8, height=3.0)
    points = errors(material)
    for ax, (estimate, name) in zip(axes, ESTIMATES.items(), strict=True):
        _panel(ax, points, estimate)
        ax.set_title(name)
    name_shades(figure, axes, points)
    about = (
        f"The exact prior is by minimax tilting; bars: {BAR} of its standard errors."
        " Top right: the largest error, as a share of log P(f). "
    )
    note(figure, about + small_print(material, points))
    return Drawing(figure, points)


def errors(material: Material) -> pd.DataFrame:
    """A row for each net and number of points, with the error of each estimate of log10 P."""
    table = with_attack_size(at_moment(material.tables["estimates_summary"], ZERO_ERROR))
    points = table[[*DOT, "at", "attack_size", *COLUMNS]]
    for estimate in ESTIMATES:
        settled = points[[f"converged_{estimate}", "converged_tilting"]].eq(True).all(axis=1)
        off = points[f"log10_p_{estimate}"] - points["log10_p_tilting"]
        points = points.assign(**{f"error_{estimate}": off, f"{estimate}_settled": settled})
    return points.reset_index(drop=True)


def _panel(ax: Axes, points: pd.DataFrame, estimate: str) -> None:
    """Draw sizes at equal distances, the nets of each size side by side by their attack sets."""
    ax.axhline(0, color=GREY, lw=0.8, zorder=0)
    sizes, attacks = (sorted(points[column].unique()) for column in ("size", "attack_size"))
    place = points["size"].map({size: place for place, size in enumerate(sizes)}).astype(float)
    rank = points.groupby("size")["attack_size"].rank(method="first", pct=True)
    x = place + SPREAD * (rank.astype(float) - 0.5)
    for attack, colour in zip(attacks, shades(len(attacks)), strict=True):
        for settled, face in ((True, colour), (False, "white")):
            chosen = (points["attack_size"] == attack) & (points[f"{estimate}_settled"] == settled)
            some = points[chosen]
            if len(some):
                ax.errorbar(
                    x[chosen], some[f"error_{estimate}"], BAR * some["standard_error"], fmt="o",
                    ms=3.5, color=colour, mfc=face, elinewidth=0.8, capsize=0,
                )  # fmt: skip
    ax.set_xticks(range(len(sizes)), [f"{size:g}" for size in sizes])
    ax.set(xlabel="points of the function", ylabel=r"estimate $-$ exact, of $\log_{10}P(f)$")
    relative = (points[f"error_{estimate}"] / points["log10_p_tilting"]).abs().dropna()
    if len(relative):
        ax.set_title(f"{100 * relative.max():.2g}%", loc="right", fontsize=7.5)


def claims(material: Material) -> list[Claim]:
    """The question, which judges each net at the number of points with the largest error."""
    nets = Nets(material, "estimates")
    exact, estimated, by_ep, by_tilting = (
        nets.read("estimates_summary", column, "size", at=ZERO_ERROR)
        for column in ("log10_p_tilting", "log10_p_ep", "converged_ep", "converged_tilting")
    )
    near = nets.mean_claim(
        "near",
        "expectation propagation gives log P(f)",
        "largest deviation of log10 P(f) by expectation propagation from its exact value, up"
        " or down",
        BARELY_OFF,
        largest(np.abs(estimated - exact)),
        settled=(by_ep, by_tilting),
    )
    return ours([near])
