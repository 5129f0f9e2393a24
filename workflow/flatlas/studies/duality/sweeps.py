"""The row of panels that most figures of the study are made of: a sweep's spectra and gaps.

What is drawn is first gathered in one table, then drawn from it; that table is the figure's CSV.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.gaps import GAPS, draw_gaps
from flatlas.studies.duality.realizations import LEGEND, over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, mark_split, spectrum
from flatlas.studies.duality.swept import SYMBOLS

SWEEP_LEGEND = LEGEND + "Vermilion dots: the mean $n_s$. "
DIRECTIONS = ["n", "sigma_g", "S_w", "correlation"]
NETS = ["n_sharp", *GAPS]


@dataclass(frozen=True)
class Sweep:
    """What was measured of a layer over one sweep, and the key that varies in it."""

    key: str
    directions: pd.DataFrame
    summary: pd.DataFrame


def sweep_of(material: Material, sweep: str, key: str, layer: str = "hidden") -> Sweep:
    """One sweep of the material; `layer` is the study's name of the measure."""
    directions = material.measured(f"{layer}_directions", [*DIRECTIONS, key], sweep)
    return Sweep(key, directions, material.measured(f"{layer}_summary", [*NETS, key], sweep))


def sweep_row(
    axes: Sequence[Axes],
    letters: str,
    sweep: Sweep,
    columns: Sequence[str] = ("sigma_g", "S_w"),
) -> Iterator[pd.DataFrame]:
    """A panel a column of spectra, and at last the gaps; gives the points of each."""
    key = sweep.key
    split = over_seeds(sweep.summary, [key], ["n_sharp"])
    for ax, letter, column in zip(axes, letters, columns, strict=False):
        drawn = spectrum(sweep.directions, key, column)
        draw_spectrum(ax, drawn, key)
        if column == "correlation":
            yield drawn.assign(panel=letter)
        else:
            mark_split(ax, drawn, split, key)
            yield pd.concat([drawn, split]).assign(panel=letter)
    if len(sweep.directions):
        axes[0].legend(title=SYMBOLS[key], ncols=2, loc="lower left")
    gaps = over_seeds(sweep.summary, [key], list(GAPS))
    draw_gaps(axes[len(columns)], gaps, key)
    yield gaps.assign(panel=letters[len(columns)])


def draw_sweeps(material: Material, *sweeps: tuple[str, str]) -> Drawing:
    """One row of panels for each sweep and the key that varies in it."""
    figure, axes = panels(len(sweeps), 3)
    points: list[pd.DataFrame] = []
    for row, (name, key) in enumerate(sweeps):
        place = slice(3 * row, 3 * row + 3)
        sweep = sweep_of(material, name, key)
        points += sweep_row(axes[place], "ABCDEF"[place], sweep)
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))
