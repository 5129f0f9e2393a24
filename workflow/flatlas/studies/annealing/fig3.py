"""Figure 3: the losses L^µ of random minibatches, and how their minima scale with the flatness."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims
from flatlas.claims.conventions import MOSTLY, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import (
    BLUE,
    GREEN,
    PURPLE,
    RED,
    Drawing,
    make_room,
    note,
    panels,
    plain_ticks,
)
from flatlas.statistics.power_law import slope
from flatlas.studies.annealing import recordings
from flatlas.studies.annealing.directions import POOLED, moving, pooled, read
from flatlas.studies.annealing.fits import INTERVALS, fit, log_log
from flatlas.studies.annealing.recordings import BASE, FIRST, LAST, VALLEY
from flatlas.studies.annealing.relation import diffusive

TABLE = "minibatch_directions"
# The paper's direction.
RANK = 30
QUANTITIES = {
    "curvature": (r"$M_{ii}$", BLUE, "s"),
    "minimum_variance": (r"$\tilde\sigma_i^2$", GREEN, "o"),
    "product": (r"$M_{ii}^2\,\tilde\sigma_i^2$", PURPLE, "D"),
}


def draw(material: Material) -> Drawing:
    """A: profiles along one direction of the first net. B: over all directions of all nets."""
    figure, axes = panels(1, 2, width=4.0, height=3.2)
    profiles = _profiles(axes[0], material)
    minima = recordings.measured(material, TABLE, "rank", "found", *QUANTITIES)
    valleys = recordings.measured(material, VALLEY, "rank", "flatness")
    rows = diffusive(minima.merge(valleys, on=[*NET, "rank"]))
    fits = list(_scaling(axes[1], rows))
    found = f"{100 * rows['found'].mean():.0f} %" if len(rows) else "none"
    note(
        figure,
        "A: the first net; red: all images, dashed: single minibatches. B: all nets; $M_{ii}$ and"
        r" $\tilde\sigma_i^2$ from parabolas through $\ln{L^\mu}$ near its minimum, which"
        f" {found} of the minibatches have within $4F_i$; power laws over ranks {FIRST} to {LAST},"
        f" {INTERVALS}. The paper: exponents −2, 2 and −2. " + recordings.small_print(material),
    )
    points = [profiles, rows.assign(panel="B"), *fits]
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _profiles(ax: Axes, material: Material) -> pd.DataFrame:
    """ln L_i in red, ln L_i^µ dashed, as far as L_i is measured."""
    whole = recordings.first_profiles(material, "valley_profiles", [RANK], "loss").assign(panel="A")
    mini = recordings.first_profiles(material, "minibatch_profiles", [RANK], "loss", "minibatch")
    mini = mini.assign(panel="A")
    if len(whole):
        reach = whole["delta"].abs().max()
        mini = mini[mini["delta"].abs() <= reach]
        for _, line in mini.groupby("minibatch"):
            ax.plot(line["delta"], np.log(line["loss"]), "--", color=BLUE, lw=0.8, alpha=0.7)
        ax.plot(whole["delta"], np.log(whole["loss"]), color=RED, lw=2.0)
        ax.set_title(f"$i$ = {RANK}", loc="right")
    ax.set(xlabel=r"$\delta\theta$", ylabel=r"$\ln\,L_i$, $\ln\,L_i^\mu$")
    return pd.concat([whole, mini], ignore_index=True)


def _scaling(ax: Axes, rows: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for name, (symbol, colour, marker) in QUANTITIES.items():
        found = fit(rows, "flatness", name)
        text = f"{symbol}, {found.label('slope').replace('$', '')}" if found else symbol
        ax.plot(rows["flatness"], rows[name], marker, color=colour, ms=2.6, mew=0, alpha=0.55,
                label=text)  # fmt: skip
        if found:
            found.draw(ax, colour)
            yield found.row.assign(panel="B")
    log_log(ax, rows, xlabel="$F_i$")
    if len(rows):
        make_room(ax, above=0.45)
        plain_ticks(ax.xaxis)
        ax.legend(loc="upper left", fontsize=7.5, markerscale=2)


def claims(material: Material) -> Claims:
    """The claims about three exponents."""
    nets = Nets(moving(material, VALLEY), BASE)
    found = read(nets, TABLE, "found")
    # A direction along which most minibatches have no minimum within reach counts as not settled.
    within = np.where(np.isnan(found), np.nan, found >= MOSTLY.low)

    def exponent(name: str, says: str, what: str, y: np.ndarray, paper: float) -> Claim:
        return nets.judged(
            name,
            says,
            f"exponent of {what} over F_i, {POOLED}",
            near(paper),
            pooled(slope, read(nets, VALLEY, "flatness"), y),
            half_width=None,
            paper=f"{paper:g}",
            settled=(read(nets, VALLEY, "converged"), within),
        )

    curvature, variance, product = (read(nets, TABLE, column) for column in QUANTITIES)
    spread = "the spread σ̃_i of their minima grows almost linearly with F_i"
    falls = "the mean M_ii of minibatches falls as F_i^−2"
    yield exponent("curvature", falls, "M_ii", curvature, -2)
    yield exponent("spread", spread, "σ̃_i", np.sqrt(variance), 1)
    yield exponent("product", "M_ii² σ̃_i² falls as F_i^−2", "M_ii² σ̃_i²", product, -2)
