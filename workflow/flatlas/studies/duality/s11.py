"""Figure S11: how much the solution shrinks along each direction.

Claims: Figure S11: solutions shrink most in flat directions.
"""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.ranks import binned
from flatlas.studies.duality.realizations import over_seeds
from flatlas.studies.duality.spectra import counted, draw_spectrum, flat, logs, sharpest
from flatlas.studies.duality.swept import SYMBOLS, read
from flatlas.studies.duality.trends import change_of_logs

# What is swept, and the value that the paper compares with.
PANELS = {
    "A": ("decay", "penalty.coefficient", 0.0),
    "B": ("init", "net.init.scale", 2.0),
}
# Panel B is relative to s = 2.
REFERENCE = 2.0


def draw(material: Material) -> Drawing:
    """A panel a sweep: sigma_w over that of the same realization at the reference."""
    figure, axes = panels(1, 2, width=3.6, height=3.0)
    points: list[pd.DataFrame] = []
    for ax, (letter, (sweep, key, paper)) in zip(axes, PANELS.items(), strict=True):
        directions = material.measured("hidden_directions", ["n", "sigma_w", key], sweep)
        reference = nearest(directions[key], paper)
        drawn = ratios(directions, key, reference)
        draw_spectrum(ax, drawn, key)
        _finish(ax, drawn, key, reference)
        points.append(drawn.assign(panel=letter))
    note(
        figure,
        "Lines: means over realizations and over ten bins of $n$ a decade; bands: one s.d. "
        + small_print(material),
    )
    return Drawing(figure, pd.concat(points, ignore_index=True))


def nearest(values: pd.Series, wanted: float) -> float:
    """The paper's reference, or where a preset does not have it, the value next to it."""
    return float(min(values.unique(), key=lambda value: abs(value - wanted), default=wanted))


def ratios(directions: pd.DataFrame, key: str, reference: float) -> pd.DataFrame:
    """Mean and band over realizations, for each value of `key` but the reference itself."""
    means = binned(directions, [key], ["sigma_w"])
    beside = means[means[key] == reference][["seed", "n", "sigma_w"]]
    both = means[means[key] != reference].merge(beside, on=["seed", "n"], suffixes=("", "_there"))
    both = both[both["sigma_w_there"] > 0]
    both = both.assign(ratio=both["sigma_w"] / both["sigma_w_there"])
    return over_seeds(both, [key, "n"], ["ratio"])


def _finish(ax: Axes, drawn: pd.DataFrame, key: str, reference: float) -> None:
    symbol = SYMBOLS[key].strip("$")
    ax.set_ylabel(rf"$\sigma_{{w,n}}({symbol})\;/\;\sigma_{{w,n}}({symbol}={read(reference)})$")
    ax.axhline(1, color="0.6", lw=0.8, ls=":")
    if len(drawn):
        shown = drawn[drawn["n"] <= 0.9 * drawn["n"].max()]
        ax.set_ylim(0, 1.3 * max(1.0, shown["high"].fillna(shown["mean"]).max()))
        ax.legend(title=SYMBOLS[key], ncols=3, loc="upper center")


def claims(material: Material) -> list[Claim]:
    """Panel A from no decay to the strongest; panel B from s = 2 to the smallest s."""
    decay = Sweep(material, "decay", "penalty.coefficient")
    planned = list(Sweep(material, "init", "net.init.scale").solutions)
    init = Sweep(material, "init", "net.init.scale", (REFERENCE, *planned[:1]))
    return [
        _shrinks(decay, "decay", "as β rises", "from no decay to the largest β"),
        _shrinks(init, "init", "as s falls", "from s = 2 to the smallest s"),
    ]


def _shrinks(sweep: Sweep, name: str, when: str, between: str) -> Claim:
    last = counted(sweep.read("hidden_directions", "gap", "n"))
    size = logs(sweep.read("hidden_directions", "sigma_w", "n"))
    return sweep.claim(
        name,
        f"σ_w,n shrinks more in flat directions than in sharp ones {when}",
        "geometric mean factor by which σ_w,n changes beyond n = 10, over that for n ≤ 10, less 1;"
        f" {between}",
        LESS,
        change_of_logs,
        mean(flat(size, last), -1) - sharpest(size),
    )
