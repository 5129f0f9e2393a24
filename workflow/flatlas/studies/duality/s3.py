"""Figure S3: the correlation c_n by direction, for every sweep."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.studies.duality.spectra import draw_spectrum, spectrum
from flatlas.studies.duality.swept import KEYS, SYMBOLS
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print


def draw(material: Material) -> Drawing:
    """A panel a sweep, all with the same axis, and room for legends above the lines."""
    figure, axes = panels(2, 4, width=2.6)
    points: list[pd.DataFrame] = []
    for ax, letter, (sweep, key) in zip(axes, "ABCDEFG", KEYS.items(), strict=False):
        directions = material.measured("hidden_directions", ["n", "correlation", key], sweep)
        drawn = spectrum(directions, key, "correlation")
        draw_spectrum(ax, drawn, key)
        if len(drawn):
            ax.legend(title=SYMBOLS[key], ncols=3, loc="upper center", columnspacing=0.8)
        points.append(drawn.assign(panel=letter))
    table = pd.concat(points, ignore_index=True)
    if len(table):
        low, high = (table[end].fillna(table["mean"]) for end in ("low", "high"))
        for ax in axes:
            ax.set_ylim(min(0, low.min()), 1.45 * high.max())
    axes[-1].remove()
    note(
        figure,
        "Lines: means over realizations and over ten bins of $n$ a decade; bands: one s.d. "
        + small_print(material),
    )
    return Drawing(figure, table)
