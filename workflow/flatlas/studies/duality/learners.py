"""The two kinds of learners, as the paper calls and colours them, and the panels of both.

Claims: Decentralized learners (DPSGD) against synchronized ones (SSGD), in one layer of a net.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, LESS
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, RED
from flatlas.statistics.means import mean
from flatlas.studies.duality.realizations import over_seeds
from flatlas.studies.duality.spectra import draw_spectrum, logs, spectrum
from flatlas.studies.duality.trends import change, change_of_logs, difference

KIND = "learners.kind"
NAMES = {"ssgd": "SSGD", "dpsgd": "DPSGD"}
COLOURS = {"ssgd": BLUE, "dpsgd": RED}
COLUMNS = ("gap", "sigma_g", "S_w")
LEGEND = r"Lines: means ($\Delta L_n$ over ten bins of $n$ a decade); bands: one s.d. "
# The paper says n < 10 here.
BELOW_TEN = 9
AGAINST = "of DPSGD against SSGD"


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


def judge_learners(
    material: Material, sweep: str, layer: str, errors: str, within: str = "", about: str = ""
) -> list[Claim]:
    """The text's test `errors`, and a panel each of ΔL_n, σ_g,n and S_w,n.

    Claims of several nets are told apart: by what stands in front of their names, `within`, and
    behind what they say, `about`.
    """
    nets = Sweep(material, sweep, "learners.kind", ("ssgd", "dpsgd"))
    gap = nets.read(f"{layer}_directions", "gap", "n")
    sharpness = logs(nets.read(f"{layer}_directions", "sigma_g", "n"))
    return [
        nets.claim(
            f"{within}test_error",
            f"DPSGD has a lower test error than SSGD{about}",
            "test error of DPSGD less that of SSGD with the same images, in percentage points",
            LESS,
            difference,
            100 * nets.read(f"{layer}_summary", "test_error"),
            paper=errors,
        ),
        nets.claim(
            f"{within}gap",
            f"ΔL_n of DPSGD is reduced in the sharp directions, n < 10{about}",
            f"relative difference of ΔL summed over n < 10, {AGAINST}",
            LESS,
            change,
            gap[..., :BELOW_TEN].sum(-1),
        ),
        nets.claim(
            f"{within}sharpness",
            f"σ_g,n of DPSGD is smaller for n < 10{about}",
            f"relative difference of the geometric mean of σ_g over n < 10, {AGAINST}",
            LESS,
            change_of_logs,
            mean(sharpness[..., :BELOW_TEN], -1),
        ),
        nets.claim(
            f"{within}size",
            f"S_w is the same for both{about}",
            f"relative difference of S_w, {AGAINST}",
            BARELY,
            change,
            nets.read(f"{layer}_summary", "S_w"),
        ),
    ]
