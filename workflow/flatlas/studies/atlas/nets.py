"""The nets of the study `atlas`: a row each, with all quantities, and how they may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flatlas.evidence.material import NET, ZERO_ERROR, Material, each_run_once, with_full_batches
from flatlas.studies.atlas.quantities import QUANTITIES, SEARCHED, SURVIVAL, TABLES, settled

# The generalization gap, test error less training error: every quantity is compared with it.
GAP = "gap"
# The study that defines a net's sweep: the first part of `of`, the name of a borrowed sweep.
STUDY = "study"
BORROWED_FROM = "of"
OWN = "atlas"
# The moment of a training. Nets of one run at different moments are different nets.
AT = "at"
MOMENT = [*NET, AT]
# What each sweep of the study varies: its axis in words, and how the keys begin.
AXES = {
    "rate": ("learning rate", "optimizer.lr"),
    "batch": ("batch size", "batch"),
    "decay": ("weight decay", "penalty.coefficient"),
    "init": ("initialization", "net.init."),
    "width": ("width", "net.hidden"),
    "depth": ("depth", "net.hidden"),
    "size": ("data size", "data.train_size"),
    "noise": ("label noise", "data.label_noise"),
    "attack": ("attack-set size", "data.attack_size"),
    "optimizer": ("optimizer", "optimizer."),
    "radius": ("SAM's radius", "optimizer.radius"),
    "beyond": ("training on", AT),
    "recorded": ("learning rate, recorded", "optimizer.lr"),
}
# The sweep that varies several settings at once, in all combinations.
CROSSED = "crossed"
# The columns of a net that are neither settings nor quantities.
IDENTITY = ("sweep", BORROWED_FROM, *NET, STUDY, "train_error", "test_error", GAP)
# Keys that cannot affect a net before it meets its rule.
AFTER = ("stop.epochs", "stop.extra_epochs", "overtraining", "rescaling.")


def nets(material: Material) -> pd.DataFrame:
    """Each net that met its rule, once for each of its sweeps, with its gap and all quantities.

    A net is a training at the moment when it met its rule; along an axis of moments, at each
    moment. A value from a search that did not converge is kept; its column `settled` is 0.
    """
    outcomes = material.tables["outcomes"]
    table = with_full_batches(outcomes[outcomes["converged"]])
    table = table.drop(columns=["reason", "met_epoch", "epoch", "converged"])
    table[STUDY] = studies_of(table, OWN)
    known = [place for place in TABLES.values() if place in material.tables]
    tables = {place: _by_moment(material.tables[place]) for place in known}
    parts = parts_of(tables, TABLES, MOMENT)
    errors = parts["norms"][["train_error", "test_error", GAP]]
    # A figure need not name every measure.
    quantities = quantities_of(parts).reindex(columns=[*QUANTITIES, *map(settled, SEARCHED)])
    table = table.join(errors.join(quantities).reset_index(AT), on=NET)
    table[AT] = table[AT].fillna(ZERO_ERROR)
    along_moments = table["sweep"].isin([axis for axis, (_, key) in AXES.items() if key == AT])
    return table[along_moments | (table[AT] == ZERO_ERROR)].reset_index(drop=True)


def studies_of(table: pd.DataFrame, own: str) -> pd.Series:
    """The study of each net: the lender of its sweep, or its `own`."""
    if BORROWED_FROM not in table:
        return pd.Series(own, table.index)
    return table[BORROWED_FROM].astype("string").str.split(".").str[0].fillna(own).astype(object)


def _by_moment(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table; if a net has only one moment, it met its rule then.

    Such a training ends when it meets its rule, and calls that moment `final`.
    """
    if AT not in rows:
        return rows
    only = rows.groupby(NET)[AT].transform("nunique") == 1
    return rows.assign(**{AT: rows[AT].astype(object).mask(only, ZERO_ERROR)})


def known_in(table: pd.DataFrame) -> list[str]:
    """The quantities that at least one net has; all quantities if no net has any."""
    return [name for name in QUANTITIES if table[name].notna().any()] or [*QUANTITIES]


def once(table: pd.DataFrame) -> pd.DataFrame:
    """Each net once, even if it is in several sweeps."""
    return table.drop_duplicates(MOMENT)


