"""The two kinds of learners, as the paper calls and colours them, and the panels of both."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.studies.duality.realizations import over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, spectrum
from flatlas.plotting.style import BLUE, RED

KIND = "learners.kind"
NAMES = {"ssgd": "SSGD", "dpsgd": "DPSGD"}
COLOURS = {"ssgd": BLUE, "dpsgd": RED}
COLUMNS = ("gap", "sigma_g", "S_w")
LEGEND = r"Lines: means ($\Delta L_n$ over ten bins of $n$ a decade); bands: one s.d. "


def learners_row(
    axes: Sequence[Axes],
    letters: str,
    material: Material,
    sweep: str,
    layer: str,
    paper: Mapping[str, str],
) -> list[pd.DataFrame]:
    """A panel a quantity; test errors, and beside each the `paper`'s, stand in the first."""
    directions = material.measured(f"{layer}_directions", ["n", *COLUMNS], sweep)
    nets = material.measured(f"{layer}_summary", ["test_error"], sweep)
    errors = over_seeds(nets, [KIND], ["test_error"]).assign(panel=letters[0])
    points = [errors]
    for ax, letter, column in zip(axes, letters, COLUMNS, strict=True):
        drawn = spectrum(directions, KIND, column)
        draw_spectrum(ax, drawn, KIND, COLOURS)
        points.append(drawn.assign(panel=letter))
    axes[0].axhline(0, color="0.8", lw=0.8, zorder=0)
    _tell_errors(axes[0], errors, paper)
    return points


def _tell_errors(ax: Axes, errors: pd.DataFrame, paper: Mapping[str, str]) -> None:
    """Each kind's test error, and the paper's beside it."""
    for line in ax.get_lines():
        kind = str(line.get_label())
        if kind in NAMES:
            row = errors[errors[KIND] == kind].iloc[0]
            spread = "" if pd.isna(row["sd"]) else f" ± {100 * row['sd']:.1f}"
            line.set_label(
                f"{NAMES[kind]}\ntest error {100 * row['mean']:.1f}{spread} %\n"
                f"(paper: {paper[kind]} %)"
            )
    if len(errors):
        ax.legend(loc="upper right", labelspacing=0.8)
