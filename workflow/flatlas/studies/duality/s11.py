"""Figure S11: solutions shrink most in flat directions."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import LESS
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, panels, written
from flatlas.statistics.means import mean
from flatlas.statistics.trends import change_of_logs
from flatlas.studies.duality.directions import counted, flat, logs, sharpest
from flatlas.studies.duality.layer import Layer
from flatlas.studies.duality.realizations import BINNED, finish, over_seeds
from flatlas.studies.duality.spectra import binned, draw_spectrum, leading
from flatlas.studies.duality.swept import SYMBOLS, varied

# The sweep of each panel, and the value that the paper compares with.
PANELS = {"A": ("decay", 0.0), "B": ("init", 2.0)}


def draw(material: Material) -> Drawing:
    """A panel for each sweep: sigma_w over that of the same realization at the reference."""
    figure, axes = panels(1, 2, width=3.6, height=3.0)
    points: list[pd.DataFrame] = []
    for ax, (letter, (sweep, paper)) in zip(axes, PANELS.items(), strict=True):
        key, _ = varied(sweep)
        directions = material.measured("hidden_directions", sweep, key)
        # If a preset lacks the paper's reference, the nearest value takes its place.
        values = directions[key].unique()
        reference = float(min(values, key=lambda value: abs(value - paper), default=paper))
        drawn = _ratios(directions, key, reference)
        draw_spectrum(ax, drawn, key)
        _finish_axis(ax, drawn, key, reference)
        points.append(drawn.assign(panel=letter))
    return finish(figure, points, material, BINNED)


def _ratios(directions: pd.DataFrame, key: str, reference: float) -> pd.DataFrame:
    """Mean and band over realizations, for each value of `key` except the reference."""
    means = binned(directions, [key], ["sigma_w"])
    at_reference = means[means[key] == reference][["seed", "n", "sigma_w"]]
    both = means[means[key] != reference].merge(
        at_reference, on=["seed", "n"], suffixes=("", "_there")
    )
    both = both[both["sigma_w_there"] > 0]
    both = both.assign(ratio=both["sigma_w"] / both["sigma_w_there"])
    return over_seeds(both, [key, "n"], ["ratio"])


def _finish_axis(ax: Axes, drawn: pd.DataFrame, key: str, reference: float) -> None:
    symbol = SYMBOLS[key].strip("$")
    ax.set_ylabel(rf"$\sigma_{{w,n}}({symbol})\;/\;\sigma_{{w,n}}({symbol}={written(reference)})$")
    ax.axhline(1, color="0.6", lw=0.8, ls=":")
    if len(drawn):
        shown = leading(drawn)
        ax.set_ylim(0, 1.3 * max(1.0, shown["high"].fillna(shown["mean"]).max()))
        ax.legend(title=SYMBOLS[key], ncols=3, loc="upper center")


def claims(material: Material) -> Claims:
    """A claim about each panel: from no decay to the largest β, from s = 2 to the smallest s."""
    scales = list(Layer(material, "init").sweep.solutions)
    _, reference = PANELS["B"]
    init = Layer(material, "init", order=(reference, *scales[:1]))
    yield _shrinks(Layer(material, "decay"), "as β rises", "from no decay to the largest β")
    # The text cites this figure for weight decay alone.
    yield from ours([_shrinks(init, "as s falls", "from s = 2 to the smallest s")])


def _shrinks(layer: Layer, when: str, between: str) -> Claim:
    last = counted(layer.directions("gap"))
    size = logs(layer.directions("sigma_w"))
    return layer.sweep.claim(
        layer.varying,
        f"σ_w,n shrinks more in flat directions than in sharp ones {when}",
        "geometric mean factor by which σ_w,n changes beyond n = 10, over that for n ≤ 10, less 1;"
        f" {between}",
        LESS,
        change_of_logs,
        mean(flat(size, last), -1) - sharpest(size),
    )
