"""Figure 5: gap, sharpness and size by direction, of synchronous and decentralized learners."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.figures.duality.learners import COLOURS, KIND, NAMES
from flatlas.figures.duality.realizations import over_seeds
from flatlas.figures.duality.spectra import draw_spectrum, spectrum
from flatlas.figures.style import Drawing, note, panels
from flatlas.figures.trainings import small_print
from flatlas.store.material import Material

PAPER = {"ssgd": 0.026, "dpsgd": 0.023}
COLUMNS = {"A": "gap", "B": "sigma_g", "C": "S_w"}


def draw(material: Material) -> Drawing:
    """A panel a quantity; the test errors stand in the first."""
    figure, axes = panels(1, 3)
    directions = material.measured("hidden_directions", ["n", *COLUMNS.values()], "learners")
    nets = material.measured("hidden_summary", ["test_error"], "learners")
    errors = over_seeds(nets, [KIND], ["test_error"]).assign(panel="A")
    points = [errors]
    for ax, (letter, column) in zip(axes, COLUMNS.items(), strict=True):
        drawn = spectrum(directions, KIND, column)
        draw_spectrum(ax, drawn, KIND, COLOURS)
        points.append(drawn.assign(panel=letter))
    axes[0].axhline(0, color="0.8", lw=0.8, zorder=0)
    _tell_errors(axes[0], errors)
    note(
        figure,
        r"Lines: means ($\Delta L_n$ over ten bins of $n$ a decade); bands: one s.d. "
        + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def _tell_errors(ax: Axes, errors: pd.DataFrame) -> None:
    """Each kind's test error, and the paper's beside it."""
    for line in ax.get_lines():
        kind = str(line.get_label())
        if kind in NAMES:
            row = errors[errors[KIND] == kind].iloc[0]
            spread = "" if pd.isna(row["sd"]) else f" ± {100 * row['sd']:.1f}"
            line.set_label(
                f"{NAMES[kind]}\ntest error {100 * row['mean']:.1f}{spread} %\n"
                f"(paper: {100 * PAPER[kind]:.1f} %)"
            )
    if len(errors):
        ax.legend(loc="upper right", labelspacing=0.8)
