"""Figure S8: where the sharp directions end, n_s."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import NEAR_TEN
from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, panels, plain_ticks, written
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import largest, mean, smallest
from flatlas.studies.duality.layer import Layer
from flatlas.studies.duality.nets import DEFAULTS, each_once, styles, sweep_handles
from flatlas.studies.duality.realizations import all_converged, finish, spread
from flatlas.studies.duality.swept import SWEEPS, SYMBOLS

# The last rank shown, and the paper's n_s.
LAST, PAPER = 30, 10
JUDGED = ("alpha", "batch", "decay", "init")


def draw(material: Material) -> Drawing:
    """A: the spectra. B: the rank after which each falls most."""
    figure, axes = panels(1, 2, width=3.6, height=3.6)
    spectra, splits = _spectra(material), _splits(material)
    _spectra_panel(axes[0], spectra)
    _splits_panel(axes[1], splits)
    for ax in axes:
        ax.axvline(PAPER, color=GREY, ls=":", lw=1, zorder=0)
    legend = "Means over realizations (A: of the logarithm); bars: one s.d. Dotted: the paper's "
    points = [spectra.assign(panel="A"), splits.assign(panel="B")]
    return finish(figure, points, material, f"{legend}$n_s={PAPER}$. ")


def _spectra(material: Material) -> pd.DataFrame:
    """Geometric means over realizations of sigma_g, for each run and rank up to the last shown."""
    table = material.measured("hidden_directions")
    shown = table[(table["n"] <= LAST) & (table["sigma_g"] > 0)]
    once = each_once(shown, ["seed", "n"])
    once = once.assign(log_sigma_g=np.log(once["sigma_g"]))
    means = spread(once, ["sweep", "run", "n"], "log_sigma_g", sort=False).reset_index()
    return means.assign(sigma_g=np.exp(means["mean"]))


def _splits(material: Material) -> pd.DataFrame:
    """Mean n_s of each run, named by the symbol and the value of what is swept."""
    measured = material.measured("hidden_summary")
    table = each_once(measured, ["seed"])
    means = spread(table, ["sweep", "run"], "n_sharp", sort=False).reset_index()
    runs = table.drop_duplicates("run")
    names = {row["run"]: _name(row) for _, row in runs.iterrows()}
    shared = runs["run"][runs["sweep"] == DEFAULTS]
    if len(shared) > 1:
        names |= {run: _by_sweeps(measured["sweep"][measured["run"] == run]) for run in shared}
    means["name"] = means["run"].map(names)
    order = {sweep: place for place, sweep in enumerate([DEFAULTS, *SWEEPS])}
    return means.sort_values("sweep", key=lambda sweep: sweep.map(order), kind="stable")


def _name(row: pd.Series) -> str:
    """The swept value; the sweep's name if a user added the sweep or it doesn't vary its key."""
    key, _ = SWEEPS.get(row["sweep"], ("", ""))
    value = row.get(key)
    return str(row["sweep"]) if pd.isna(value) else f"{SYMBOLS[key]} = {written(value)}"


def _by_sweeps(sweeps: pd.Series) -> str:
    """The name of a run at the defaults beside others: with the sweeps that share it."""
    return f"{DEFAULTS} ({', '.join(style.label for style in styles(sweeps).values())})"


def _spectra_panel(ax: Axes, spectra: pd.DataFrame) -> None:
    how = styles(spectra["sweep"])
    for (sweep, _), line in spectra.groupby(["sweep", "run"], sort=False):
        style = "-" if all_converged(line) else "--"
        ax.plot(line["n"], line["sigma_g"], style, color=how[str(sweep)].colour, lw=1, alpha=0.9)
    ax.set(xlabel="$n$", ylabel=r"$\sigma_{g,n}$")
    if len(spectra):
        ax.set_yscale("log")
        plain_ticks(ax.yaxis)
        handles = sweep_handles(spectra)
        for handle in handles:
            handle.set(linestyle="-", marker="")
        ax.legend(handles=handles, loc="upper right", ncols=2)


def _splits_panel(ax: Axes, splits: pd.DataFrame) -> None:
    of_sweep = styles(splits["sweep"])
    for place, (_, row) in enumerate(splits.iterrows()):
        how = of_sweep[row["sweep"]]
        full = row["converged"] == row["realizations"]
        ax.errorbar(
            row["mean"], -place, xerr=row["sd"], fmt=how.marker, color=how.colour,
            mfc=how.colour if full else "white",
        )  # fmt: skip
    ax.set_yticks([-place for place in range(len(splits))], list(splits.get("name", [])))
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.set_xlim(0, max(20.0, ax.get_xlim()[1]))
    ax.set(xlabel="$n_s$")


def claims(material: Material) -> Claims:
    """A claim about each sweep, by the value at which n_s is farthest from the paper's."""
    for sweep in JUDGED:
        layer = Layer(material, sweep)
        yield layer.sweep.claim(
            sweep,
            f"n_s is near 10, whatever {layer.symbol}",
            f"mean n_s at the value of {layer.symbol} at which it is farthest from 10",
            NEAR_TEN,
            _farthest(layer.net("n_sharp")),
            layer.net("n_sharp"),
            paper=str(PAPER),
        )


def _farthest(n_sharp: np.ndarray) -> Joint:
    """The mean n_s that is farthest from 10, on its side of 10."""
    off = mean(n_sharp) - PAPER
    side = 1 if largest(off) > -smallest(off) else -1
    return Joint(
        lambda over: mean(over) - PAPER, largest, sizes=True, shown=lambda far: PAPER + side * far
    )
