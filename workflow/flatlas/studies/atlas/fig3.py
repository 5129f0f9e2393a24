"""Figure 3: what becomes of each measure when the net changes, and its function hardly or not."""

import numpy as np
import pandas as pd

from flatlas.evidence.atlas import BASELINES, NET, QUANTITIES, survival
from flatlas.evidence.material import FINAL, ZERO_ERROR, Material
from flatlas.studies.atlas.heat import heat_map
from flatlas.studies.atlas.looks import DAGGER, LABELS
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print

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
