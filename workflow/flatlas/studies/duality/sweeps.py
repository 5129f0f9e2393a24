"""The row of panels that most figures of the study have: spectra and gaps of a sweep."""

from collections.abc import Iterator, Sequence

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREEN, Drawing, panels
from flatlas.studies.duality.realizations import LEGEND, draw_means, finish, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, mark_split, spectrum
from flatlas.studies.duality.swept import SYMBOLS, set_ticks, varied

SWEEP_LEGEND = LEGEND + "Vermilion dots: the mean $n_s$. "
SPECTRA = ("sigma_g", "S_w")
GAPS = {
    "dual_gap": (r"$\Delta L$", BLACK),
    "gap_sharp": (r"$\Delta L_s$", BLUE),
    "gap_flat": (r"$\Delta L_f$", GREEN),
}
# Not drawn with the gaps: the gallery has a table of all of them.
TOTALS = ("S_w", "S_w_curved", "n_sharp")


def draw_sweeps(
    material: Material, *sweeps: str, spectra: Sequence[str] = SPECTRA, width: float = 3.1
) -> Drawing:
    """A row of panels for each sweep."""
    rows = [(sweep, "hidden", "") for sweep in sweeps]
    return draw_rows(material, rows, spectra, width)


def draw_rows(
    material: Material,
    rows: Sequence[tuple[str, str, str]],
    spectra: Sequence[str] = SPECTRA,
    width: float = 3.1,
) -> Drawing:
    """A row for each sweep and measure, with a title."""
    across = len(spectra) + 1
    figure, axes = panels(len(rows), across, width)
    points: list[pd.DataFrame] = []
    for row, (sweep, layer, title) in enumerate(rows):
        place = slice(across * row, across * (row + 1))
        axes[place.start].set_title(title, loc="right")
        letters = "ABCDEFGHI"[place]
        points += sweep_row(axes[place], letters, material, sweep, layer, spectra)
    return finish(figure, points, material, SWEEP_LEGEND)


def sweep_row(
    axes: Sequence[Axes],
    letters: str,
    material: Material,
    sweep: str,
    layer: str = "hidden",
    spectra: Sequence[str] = SPECTRA,
) -> Iterator[pd.DataFrame]:
    """The points of each panel of a row: a panel for each of the spectra, and one of the gaps."""
    key, _ = varied(sweep)
    directions = material.measured(f"{layer}_directions", sweep, key)
    nets = material.measured(f"{layer}_summary", sweep, key)
    split = over_seeds(nets, [key], ["n_sharp"])
    for ax, letter, column in zip(axes, letters, spectra, strict=False):
        drawn = spectrum(directions, key, column)
        draw_spectrum(ax, drawn, key)
        if column == "correlation":
            ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
        else:
            mark_split(ax, drawn, split, key)
            drawn = pd.concat([drawn, split])
        yield drawn.assign(panel=letter)
    if len(split):
        axes[0].legend(title=SYMBOLS[key], ncols=2, loc="lower left")
    _draw_gaps(axes[-1], over_seeds(nets, [key], list(GAPS)), key)
    yield over_seeds(nets, [key], [*GAPS, *TOTALS]).assign(panel=letters[-1])


def _draw_gaps(ax: Axes, gaps: pd.DataFrame, key: str) -> None:
    places = set_ticks(ax, sorted(gaps[key].unique()), key)
    means = gaps.sort_values(key).assign(place=gaps[key].map(places))
    for quantity, (_, colour) in GAPS.items():
        draw_means(ax, means[means["quantity"] == quantity], "place", colour)
    finish_gaps(ax, gaps)


def finish_gaps(ax: Axes, gaps: pd.DataFrame) -> None:
    """The legend, and room for it above all bars; the axis begins at zero or below all bars."""
    for label, colour in GAPS.values():
        ax.plot([], [], "o-", color=colour, label=label)
    if len(gaps):
        spread = gaps["sd"].fillna(0)
        lowest, highest = (gaps["mean"] - spread).min(), (gaps["mean"] + spread).max()
        ax.set_ylim(min(0.0, 1.1 * lowest), max(0.0, 1.25 * highest))
    ax.set_ylabel("generalization gap")
    ax.legend(ncols=3, loc="upper center", columnspacing=1.2)
