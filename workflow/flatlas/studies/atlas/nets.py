"""The nets of the study `atlas`: a row each, with all quantities, and how they may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flatlas.evidence.material import NET, Material, each_run_once
from flatlas.studies.atlas.quantities import QUANTITIES, SEARCHED, SURVIVAL, TABLES, settled

# The generalization gap, test error less training error: every quantity is compared with it.
GAP = "gap"
# A net's study, which is the first part of `of`, the name of the borrowed sweep.
STUDY = "study"
BORROWED_FROM = "of"
# What each sweep of the study varies: its axis in words, and how the keys begin.
AXES = {
    "optimizer": ("optimizer", "optimizer."),
    "batch": ("batch size", "batch"),
    "rate": ("learning rate", "optimizer.lr"),
    "decay": ("weight decay", "penalty.coefficient"),
    "init": ("initialization", "net.init.scale"),
    "attack": ("attack-set size", "data.attack_size"),
    "size": ("data size", "data.per_class"),
}
# The columns of a net that are neither varied nor quantities.
IDENTITY = ("sweep", BORROWED_FROM, "run", "seed", STUDY, "train_error", "test_error", GAP)
# Keys that cannot affect a net before it meets its rule.
AFTER = ("stop.epochs", "stop.extra_epochs", "overtraining", "rescaling.")


def nets(material: Material) -> pd.DataFrame:
    """Each net that met its rule, once for each of its sweeps, with its gap and all quantities.

    A value from a search that did not converge is kept; its column `settled` is 0.
    """
    outcomes = material.tables["outcomes"]
    table = outcomes[outcomes["converged"]]
    table = table.drop(columns=["reason", "met_epoch", "epoch", "converged"])
    table[STUDY] = table[BORROWED_FROM].str.split(".").str[0]
    parts = _parts(material.tables, TABLES, NET)
    errors = parts["norms"][["train_error", "test_error"]]
    errors = errors.assign(**{GAP: errors["test_error"] - errors["train_error"]})
    # A figure need not name every measure.
    quantities = _quantities(parts).reindex(columns=[*QUANTITIES, *map(settled, SEARCHED)])
    return table.join(errors, on=NET).join(quantities, on=NET)


def once(table: pd.DataFrame) -> pd.DataFrame:
    """Each net once, whatever sweeps it is in."""
    return table.drop_duplicates(NET)


@dataclass(frozen=True)
class Along:
    """The nets of one axis, and for each net the label of its setting and of its value."""

    nets: pd.DataFrame
    settings: np.ndarray
    values: np.ndarray


def along(table: pd.DataFrame, axis: str) -> Along:
    """The nets of one axis."""
    some = table[table["sweep"] == axis]
    return Along(some, settings(some, axis), values(some, axis))


def settings(table: pd.DataFrame, axis: str) -> np.ndarray:
    """A label for each net; nets with the same label differ only in what the axis varies.

    They have the same study and seed, and so the same images, unless the axis varies the images.
    """
    own = _of_axis(table, axis)
    return _labels(table, ["seed", *(key for key in _varied(table) if key not in own)])


def values(table: pd.DataFrame, axis: str) -> np.ndarray:
    """A label for each net; nets with the same label have the axis' value and the study in common.

    The chosen values are the sample: three optimizers with ten attack sets each count as three.
    """
    return _labels(table, _of_axis(table, axis))


def _labels(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    grouped = table[columns].astype(str).groupby([table[STUDY], *columns], dropna=False)
    return grouped.ngroup().to_numpy()


def _of_axis(table: pd.DataFrame, axis: str) -> list[str]:
    return [key for key in _varied(table) if key.startswith(AXES[axis][1])]


def _varied(table: pd.DataFrame) -> list[str]:
    """The keys that the sweeps vary and that affect a net before it meets its rule."""
    other = {*IDENTITY, *QUANTITIES, *(settled(name) for name in QUANTITIES)}
    return [key for key in map(str, table) if key not in other and not key.startswith(AFTER)]


def survival(material: Material) -> pd.DataFrame:
    """The quantities of each net at each moment `at` and under each `scaling`, a row each."""
    return _quantities(_parts(material.tables, SURVIVAL, [*NET, "at", "scaling"])).reset_index()


def _quantities(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A column for each quantity of these parts; NaN where a net was not measured.

    A searched quantity has a second column, which says whether the search converged.
    """
    columns = {}
    for name, quantity in QUANTITIES.items():
        if quantity.part in parts:
            columns[name] = parts[quantity.part][name]
            if quantity.searched:
                columns[settled(name)] = parts[quantity.part]["converged"].astype(float)
    return pd.DataFrame(columns)


def _parts(
    tables: Mapping[str, pd.DataFrame], places: Mapping[str, str], keys: list[str]
) -> dict[str, pd.DataFrame]:
    """The tables that a figure has of these, by part, with one row for each of the keys."""
    parts = {}
    for part, place in places.items():
        if place in tables:
            rows = each_run_once(tables[place])
            rows = PREPARED[part](rows) if part in PREPARED else rows
            parts[part] = rows.drop_duplicates(keys).set_index(keys)
    if "sharpness" in parts:
        squared = parts["norms"]["weight_norm"] ** 2
        parts["sharpness"]["norm_sharpness"] = parts["sharpness"]["sharpness"] * squared
    return parts


def _epoch_of_zero_error(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[rows["train_error"] == 0].sort_values("epoch")
    return rows.assign(zero_error_epoch=rows["epoch"])


def _geometric_mean(rows: pd.DataFrame) -> pd.DataFrame:
    """The geometric mean of the positive eigenvalues."""
    count = rows["positive"].where(rows["positive"] > 0)
    return rows.assign(product=10 ** (rows["log10_product"] / count))


def _most_damped(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["damping"] == rows["damping"].max()].assign(kl_regret=rows["regret"])


def _narrowness(rows: pd.DataFrame) -> pd.DataFrame:
    """Minus the mean of log10 F_i over the directions in which the valley has both ends."""
    logs = np.log10(rows["flatness"].where(rows["flatness"] > 0))
    return rows.assign(pca_flatness=-logs.groupby([rows[key] for key in NET]).transform("mean"))


# How a part's table gets the quantities that are not among its columns, and one row for each net.
PREPARED = {
    "history": _epoch_of_zero_error,
    "norms": lambda rows: rows.assign(margin=-rows["normalized_margin_tenth"]),
    "hessian": _geometric_mean,
    "prior": lambda rows: rows.assign(prior=-rows["log10_p"]),
    "ball": _most_damped,
    "pac_bayes": lambda rows: rows.assign(
        pac_bayes=-rows["sigma"], pac_bayes_magnitude=-rows["sigma_magnitude"]
    ),
    "contrast": lambda rows: rows[rows["flatness"] == "sharpness"],
    "valley": _narrowness,
}
