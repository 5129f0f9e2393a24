"""Figure 3: how each measure changes when a net changes and its function does not, or hardly."""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import ONLY_THE_FUNCTION
from flatlas.claims.nets import FEWEST
from flatlas.claims.trust import range_of, trusted, unsettled
from flatlas.evidence.material import FINAL, NET, ZERO_ERROR, Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.estimate import UNKNOWN, estimate
from flatlas.statistics.means import mean
from flatlas.studies.atlas.heat import heat_map
from flatlas.studies.atlas.nets import survival
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES, settled
from flatlas.studies.atlas.styles import DAGGER

# The changes. Each is relative to the unscaled net when it meets the stopping rule.
CHANGES = {
    "layer": "α-scaling of a layer",
    "neurons": "α-scaling of its neurons",
    "overtraining": "overtraining",
    "optimizer": "another optimizer",
}
# Decades of the factor at which the colour scale ends.
DECADES = 2.0
# A factor within a thousandth of 1 is no change: it may be round-off or where a search stopped.
UNCHANGED = float(np.log10(1.001))
SCALINGS = {"layer": "a layer", "neurons": "each neuron of a layer"}
# No α-scaling changes these: tests prove that for any net, so it is no result.
OF_THE_FUNCTION = {"train_loss", "prior", "path_norm", "margin", "kl_regret"}
IDENTITIES = {"layer": OF_THE_FUNCTION | {"dual_gap"}, "neurons": OF_THE_FUNCTION}


def draw(material: Material) -> Drawing:
    """A row for each measure, a column for each change: the factor of the median net."""
    factors = _factors(material)
    measured = [name for name in QUANTITIES if name in set(factors["measure"])] or [*QUANTITIES]
    wide = factors.pivot_table(
        index="measure", columns="change", values="log10_factor", aggfunc="median"
    )
    grid = wide.reindex(index=measured, columns=[*CHANGES])
    figure, (ax,) = panels(1, 1, width=5.2, height=0.28 * len(measured) + 1.9)
    values = grid.to_numpy(float)
    text = np.vectorize(_factor, otypes=[object])(values)
    heat_map(ax, values, DECADES, text, bold=np.abs(values) < UNCHANGED)
    ax.set_xticks(range(len(CHANGES)), [*CHANGES.values()], rotation=25, ha="right")
    ax.set_yticks(range(len(measured)), [QUANTITIES[name].label for name in measured])
    ax.axhline(sum(name in BASELINES for name in measured) - 0.5, color="black", lw=0.8)
    note(
        figure,
        "Factor by which a measure is larger afterwards, in the median net. Bold: unchanged, to a "
        "thousandth. Another optimizer: on the same images with the same attack set. Narrowness "
        "along principal directions is missing: it needs a recording, which these runs lack. "
        + DAGGER
        + _sign_changes(factors)
        + small_print(material),
    )
    return Drawing(figure, factors)


def _factors(material: Material) -> pd.DataFrame:
    """log10 of the factor by which a quantity changes: a row for each net, change and measure."""
    table = survival(material)
    plain = table[table["scaling"] == "none"]
    before = plain[plain["at"] == ZERO_ERROR]
    pairs = {
        name: (before, table[(table["scaling"] == name) & (table["at"] == ZERO_ERROR)])
        for name in SCALINGS
    }
    pairs["overtraining"] = before, plain[plain["at"] == FINAL]
    pairs["optimizer"] = _by_optimizer(material, before)
    parts = [_between(*both, change) for change, both in pairs.items()]
    return pd.concat(parts, ignore_index=True)


def _by_optimizer(material: Material, nets: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nets of the first optimizer; and of the others, renamed to the matching run of the first."""
    trained = material.trainings
    trained = trained.assign(
        optimizer=trained.get("optimizer.name", pd.Series("", trained.index)).astype(str),
        attacked=trained.get("data.attack_size", pd.Series(0, trained.index)).fillna(0),
    )
    known = nets.merge(trained[[*NET, "optimizer", "attacked"]], on=NET)
    first = known["optimizer"].isin(known["optimizer"].head(1))
    same, others = known[first], known[~first].drop(columns="run")
    return same, others.merge(same[[*NET, "attacked"]], on=["seed", "attacked"])


def _between(before: pd.DataFrame, after: pd.DataFrame, change: str) -> pd.DataFrame:
    names = [name for name in QUANTITIES if name in before]
    long = [
        one.melt(id_vars=NET, value_vars=names, var_name="measure", value_name=when)
        for one, when in ((before, "before"), (after, "after"))
    ]
    both = long[0].merge(long[1], on=[*NET, "measure"])
    ratio = both["after"] / both["before"]
    logs = np.log10(ratio.where(ratio > 0))
    return both.assign(change=change, log10_factor=logs)


def _sign_changes(factors: pd.DataFrame) -> str:
    """Small print: the nets whose measure changed its sign, which no factor shows."""
    turned = factors[np.sign(factors["before"]) * np.sign(factors["after"]) < 0]
    counts = turned.groupby(["measure", "change"], sort=False).size().items()
    words = [
        f"{QUANTITIES[name].label} by {CHANGES[change]} (nets: {count})"
        for (name, change), count in counts
    ]
    return f"Changed sign and left out: {', '.join(words)}. " if words else ""


def _factor(log: float) -> str:
    factor = 10**log
    if not np.isfinite(factor):
        return ""
    return f"×{factor:.3g}" if factor < 1000 else f"×{factor:.0e}".replace("e+0", "e")


def claims(material: Material) -> list[Claim]:
    """For each measure and α-scaling: whether the measure depends only on the function."""
    table = survival(material)
    return ours(_claims(table[table["at"] == ZERO_ERROR]))


def _claims(table: pd.DataFrame) -> Claims:
    for name in [name for name in QUANTITIES if name in table]:
        wide = table.pivot_table(index=NET, columns="scaling", values=name, dropna=False)
        for scaling in [one for one in SCALINGS if name not in IDENTITIES[one]]:
            yield _claim(name, scaling, _change(wide, scaling), _searches(table, name, scaling))


def _claim(name: str, scaling: str, change: np.ndarray, searches: list[np.ndarray]) -> Claim:
    # Realizations are the sample: runs of one seed share images.
    count = len(change)
    few = range_of(count) if count >= FEWEST else f"Measured in {count} realizations."
    return Claim(
        f"{name}_{scaling}",
        f"the {QUANTITIES[name].words} depends only on the function",
        f"relative change by an α-scaling of {SCALINGS[scaling]}, mean over nets",
        ONLY_THE_FUNCTION,
        estimate(mean, change) if count else UNKNOWN,
        note=" ".join(filter(None, [few, unsettled(searches)])),
        complete=count >= FEWEST and trusted(searches),
        realizations=count,
    )


def _searches(table: pd.DataFrame, name: str, scaling: str) -> list[np.ndarray]:
    if not QUANTITIES[name].searched:
        return []
    rows = table["scaling"].isin(["none", scaling])
    return [table.loc[rows, settled(name)].to_numpy(float)]


def _change(wide: pd.DataFrame, scaling: str) -> np.ndarray:
    """The relative change in each realization, a mean over runs."""
    both = wide.reindex(columns=["none", scaling])
    change = (both[scaling] / both["none"] - 1).abs()
    return change[np.isfinite(change)].groupby("seed").mean().to_numpy()
