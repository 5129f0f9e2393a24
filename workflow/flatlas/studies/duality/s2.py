"""Figure S2: mean components of g and dual weights, relative to their deviations.

Claims: Figure S2: mean components beside their standard deviations.
"""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.ranks import binned
from flatlas.studies.duality.realizations import LEGEND, above_zero, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum
from flatlas.studies.duality.swept import stand
from flatlas.studies.duality.trends import trend

IMAGES = "test_images"
LETTERS = {"w": "AC", "g": "BD"}
RATIOS = {"w": "|µ_w,n/σ_w,n|", "g": "|µ_g,n/σ_g,n|"}


def draw(material: Material) -> Drawing:
    """By direction for each number of test images (A, B), and averaged over directions (C, D)."""
    figure, axes = panels(2, 2, width=3.4)
    points = pd.concat(_columns(material, axes), ignore_index=True)
    note(figure, LEGEND + "A, B: means over ten bins of $n$ a decade. " + small_print(material))
    return Drawing(figure, points)


def _columns(material: Material, axes: list[Axes]) -> Iterator[pd.DataFrame]:
    sizes = ["mu_w", "sigma_w", "mu_g", "sigma_g"]
    directions = material.measured("test_images_directions", [IMAGES, "n", *sizes])
    nets = material.measured("test_images_summary", [IMAGES, "mu_w_ratio", "mu_g_ratio"])
    for column, (which, letters) in enumerate(LETTERS.items()):
        ratio, mu, sigma = f"mu_{which}_ratio", f"mu_{which}", f"sigma_{which}"
        live = directions[directions[sigma] > 0]
        live = live.assign(**{ratio: (live[mu] / live[sigma]).abs()})
        drawn = above_zero(
            over_seeds(binned(live, [IMAGES], [ratio]), [IMAGES, "n"], [ratio])
        ).assign(panel=letters[0])
        draw_spectrum(axes[column], drawn, IMAGES)
        symbol = rf"|\mu_{{{which},n}}/\sigma_{{{which},n}}|"
        _finish(axes[column], f"${symbol}$")
        means = over_seeds(nets, [IMAGES], [ratio]).assign(panel=letters[1])
        stand(axes[2 + column], sorted(means[IMAGES].unique()), IMAGES)
        _means_panel(axes[2 + column], means)
        _finish(axes[2 + column], rf"$\langle{symbol}\rangle_n$")
        yield from (drawn, means)
    if len(directions):
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(low * (low / high) ** 0.3, high)
        axes[0].legend(title=r"$N_{te}$", ncols=4, loc="lower left", fontsize=7)


def _means_panel(ax: Axes, means: pd.DataFrame) -> None:
    ax.plot(means[IMAGES], means["mean"], "-", color=BLACK)
    draw_means(ax, means[IMAGES], means, BLACK)


def _finish(ax: Axes, label: str) -> None:
    """Logarithmic, up to the 1 that the ratio is to be far below."""
    ax.set(yscale="log", ylabel=label)
    ax.axhline(1, color="0.6", lw=0.8, ls=":")
    ax.set_ylim(top=1.5)


def claims(material: Material) -> list[Claim]:
    """Panels A and C for Δw, B and D for g."""
    nets = Nets(material, "test_images")
    return [claim for which in RATIOS for claim in _ratio(nets, which)]


def _ratio(nets: Nets, which: str) -> Iterator[Claim]:
    sizes = nets.levels("test_images_summary", "test_images")
    ratios = nets.read("test_images_summary", f"mu_{which}_ratio", "test_images")[:, 0]
    yield nets.claim(
        f"{which}_small",
        f"{RATIOS[which]} is far below 1",
        f"mean {RATIOS[which]} over the directions, at the largest N_te",
        SMALL,
        lambda over: mean(over)[..., -1],
        ratios,
    )
    yield nets.claim(
        f"{which}_falls",
        f"the average of {RATIOS[which]} falls with the number of test images",
        f"rank correlation of mean {RATIOS[which]} with N_te",
        FALLING,
        trend(sizes),
        ratios,
    )
