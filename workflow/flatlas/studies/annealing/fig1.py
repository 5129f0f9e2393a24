"""Figure 1: the principal components of SGD's own trajectory: drift along one, diffusion in few."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREY, ORANGE, RED, Drawing, note, panels
from flatlas.studies.annealing.fits import INTERVALS, fit, log_log
from flatlas.studies.annealing.recordings import first_net, live, small_print

# Where the paper sees a power law, and up to where we look for its faster decay.
FIRST, LAST, BEYOND = 20, 200, 1000
GAMMA, SHARE, RANK = 2.6, 0.9, 35


def draw(material: Material) -> Drawing:
    """A, B: the spectrum and its sum. C, D: the trajectory on two planes."""
    spectra = material.measured("pca_directions", ["rank", "variance", "cumulative"])
    spectra = spectra[["run", "seed", "rank", "variance", "cumulative"]]
    paths = material.measured("pca_projections", ["rank", "time", "theta"])
    paths = first_net(paths)[["run", "seed", "rank", "time", "theta"]]
    figure, axes = panels(2, 2, width=3.6, height=2.9)
    points = [
        *_spectrum(axes[0], live(spectra)),
        _sum(axes[1], spectra),
        *(_plane(ax, paths, pair) for ax, pair in zip(axes[2:], ((1, 2), (49, 50)), strict=True)),
    ]
    note(
        figure,
        "A: all nets, above round-off; dashed: the power laws between ranks"
        f" {FIRST} and {LAST}, and from there to {BEYOND}, with {INTERVALS}."
        f" The paper: $\\gamma$ ≈ {GAMMA}. "
        f"B: grey, the paper's {100 * SHARE:g} % at n = {RANK}. "
        "C, D: the first net, light to dark from the first step to the last. "
        + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _nets(rows: pd.DataFrame) -> list[pd.DataFrame]:
    return [net for _, net in rows.groupby(["run", "seed"])]


def _spectrum(ax: Axes, spectra: pd.DataFrame) -> Sequence[pd.DataFrame]:
    ax.plot(spectra["rank"], spectra["variance"], ".", color=BLUE, ms=3, alpha=0.6)
    told = [spectra.drop(columns="cumulative").assign(panel="A")]
    ranges = {r"\gamma": (FIRST, LAST, RED), r"\gamma_{>200}": (LAST, BEYOND, ORANGE)}
    for place, (symbol, (first, last, colour)) in enumerate(ranges.items()):
        found = fit(spectra.assign(i=spectra["rank"]), "i", "variance", first, last)
        if found is None:
            continue
        found.draw(ax, colour)
        text = found.told(symbol, -1)
        ax.text(0.04, 0.13 - 0.09 * place, text, transform=ax.transAxes, color=colour, fontsize=8)
        told.append(found.row.assign(panel="A"))
    log_log(ax, spectra)
    ax.set(xlabel="rank $i$", ylabel=r"$\sigma_i^2$")
    return told


def _sum(ax: Axes, spectra: pd.DataFrame) -> pd.DataFrame:
    ax.axhline(SHARE, color=GREY, ls=":", lw=0.9, zorder=0)
    ax.axvline(RANK, color=GREY, ls=":", lw=0.9, zorder=0)
    ranks = []
    for net in _nets(spectra):
        ax.plot(net["rank"], net["cumulative"], color=BLUE, lw=1.1)
        reached = net[net["cumulative"] >= SHARE]
        ranks += [] if reached.empty else [int(reached["rank"].min())]
        ax.plot(ranks[-1:], [SHARE] * len(ranks[-1:]), "o", color=RED)
    if ranks:
        ends = f"{min(ranks)}" if min(ranks) == max(ranks) else f"{min(ranks)} to {max(ranks)}"
        ax.text(
            0.97, 0.5, f"{100 * SHARE:g} % at n = {ends}", transform=ax.transAxes, color=RED,
            ha="right", fontsize=8, backgroundcolor="white",
        )  # fmt: skip
    ax.set(xscale="log", xlim=(1, None), ylim=(0, 1.03), xlabel="$n$")
    ax.set_ylabel(r"$\sum_{i=2}^{n}\sigma_i^2\ /\ \sum_{i\geq2}\sigma_i^2$")
    return spectra.drop(columns="variance").assign(panel="B")


def _plane(ax: Axes, paths: pd.DataFrame, pair: tuple[int, int]) -> pd.DataFrame:
    """θ_i against θ_j, in time."""
    i, j = pair
    mine = paths[paths["rank"].isin(pair)]
    plane = mine.pivot(index="time", columns="rank", values="theta")
    if set(pair) <= set(plane):
        ax.plot(plane[i], plane[j], color="0.8", lw=0.5, zorder=1)
        time = plane.index.to_numpy(float)
        dots = ax.scatter(plane[i], plane[j], c=time, s=4, lw=0, cmap="viridis_r", zorder=2)
        ax.figure.colorbar(dots, ax=ax, label="epochs recorded", pad=0.02)
    ax.set(xlabel=rf"$\theta_{{{i}}}$", ylabel=rf"$\theta_{{{j}}}$")
    return mine.assign(panel="C" if i == 1 else "D")


def claims(material: Material):
    """See there."""
    from flatlas.studies.annealing.fig1_claims import judge

    return judge(material)
