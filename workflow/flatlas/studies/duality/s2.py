"""Figure S2: mean components of g and dual weights, relative to their deviations."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import FALLING, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, Drawing, make_room, panels
from flatlas.statistics.means import mean
from flatlas.statistics.trends import trend
from flatlas.studies.duality.realizations import LEGEND, above_zero, draw_means, finish, over_seeds
from flatlas.studies.duality.spectra import binned, draw_spectrum
from flatlas.studies.duality.swept import IMAGES, set_ticks

LETTERS = {"w": "AC", "g": "BD"}


def draw(material: Material) -> Drawing:
    """By direction for each number of test images (A, B), and averaged over directions (C, D)."""
    figure, axes = panels(2, 2, width=3.4)
    legend = LEGEND + "A, B: means over ten bins of $n$ a decade. "
    return finish(figure, _columns(material, axes), material, legend)


def _columns(material: Material, axes: list[Axes]) -> Iterator[pd.DataFrame]:
    directions = material.measured("test_images_directions")
    nets = material.measured("test_images_summary")
    for above, below, (which, letters) in zip(axes[:2], axes[2:], LETTERS.items(), strict=True):
        ratio, mu, sigma = f"mu_{which}_ratio", f"mu_{which}", f"sigma_{which}"
        symbol = rf"|\mu_{{{which},n}}/\sigma_{{{which},n}}|"
        live = directions[directions[sigma] > 0]
        live = live.assign(**{ratio: (live[mu] / live[sigma]).abs()})
        drawn = above_zero(over_seeds(binned(live, [IMAGES], [ratio]), [IMAGES, "n"], [ratio]))
        draw_spectrum(above, drawn, IMAGES)
        _finish_axis(above, f"${symbol}$")
        yield drawn.assign(panel=letters[0])
        means = over_seeds(nets, [IMAGES], [ratio])
        set_ticks(below, sorted(means[IMAGES].unique()), IMAGES)
        draw_means(below, means, IMAGES, BLACK)
        _finish_axis(below, rf"$\langle{symbol}\rangle_n$")
        yield means.assign(panel=letters[1])
    if len(directions):
        make_room(axes[0], below=0.3)
        axes[0].legend(title=r"$N_{te}$", ncols=4, loc="lower left", fontsize=7)


def _finish_axis(ax: Axes, label: str) -> None:
    """A logarithmic axis, up to the 1 that the ratio should be far below."""
    ax.set(yscale="log", ylabel=label)
    ax.axhline(1, color="0.6", lw=0.8, ls=":")
    ax.set_ylim(top=1.5)


def claims(material: Material) -> Claims:
    """The claims about panels A and C for Δw, and B and D for g."""
    nets = Nets(material, "test_images")
    for which in LETTERS:
        yield from _ratio(nets, which)


def _ratio(nets: Nets, which: str) -> Claims:
    symbol = f"|µ_{which},n/σ_{which},n|"
    sizes = nets.levels("test_images_summary", IMAGES)
    ratios = nets.read_of_run("test_images_summary", f"mu_{which}_ratio", IMAGES)
    yield nets.claim(
        f"{which}_small",
        f"{symbol} is far below 1",
        f"mean {symbol} over the directions, at the largest N_te",
        SMALL,
        lambda over: mean(over)[..., -1],
        ratios,
    )
    yield nets.claim(
        f"{which}_falls",
        f"the average of {symbol} falls with the number of test images",
        f"rank correlation of mean {symbol} with N_te",
        FALLING,
        trend(sizes),
        ratios,
    )
