"""Figure 3: what becomes of each measure when the net changes, and its function hardly or not.

Claims: Figure 3: whether a measure knows the function only.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import ONLY_THE_FUNCTION
from flatlas.claims.nets import range_of, trusted, unsettled
from flatlas.evidence.atlas import BASELINES, NET, QUANTITIES, settled, survival
from flatlas.evidence.material import FINAL, ZERO_ERROR, Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.estimate import UNKNOWN, estimate
from flatlas.studies.atlas.heat import heat_map
from flatlas.studies.atlas.looks import DAGGER, LABELS

# Against what a net is held: the same where it first has zero error, as it is.
CHANGES = {
    "layer": "α-scaling of a layer",
    "neurons": "α-scaling of its neurons",
    "overtraining": "overtraining",
    "optimizer": "another optimizer",
}
# Factors of ten beyond which a colour does not change.
DECADES = 2.0
# A factor within a thousandth of 1 is no change: round-off, and searches that stop where they may.
UNCHANGED = float(np.log10(1.001))
SCALINGS = {"layer": "a layer", "neurons": "each neuron of a layer"}
# Whose value cannot change, whatever the net: that they stay is a test of ours and no result.
OF_THE_FUNCTION = {"train_loss", "prior", "path_norm", "margin", "kl_regret"}
IDENTITIES = {"layer": OF_THE_FUNCTION | {"dual_gap"}, "neurons": OF_THE_FUNCTION}
# Fewer runs decide nothing.
FEWEST = 3


def draw(material: Material) -> Drawing:
    """A row a measure, a column a change; the factor by which it changes, in the median net."""
    factors = _factors(material)
    measured = [name for name in QUANTITIES if name in set(factors["measure"])] or [*QUANTITIES]
    wide = factors.pivot_table(
        index="measure", columns="change", values="log10_factor", aggfunc="median"
    )
    grid = wide.reindex(index=measured, columns=[*CHANGES])
    figure, (ax,) = panels(1, 1, width=5.2, height=0.28 * len(measured) + 1.9)
    ax.set_title("", loc="left")
    values = grid.to_numpy(float)
    heat_map(ax, values, DECADES, text=_factor, bold=np.abs(values) < UNCHANGED)
    ax.set_xticks(range(len(CHANGES)), [*CHANGES.values()], rotation=25, ha="right")
    ax.set_yticks(range(len(measured)), [LABELS[name] for name in measured])
    ax.axhline(sum(name in BASELINES for name in measured) - 0.5, color="black", lw=0.8)
    note(
        figure,
        "By which factor a measure is larger afterwards, in the median net. Bold: unchanged, to a "
        "thousandth. Another optimizer: of the same images with the same attack set. Narrowness "
        "along principal directions needs a recording, which these runs have none of. "
        + DAGGER
        + _sign_changes(factors)
        + small_print(material),
    )
    return Drawing(figure, factors)


def _factors(material: Material) -> pd.DataFrame:
    """log10 of the factor by which a quantity changes, a row a net, a change and a measure."""
    table = survival(material)
    table["at"] = table["at"].astype(str)
    plain = table[table["scaling"] == "none"]
    before = plain[plain["at"] == ZERO_ERROR]
    pairs = {
        name: (before, table[(table["scaling"] == name) & (table["at"] == ZERO_ERROR)])
        for name in ("layer", "neurons")
    }
    pairs["overtraining"] = before, plain[plain["at"] == FINAL]
    pairs["optimizer"] = _by_optimizer(material, before)
    parts = [_between(*both, change) for change, both in pairs.items()]
    return pd.concat(parts, ignore_index=True)


def _by_optimizer(material: Material, nets: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nets of the first optimizer, and those of the others under the names of its runs."""
    outcomes = material.tables["outcomes"].drop_duplicates([*NET])
    same = [key for key in ("data.attack_size",) if key in outcomes]
    told = nets.merge(outcomes[[*NET, *same, "of"]], on=[*NET])
    sweeps = list(dict.fromkeys(outcomes["of"]))
    first = told[told["of"] == sweeps[0]]
    others = told[told["of"] != sweeps[0]].drop(columns="run")
    return first, others.merge(first[["run", "seed", *same]], on=["seed", *same])


def _between(before: pd.DataFrame, after: pd.DataFrame, change: str) -> pd.DataFrame:
    names = [name for name in QUANTITIES if name in before]
    long = [
        one.melt(id_vars=[*NET], value_vars=names, var_name="measure", value_name=when)
        for one, when in ((before, "before"), (after, "after"))
    ]
    both = long[0].merge(long[1], on=[*NET, "measure"])
    ratio = both["after"].astype(float) / both["before"].astype(float)
    logs = np.log10(ratio.where(ratio > 0))
    return both.assign(change=change, log10_factor=logs)


def _sign_changes(factors: pd.DataFrame) -> str:
    """Those that no factor tells, by measure and change."""
    turned = factors[np.sign(factors["before"]) * np.sign(factors["after"]) < 0]
    counts = turned.groupby(["measure", "change"], sort=False).size().items()
    told = [
        f"{LABELS[name]} by {CHANGES[change]} (nets: {count})" for (name, change), count in counts
    ]
    return f"Changed their sign, and left out: {', '.join(told)}. " if told else ""


def _factor(log: float) -> str:
    factor = 10**log
    return f"×{factor:.3g}" if factor < 1000 else f"×{factor:.0e}".replace("e+0", "e")


def claims(material: Material) -> list[Claim]:
    """A question of each measure and both α-scalings, where it is one."""
    table = survival(material)
    table = table[table["at"].astype(str) == ZERO_ERROR]
    return ours(_claims(table))


def _claims(table: pd.DataFrame) -> Iterator[Claim]:
    for name in [name for name in QUANTITIES if name in table]:
        wide = table.pivot_table(index=[*NET], columns="scaling", values=name, dropna=False)
        for scaling in [one for one in SCALINGS if name not in IDENTITIES[one]]:
            yield _claim(name, scaling, _change(wide, scaling), _searches(table, name, scaling))


def _claim(name: str, scaling: str, change: np.ndarray, searches: list[np.ndarray]) -> Claim:
    return Claim(
        f"{name}_{scaling}",
        f"the {QUANTITIES[name].name.removeprefix('the ')} depends only on the function",
        f"relative change by an α-scaling of {SCALINGS[scaling]}, mean over nets",
        ONLY_THE_FUNCTION,
        estimate(_mean, change) if len(change) else UNKNOWN,
        note=" ".join(filter(None, [_few(len(change)), unsettled(searches)])),
        complete=len(change) >= FEWEST and trusted(searches),
    )


def _few(runs: int) -> str:
    """Runs are the sample: realizations of all of them share their images."""
    if runs < FEWEST:
        return f"Measured of {runs} runs."
    return range_of(runs, "runs")


def _searches(table: pd.DataFrame, name: str, scaling: str) -> list[np.ndarray]:
    """Whether those before and after the scaling converged."""
    if not QUANTITIES[name].searched:
        return []
    rows = table["scaling"].isin(["none", scaling])
    return [table.loc[rows, settled(name)].to_numpy(float)]


def _change(wide: pd.DataFrame, scaling: str) -> np.ndarray:
    """Of each run, the mean over its realizations."""
    both = wide.reindex(columns=["none", scaling]).astype(float)
    change = (both[scaling] / both["none"] - 1).abs()
    return change[np.isfinite(change)].groupby("run").mean().to_numpy()


def _mean(change: np.ndarray) -> np.ndarray:
    return np.asarray(np.mean(change, axis=0))
