"""The tables of many measures as one: a row a net, a column a quantity of the study `atlas`.

Every quantity is told so that more of it should mean a larger generalization gap, if its theory is
right: of those of which less is worse, it is minus what was measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from flatlas.evidence.material import Material

NET = ("run", "seed")
# The row of a net that says how large its gap is; all others are measured against it.
GAP = "gap"
# A net's study, of which `of` names the sweep.
STUDY = "study"
LENDER = "of"


@dataclass(frozen=True)
class Quantity:
    """What it is called, and where it stands: in a column of one `part` of what was measured.

    Where `less` of it is worse, it is told with a minus. `tested` is what it knows of the images
    that the gap is measured on, if anything. Where it is `searched`, the search may not converge.
    """

    name: str
    part: str
    column: str
    less: bool = False
    tested: str = ""
    searched: bool = False


LOSSES = "the losses of test images"
BASELINES = {
    "zero_error_epoch": Quantity("epochs to zero error", "history", "epoch"),
    "train_loss": Quantity("training loss", "norms", "train_loss"),
    "gradient_norm": Quantity("gradient norm", "norms", "gradient_norm"),
    "weight_norm": Quantity("weight norm", "norms", "weight_norm"),
}
MEASURES = {
    "sharpness": Quantity("sharpness in a box", "sharpness", "sharpness", searched=True),
    "norm_sharpness": Quantity(
        "sharpness times squared norm", "sharpness", "norm_sharpness", searched=True
    ),
    "spectral_norm": Quantity(
        "spectral norm of the Hessian", "hessian", "spectral_norm", searched=True
    ),
    "trace": Quantity("trace of the Hessian", "hessian", "trace"),
    "frobenius": Quantity("Frobenius norm of the Hessian", "hessian", "frobenius"),
    "product": Quantity(
        "geometric mean of the largest eigenvalues", "hessian", "product", searched=True
    ),
    "pca_flatness": Quantity("narrowness along principal directions", "valley", "flatness", True),
    "T_g": Quantity("total sharpness of duality, T_g", "duality", "T_g", tested=LOSSES),
    "T_w": Quantity("total size of duality, T_w", "duality", "T_w", tested="test images"),
    # Less the µ-term, that gap itself, of losses in place of errors.
    "dual_gap": Quantity(
        "gap along directions of duality, ΔL", "duality", "dual_gap", tested=LOSSES
    ),
    "prior": Quantity(
        "improbability of the function, −log P(f)",
        "prior",
        "log10_p",
        less=True,
        searched=True,
        tested="what the net says of test images",
    ),
    "regret": Quantity("local regret", "regret", "regret"),
    "kl_regret": Quantity("local regret in a KL-ball", "ball", "regret", searched=True),
    "contrast": Quantity("contrastive flatness", "contrast", "contrast", searched=True),
    "distance": Quantity("distance from initialization", "norms", "distance"),
    "path_norm": Quantity("path norm", "norms", "path_norm"),
    "margin": Quantity("smallness of the margin", "norms", "normalized_margin_tenth", True),
}
QUANTITIES = BASELINES | MEASURES
# Where each part is, as a figure that names the measures has it.
TABLES = {
    "history": "history",
    "norms": "norms_summary",
    "sharpness": "sharpness_summary",
    "hessian": "hessian_summary",
    "duality": "duality_summary",
    "prior": "prior_summary",
    "regret": "regret_summary",
    "ball": "regret_kl_ball",
    "contrast": "contrast_summary",
    "valley": "valley_directions",
}
# And in the tables of the measure `survival`, which also tell moments and scalings apart.
SURVIVAL = {
    part: f"survival_{'kl_ball' if part == 'ball' else part}"
    for part in ("norms", "sharpness", "hessian", "duality", "prior", "regret", "ball", "contrast")
}
# What each sweep of the study varies, its axis: in words, and the beginning of its keys.
AXES = {
    "optimizer": ("optimizer", "optimizer."),
    "batch": ("batch size", "batch"),
    "rate": ("learning rate", "optimizer.lr"),
    "decay": ("weight decay", "penalty.coefficient"),
    "init": ("initialization", "net.init.scale"),
    "attack": ("attack-set size", "data.attack_size"),
    "size": ("data size", "data.per_class"),
}
# What else a row says of a net.
STANDING = ("sweep", LENDER, "run", "seed", STUDY, "train_error", "test_error", GAP)
# What a net that has met its rule does not know of: how long the training may go on, and what
# becomes of it then.
AFTER = ("stop.epochs", "stop.extra_epochs", "overtraining", "rescaling.")


def nets(material: Material) -> pd.DataFrame:
    """Each net that met its rule, in each sweep that it is in, with its gap and all quantities.

    Where a search did not converge, its quantity stands there all the same, beside a 0.
    """
    outcomes = material.tables["outcomes"]
    met = outcomes[outcomes["converged"].astype(bool)]
    stands = met.drop(columns=["reason", "met_epoch", "epoch", "converged"])
    stands[STUDY] = stands[LENDER].str.split(".").str[0]
    errors = _read(material.tables, TABLES, "norms", NET).reindex(
        columns=["train_error", "test_error"]
    )
    errors[GAP] = errors["test_error"] - errors["train_error"]
    return stands.join(errors, on=[*NET]).join(_quantities(material.tables, TABLES, NET), on=[*NET])


def once(table: pd.DataFrame) -> pd.DataFrame:
    """Each net once, whatever sweeps it is in."""
    return table.drop_duplicates([*NET])


@dataclass(frozen=True)
class Along:
    """The nets of one axis, with a label each for its `settings` and its `values`."""

    nets: pd.DataFrame
    settings: np.ndarray
    values: np.ndarray


def along(table: pd.DataFrame, axis: str) -> Along:
    """Of all nets those of an axis."""
    some = table[table["sweep"] == axis]
    return Along(some, settings(some, axis), values(some, axis))


def settings(table: pd.DataFrame, axis: str) -> np.ndarray:
    """A label for each net: nets of one label differ only in what the axis varies.

    They are of one study and one realization, so that they saw the same images, but where these
    are what is varied.
    """
    own = _of_axis(table, axis)
    return _labels(table, ["seed", *(key for key in _varied(table) if key not in own)])


def values(table: pd.DataFrame, axis: str) -> np.ndarray:
    """A label for each net: nets of one label have, in one study, what the axis varies in common.

    Whoever chose these values drew the sample: the same three optimizers with ten attack sets are
    three.
    """
    return _labels(table, _of_axis(table, axis))


def _labels(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    grouped = table[columns].astype(str).groupby([table[STUDY], *columns], dropna=False)
    return grouped.ngroup().to_numpy()


def _of_axis(table: pd.DataFrame, axis: str) -> list[str]:
    return [key for key in _varied(table) if key.startswith(AXES[axis][1])]


def _varied(table: pd.DataFrame) -> list[str]:
    """All that the sweeps vary, as far as it touches a net before it meets its rule."""
    told = {*STANDING, *QUANTITIES, *(settled(name) for name in QUANTITIES)}
    return [key for key in map(str, table) if key not in told and not key.startswith(AFTER)]


def settled(name: str) -> str:
    """The column that says whether the search for a quantity converged: 1, 0, or NaN."""
    return f"{name}_settled"


def other_baselines(name: str) -> list[str]:
    """What a quantity is held against: the baselines, but for itself."""
    return [other for other in BASELINES if other != name]


def survival(material: Material) -> pd.DataFrame:
    """The quantities of each net at each moment `at` and under each `scaling`, a row each."""
    keys = (*NET, "at", "scaling")
    return _quantities(material.tables, SURVIVAL, keys).reset_index()


def _quantities(
    tables: Mapping[str, pd.DataFrame], places: Mapping[str, str], keys: Sequence[str]
) -> pd.DataFrame:
    """A column a quantity, NaN where a net was not measured, indexed by the keys.

    Beside what was searched for stands whether it was found.
    """
    read = {part: _read(tables, places, part, keys) for part in places}
    columns = {}
    for name, quantity in QUANTITIES.items():
        if quantity.part not in read:
            continue
        rows = read[quantity.part]
        if quantity.column == "norm_sharpness":
            squared = read["norms"].reindex(columns=["weight_norm"])["weight_norm"] ** 2
            values = rows.reindex(columns=["sharpness"])["sharpness"] * squared
        else:
            values = rows.reindex(columns=[quantity.column])[quantity.column]
        columns[name] = -values if quantity.less else values
        if quantity.searched:
            columns[settled(name)] = rows.reindex(columns=["converged"])["converged"].astype(float)
    return pd.DataFrame(columns)


def _read(
    tables: Mapping[str, pd.DataFrame], places: Mapping[str, str], part: str, keys: Sequence[str]
) -> pd.DataFrame:
    """One part, a row for each of the keys; without any where it is not in the figure.

    A run that stands in several sweeps has the same rows in each.
    """
    rows = tables.get(places[part], pd.DataFrame(columns=[*keys]))
    if "sweep" in rows:
        rows = rows[rows["sweep"] == rows.groupby("run")["sweep"].transform("first")]
    rows = CHOSEN.get(part, lambda table, keys: table)(rows, [*keys])
    # Where every realization diverged, the table has no columns of its own.
    rows = rows.reindex(columns=list(dict.fromkeys([*rows.columns, *keys])))
    return rows.drop_duplicates([*keys]).set_index([*keys])


def _first_without_error(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    rows = rows.reindex(columns=list(dict.fromkeys([*rows.columns, "train_error", "epoch"])))
    return rows[rows["train_error"] == 0].sort_values("epoch")


def _geometric_mean(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Of as many eigenvalues as are positive."""
    told = rows.reindex(columns=["log10_product", "positive"])
    count = told["positive"].astype(float)
    return rows.assign(product=10 ** (told["log10_product"] / count.where(count > 0)))


def _most_damped(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    damping = rows.reindex(columns=["damping"])["damping"]
    return rows[damping == damping.max()]


def _of_sharpness(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    return rows[rows.reindex(columns=["flatness"])["flatness"] == "sharpness"]


def _mean_over_directions(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """log10 F_i, over the directions in which both ends of the valley were found."""
    width = rows.reindex(columns=["flatness"])["flatness"].astype(float)
    told = rows[keys].assign(flatness=np.log10(width.where(width > 0)))
    return told.groupby(keys, as_index=False).mean()


# How a part comes to have one row a net.
CHOSEN = {
    "history": _first_without_error,
    "hessian": _geometric_mean,
    "ball": _most_damped,
    "contrast": _of_sharpness,
    "valley": _mean_over_directions,
}
