"""Figure S8: the sharpness spectrum around the end of the sharp directions, n_s."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.nets import DEFAULTS, each_once, look, sweep_handles
from flatlas.studies.duality.realizations import all_converged
from flatlas.studies.duality.swept import KEYS, SYMBOLS, read

# The spectrum is shown up to here; the paper's n_s is 10.
LAST, PAPER = 30, 10


def draw(material: Material) -> Drawing:
    """A: the spectra. B: where each steps down most."""
    figure, axes = panels(1, 2, width=3.6, height=3.6)
    spectra, splits = sharpness(material), ends(material)
    _spectra_panel(axes[0], spectra)
    _splits_panel(axes[1], splits)
    for line in (axes[0].axvline, axes[1].axvline):
        line(PAPER, color=GREY, ls=":", lw=1, zorder=0)
    note(
        figure,
        "Means over realizations (A: of the logarithm); bars: one s.d. Dotted: the paper's "
        f"$n_s={PAPER}$. " + small_print(material),
    )
    return Drawing(
        figure, pd.concat([spectra.assign(panel="A"), splits.assign(panel="B")], ignore_index=True)
    )


def sharpness(material: Material) -> pd.DataFrame:
    """Geometric means over realizations of sigma_g, for each run and rank up to the last shown."""
    table = material.measured("hidden_directions", ["n", "sigma_g"])
    shown = table[(table["n"] <= LAST) & (table["sigma_g"] > 0)]
    table = each_once(shown, ["seed", "n"])
    table = table.assign(log_sigma_g=np.log(table["sigma_g"]))
    means = _over_seeds(table, ["n"], "log_sigma_g")
    return means.assign(sigma_g=np.exp(means["mean"]))


def ends(material: Material) -> pd.DataFrame:
    """Mean n_s of each run, named by what is swept and its value."""
    table = each_once(material.measured("hidden_summary", ["n_sharp"]), ["seed"])
    means = _over_seeds(table, [], "n_sharp")
    named = table.drop_duplicates("run").set_index("run").apply(_name, axis=1)
    if len(means):
        means["name"] = means["run"].map(named)
    order = {sweep: place for place, sweep in enumerate([DEFAULTS, *KEYS])}
    return means.sort_values("sweep", key=lambda sweep: sweep.map(order), kind="stable")


def _over_seeds(table: pd.DataFrame, keys: list[str], column: str) -> pd.DataFrame:
    """In the order in which the study has its runs."""
    grouped = table.groupby(["sweep", "run", *keys], sort=False)
    means = grouped[column].agg(mean="mean", sd="std", realizations="size")
    return means.assign(converged=grouped["converged"].sum()).reset_index()


def _name(row: pd.Series) -> str:
    if row["sweep"] not in KEYS:
        return str(row["sweep"])
    key = KEYS[row["sweep"]]
    return f"{SYMBOLS[key]} = {read(row[key])}"


def _spectra_panel(ax: Axes, spectra: pd.DataFrame) -> None:
    for (sweep, _), line in spectra.groupby(["sweep", "run"], sort=False):
        style = "-" if all_converged(line) else "--"
        ax.plot(line["n"], line["sigma_g"], style, color=look(str(sweep)).colour, lw=1, alpha=0.9)
    ax.set(xlabel="$n$", ylabel=r"$\sigma_{g,n}$")
    if len(spectra):
        ax.set_yscale("log")
        plain_ticks(ax.yaxis)
        handles = sweep_handles(spectra)
        for handle in handles:
            handle.set(linestyle="-", marker="")
        ax.legend(handles=handles, loc="upper right", ncols=2)


def _splits_panel(ax: Axes, splits: pd.DataFrame) -> None:
    """A row a run, the first on top."""
    for place, (_, row) in enumerate(splits.iterrows()):
        how = look(row["sweep"])
        full = row["converged"] == row["realizations"]
        ax.errorbar(
            row["mean"], -place, xerr=row["sd"], fmt=how.marker, color=how.colour,
            mfc=how.colour if full else "white",
        )  # fmt: skip
    ax.set_yticks([-place for place in range(len(splits))], list(splits.get("name", [])))
    ax.tick_params(axis="y", length=0, labelsize=7.5)
    ax.set_xlim(0, max(20.0, ax.get_xlim()[1]))
    ax.set(xlabel="$n_s$")


def claims(material: Material):
    """See there."""
    from flatlas.studies.duality.s8_claims import judge

    return judge(material)