@dataclass(frozen=True)
class Along:
    """Nets of a sweep, with labels that say which of them may be compared.

    Nets of one `realizations` label have the same seed, nets of one `values` label the same values
    of what is varied, nets of one `contexts` label the same values of all else. Values count from
    0, in the order of the configuration.
    """

    nets: pd.DataFrame
    realizations: np.ndarray
    contexts: np.ndarray
    values: np.ndarray

    @property
    def settings(self) -> np.ndarray:
        """Nets with the same label share the realization and differ at most in what is varied."""
        return self.contexts + len(self.nets) * self.realizations


def along(table: pd.DataFrame, axis: str) -> Along:
    """The nets of one axis, compared where they differ only in what the axis varies."""
    some = table[table["sweep"] == axis]
    return _along(some, [key for key in _varied(some) if key.startswith(AXES[axis][1])])


def crossed(table: pd.DataFrame) -> Along:
    """The nets of the crossed design, compared whatever they differ in."""
    some = table[table["sweep"] == CROSSED]
    return _along(some, _varied(some))


def factors(table: pd.DataFrame) -> dict[str, Along]:
    """For each setting of the crossed design, its nets, compared where they differ only in it."""
    some = table[table["sweep"] == CROSSED]
    several = [key for key in _varied(some) if some[key].astype(str).nunique() > 1]
    return {key: _along(some, [key]) for key in several}


def words_of(key: str) -> str:
    """A varied setting in words."""
    return next((words for words, begin in AXES.values() if key.startswith(begin)), key)


def _along(some: pd.DataFrame, own: list[str]) -> Along:
    others = [key for key in _varied(some) if key not in own]
    return Along(some, *(_labels(some, columns) for columns in (["seed"], others, own)))


def _labels(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    by = [table[STUDY], *(table[column].astype(str) for column in columns)]
    return table.groupby(by, dropna=False, sort=False).ngroup().to_numpy()


def _varied(table: pd.DataFrame) -> list[str]:
    """The keys that the sweeps vary and that affect a net before it meets its rule."""
    other = {*IDENTITY, *QUANTITIES, *(settled(name) for name in QUANTITIES)}
    return [key for key in map(str, table) if key not in other and not key.startswith(AFTER)]


def survival(material: Material) -> pd.DataFrame:
    """The quantities of each net at each moment `at` and under each `scaling`, a row each."""
    return quantities_of(parts_of(material.tables, SURVIVAL, [*MOMENT, "scaling"])).reset_index()


def quantities_of(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
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


def parts_of(
    tables: Mapping[str, pd.DataFrame], places: Mapping[str, str], keys: list[str]
) -> dict[str, pd.DataFrame]:
    """The tables in `places` that a figure has, by part, with one row for each of the keys."""
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


def _geometric_mean(rows: pd.DataFrame) -> pd.DataFrame:
    count = rows["positive"].where(rows["positive"] > 0)
    return rows.assign(product=10 ** (rows["log10_product"] / count))


def _most_damped(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["damping"] == rows["damping"].max()].assign(kl_regret=rows["regret"])


def _narrowness(rows: pd.DataFrame) -> pd.DataFrame:
    """Minus the mean of log10 F_i over the directions in which the valley has both ends."""
    logs = np.log10(rows["flatness"].where(rows["flatness"] > 0))
    return rows.assign(pca_flatness=-logs.groupby([rows[key] for key in MOMENT]).transform("mean"))


# How a part's table gets the quantities that are not among its columns, and one row for each net.
PREPARED = {
    "training": lambda rows: rows.assign(epochs=rows["epoch"]),
    "norms": lambda rows: rows.assign(
        margin=-rows["normalized_margin_tenth"],
        # Errors are counts over numbers of images: without round-off, equal gaps are ties.
        **{GAP: (rows["test_error"] - rows["train_error"]).round(12)},
    ),
    "hessian": _geometric_mean,
    "prior": lambda rows: rows.assign(prior=-rows["log10_p"]),
    "ball": _most_damped,
    "pac_bayes": lambda rows: rows.assign(
        pac_bayes=-rows["sigma"], pac_bayes_magnitude=-rows["sigma_magnitude"]
    ),
    "contrast": lambda rows: rows[rows["flatness"] == "sharpness"],
    "valley": _narrowness,
}
