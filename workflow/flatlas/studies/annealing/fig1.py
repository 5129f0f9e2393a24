"""Figure 1: principal components of SGD's trajectory show drift along one, diffusion along few."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims, above, below, between
from flatlas.claims.conventions import ALL, BEYOND_DIFFUSION, MORE, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLUE, GREY, ORANGE, RED, Drawing, note, panels
from flatlas.statistics.power_law import slope
from flatlas.studies.annealing.directions import moving, pooled, ranks, read
from flatlas.studies.annealing.fits import INTERVALS, fit, log_log
from flatlas.studies.annealing.recordings import BASE, first_net, live, measured, small_print, span

TABLE = "pca_directions"
# The ranks between which the paper sees a power law, and the last rank at which we look for its
# faster decay.
FIRST, LAST, BEYOND = 20, 200, 1000
GAMMA, SHARE, RANK = 2.6, 0.9, 35
# The planes of panels C and D; the second is the paper's example of random walks.
PLANES = {"C": (1, 2), "D": (49, 50)}


def draw(material: Material) -> Drawing:
    """A, B: the spectrum and its sum. C, D: the trajectory on two planes."""
    spectra = measured(material, TABLE, "rank", "variance", "cumulative")
    paths = first_net(measured(material, "pca_projections", "rank", "time", "theta"))
    figure, axes = panels(2, 2, width=3.6, height=2.9)
    points = [*_spectrum(axes[0], live(spectra)), _sum(axes[1], spectra)]
    for ax, panel in zip(axes[2:], PLANES, strict=True):
        points.append(_plane(ax, paths, *PLANES[panel]).assign(panel=panel))
    note(
        figure,
        "A: all nets, above round-off; dashed: power laws between ranks"
        f" {FIRST} and {LAST}, and from there to {BEYOND}, with {INTERVALS}."
        f" The paper: $\\gamma$ ≈ {GAMMA}. "
        f"B: grey, the paper's {100 * SHARE:g} % at n = {RANK}. "
        "C, D: the first net, light to dark from the first step to the last. "
        + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _spectrum(ax: Axes, spectra: pd.DataFrame) -> Iterator[pd.DataFrame]:
    ax.plot(spectra["rank"], spectra["variance"], ".", color=BLUE, ms=3, alpha=0.6)
    yield spectra.drop(columns="cumulative").assign(panel="A")
    ranges = {r"\gamma": (FIRST, LAST, RED), r"\gamma_{>200}": (LAST, BEYOND, ORANGE)}
    for place, (symbol, (first, last, colour)) in enumerate(ranges.items()):
        found = fit(spectra.assign(i=spectra["rank"]), "i", "variance", first, last)
        if found is None:
            continue
        found.draw(ax, colour)
        text = found.label(symbol, -1)
        ax.text(0.04, 0.13 - 0.09 * place, text, transform=ax.transAxes, color=colour, fontsize=8)
        yield found.row.assign(panel="A")
    log_log(ax, spectra, xlabel="rank $i$", ylabel=r"$\sigma_i^2$")


def _sum(ax: Axes, spectra: pd.DataFrame) -> pd.DataFrame:
    ax.axhline(SHARE, color=GREY, ls=":", lw=0.9, zorder=0)
    ax.axvline(RANK, color=GREY, ls=":", lw=0.9, zorder=0)
    reached = []
    for _, net in spectra.groupby(NET):
        ax.plot(net["rank"], net["cumulative"], color=BLUE, lw=1.1)
        rank = float(_reached(net["rank"].to_numpy(), net["cumulative"].to_numpy()))
        ax.plot(rank, SHARE, "o", color=RED)
        reached += [rank] if np.isfinite(rank) else []
    if reached:
        ends = span(reached, "{:g}".format)
        ax.text(
            0.97, 0.5, f"{100 * SHARE:g} % at n = {ends}", transform=ax.transAxes, color=RED,
            ha="right", fontsize=8, backgroundcolor="white",
        )  # fmt: skip
    ax.set(xscale="log", xlim=(1, None), ylim=(0, 1.03), xlabel="$n$")
    ax.set_ylabel(r"$\sum_{i=2}^{n}\sigma_i^2\ /\ \sum_{i\geq2}\sigma_i^2$")
    return spectra.drop(columns="variance").assign(panel="B")


def _reached(ranks: np.ndarray, cumulative: np.ndarray) -> np.ndarray:
    """The first rank at which the sum is 90 %, along the last axis; NaN where it never is."""
    enough = cumulative >= SHARE
    return np.where(enough.any(-1), ranks[enough.argmax(-1)], np.nan)


def _plane(ax: Axes, paths: pd.DataFrame, i: int, j: int) -> pd.DataFrame:
    mine = paths[paths["rank"].isin([i, j])]
    plane = mine.pivot(index="time", columns="rank", values="theta")
    if {i, j} <= set(plane):
        ax.plot(plane[i], plane[j], color="0.8", lw=0.5, zorder=1)
        time = plane.index.to_numpy(float)
        dots = ax.scatter(plane[i], plane[j], c=time, s=4, lw=0, cmap="viridis_r", zorder=2)
        ax.figure.colorbar(dots, ax=ax, label="epochs recorded", pad=0.02)
    ax.set(xlabel=rf"$\theta_{{{i}}}$", ylabel=rf"$\theta_{{{j}}}$")
    # Labels such as 0.0002 would overlap.
    ax.ticklabel_format(scilimits=(-2, 2), useMathText=True)
    return mine


def claims(material: Material) -> Claims:
    """The claims about panels A and B, then C and D."""
    nets, live_nets = Nets(material, BASE), Nets(moving(material, TABLE), BASE)
    yield from _spectra(nets, live_nets)
    yield from _sums(nets)
    yield from _motion(nets, live_nets)


def _spectra(nets: Nets, live_nets: Nets) -> Claims:
    within = read(live_nets, TABLE, "variance", FIRST, LAST)
    beyond = read(live_nets, TABLE, "variance", LAST, BEYOND)
    yield nets.judged(
        "gamma",
        f"σ_i² falls as i^−γ between ranks {FIRST} and {LAST}, with γ of 2 to 3, about {GAMMA}",
        f"minus the exponent of σ_i² over i, ranks {FIRST} to {LAST} of all nets",
        # As in the caption of the paper's figure.
        between(2, 3),
        pooled(lambda x, y: -slope(x, y), ranks(FIRST, LAST), within),
        half_width=None,
        paper=f"{GAMMA}",
    )
    yield nets.mean_claim(
        "steeper",
        f"beyond rank {LAST} it falls even faster",
        f"γ between ranks {LAST} and {BEYOND} less that between {FIRST} and {LAST}",
        MORE,
        slope(ranks(FIRST, LAST), within) - slope(ranks(LAST, BEYOND), beyond),
    )
    first, second = read(nets, TABLE, "variance", 1, 2).T
    yield nets.mean_claim(
        "first",
        "the variance along p_1 is much larger than along any other",
        "σ_2² relative to σ_1², which is a quarter for pure diffusion",
        BEYOND_DIFFUSION,
        second / first,
    )


def _sums(nets: Nets) -> Claims:
    cumulative = read(nets, TABLE, "cumulative", 1, BEYOND)
    yield nets.mean_claim(
        "rank_90",
        f"without p_1, {100 * SHARE:g} % of the variance is reached near direction {RANK}",
        f"first rank by which it is {100 * SHARE:g} %",
        near(RANK),
        _reached(ranks(1, BEYOND), cumulative),
        paper=f"{RANK}",
    )
    yield nets.mean_claim(
        "share_35",
        f"more than {100 * SHARE:g} % of the variance without p_1 lies in the first {RANK}",
        f"share of directions 2 to {RANK}",
        above(SHARE),
        cumulative[:, RANK - 1],
        paper=f"more than {SHARE}",
    )


def _motion(nets: Nets, live_nets: Nets) -> Claims:
    """Claims from the correlation time of the velocity, in epochs; infinite if it never decays."""
    times = read(nets, TABLE, "velocity_time", 1, LAST)
    with np.errstate(divide="ignore"):
        drift = 1 / times[:, 0]
    yield nets.mean_claim(
        "drift",
        "along p_1 the weights drift, with a persistence time much longer than an epoch",
        "an epoch, relative to the correlation time of the velocity along p_1",
        BEYOND_DIFFUSION,
        drift,
    )
    i, j = PLANES["D"]
    longer = np.maximum(times[:, i - 1], times[:, j - 1])
    yield nets.mean_claim(
        "walk",
        f"along p_{i} and p_{j} they walk at random, with a velocity forgotten within an epoch",
        "the longer of the two correlation times of the velocity, in epochs",
        below(1),
        longer,
        paper="below 1",
        # A velocity that never decays has no time to average.
        settled=(np.where(np.isnan(longer), np.nan, np.isfinite(longer)),),
    )
    others = read(live_nets, TABLE, "velocity_time", 2, LAST)
    with np.errstate(invalid="ignore"):
        short = (others < 1).sum(1) / (~np.isnan(others)).sum(1)
    yield nets.mean_claim(
        "walks",
        "they do so along all other directions",
        f"share of directions 2 to {LAST} whose velocity is forgotten within an epoch",
        ALL,
        short,
    )
