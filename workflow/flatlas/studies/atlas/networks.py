"""The measure table: each net at each moment with its settings and errors, and every measure.

A measure's columns are its value, `<measure>_error` and `<measure>_converged`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from flatlas.evidence.material import BEYOND, NET, Material
from flatlas.studies.atlas.nets import GAP, MOMENT, STUDY, parts_of, quantities_of, studies_of
from flatlas.studies.atlas.quantities import QUANTITIES, TABLES, settled

# The columns between a net's settings and its measures.
OUTCOME = ["epochs", "train_error", "test_error", "train_loss", "test_loss", GAP]
# Columns with the error of a quantity that are not named `<quantity>_error`.
ERRORS = {
    "spectral_norm": "spectral_norm_residual",
    "kl_regret": "regret_error",
    "pac_bayes": "sigma_error",
    "pac_bayes_magnitude": "sigma_magnitude_error",
}
# Searched quantities whose `residual` is a share of what the search found.
SHARES = ("sharpness", "norm_sharpness")
# The types of columns for settings that may be missing, by the setting's type.
MISSING = {"int": "Int64", "bool": "boolean", "str": "string"}


def networks(
    material: Material,
    study: str,
    settings: Mapping[str, Mapping[str, Any]],
    types: Mapping[str, str],
) -> pd.DataFrame:
    """A row for each net that met its rule and each moment at which its errors were measured.

    `study` is the study of runs that are not borrowed. `settings` has the settings of each run, and
    `types` the name of each setting's type.
    """
    parts = parts_of(material.tables, TABLES, MOMENT)
    if "sharpness" in parts:
        found = parts["sharpness"]
        lacking = {f"{name}_error": found["residual"] * found[name] for name in SHARES}
        parts["sharpness"] = found.assign(**lacking)
    table = parts["norms"][["train_error", "test_error", "test_loss", GAP]]
    table = table.join(_measures(parts)).reset_index().merge(_nets(material, study), on=NET)
    table["at"] = _moments(table)
    described = pd.DataFrame([*settings.values()], index=[*settings], columns=[*types])
    kinds = {name: MISSING.get(kind, kind) for name, kind in types.items()}
    table = table.join(described.astype(kinds), on="run")
    whole = [STUDY, "axes", *MOMENT, *types, *OUTCOME]
    measures = [name for name in columns_of(QUANTITIES) if name in table and name not in whole]
    table = table[[*whole, *measures]].astype({"seed": int, "epochs": int})
    return table.sort_values([STUDY, *NET, "epochs"], ignore_index=True)


def columns_of(quantities: Iterable[str]) -> list[str]:
    """The columns that these quantities may have, in their order."""
    return [f"{name}{kind}" for name in quantities for kind in ("", "_error", "_converged")]


def _nets(material: Material, study: str) -> pd.DataFrame:
    """For each net that met its rule: its study, its sweeps, and the epoch when it met the rule."""
    outcomes = material.tables["outcomes"]
    met = outcomes[outcomes["converged"]]
    met = met.assign(**{STUDY: studies_of(met, study)})
    return met.groupby(NET, as_index=False).agg(
        **{STUDY: (STUDY, "first"), "met_epoch": ("met_epoch", "first")},
        axes=("sweep", lambda sweeps: ";".join(dict.fromkeys(sweeps))),
    )


def _moments(table: pd.DataFrame) -> pd.Series:
    """Each moment as epochs after the rule was met, or without a rule as the study names it."""
    later = table["epochs"].astype(int) - table["met_epoch"]
    named = (BEYOND + later.astype(str)).where(later != 0, "met")
    return named.where(table["met_epoch"] > 0, table["at"].astype(str))


def _measures(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Each quantity that was measured, its error if it has one, and whether a search converged."""
    found = quantities_of(parts)
    columns: dict[str, pd.Series] = {}
    for name in found.columns.intersection([*QUANTITIES]):
        columns[name] = found[name]
        part = parts[QUANTITIES[name].part]
        error = ERRORS.get(name, f"{name}_error")
        if error in part:
            columns[f"{name}_error"] = part[error]
        if settled(name) in found:
            columns[f"{name}_converged"] = found[settled(name)].astype("boolean")
    return pd.DataFrame(columns)
