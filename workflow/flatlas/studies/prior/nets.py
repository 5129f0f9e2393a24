"""The nets of a figure as a table: a row each, with all measurements at zero error.

The table also has the gradient norm, the loss and the epochs to zero error, which are not drawn.
They separate curvature from the gradient's part.
"""

from collections.abc import Iterable
from functools import reduce

import numpy as np
import pandas as pd

from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, ZERO_ERROR, Material, at_moment, with_settings
from flatlas.plotting.trainings import zero_error
from flatlas.studies.prior.quantities import DERIVED

PLACE = [*DOT, "at", "epoch"]
ATTACK = "data.attack_size"
# The names of measures taken after zero error begin with this.
LATER = "later_"
_OF_A_PRIOR = ("log10_p", "train_error", "test_error", "train_size", "converged")
# What a figure's table takes from `<measure>_summary`.
COLUMNS = {
    "prior": _OF_A_PRIOR,
    "heaviside": _OF_A_PRIOR,
    "sharpness": ("sharpness", "first_order", "rest", "gradient_norm", "loss", "converged"),
    "lbfgs": ("sharpness", "converged"),
    "corners": ("sharpness", "rest", "converged"),
    "hessian": ("spectral_norm", "log10_product", "positive", "gradient_norm", "loss", "converged"),
    "boolean_prior": ("log10_p", "standard_error", "probability", "is_target"),
}
# The sharpness by another search than the paper's.
OTHER_SEARCHES = ("lbfgs", "corners")
OF_A_SEARCH = ("sharpness", "rest")


def nets(material: Material, *measures: str) -> pd.DataFrame:
    """The nets that reached zero error on S, at that moment."""
    return _finished(material, _first(material, measures))


def overtrained(material: Material, *measures: str) -> pd.DataFrame:
    """The nets that reached zero error on S, at that moment and at every later one."""
    later = _joined(material, [LATER + name for name in measures])
    both = [_first(material, measures), later]
    return _finished(material, pd.concat([one for one in both if len(one)] or both[:1]))


def runs_of(nets: Nets) -> pd.DataFrame:
    """The runs on the second axis of claims' arrays, in order, with their sweep and attack size."""
    runs = with_settings(nets.outcomes, [ATTACK]).drop_duplicates("run").set_index("run")
    return runs.reindex(nets.values)


def with_attack_size(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the size of each net's attack set; NaN where no sweep varies it."""
    return table.assign(attack_size=table.get(ATTACK, np.nan))


def _first(material: Material, measures: Iterable[str]) -> pd.DataFrame:
    return at_moment(_joined(material, measures), ZERO_ERROR)


def _joined(material: Material, measures: Iterable[str]) -> pd.DataFrame:
    """A row for each net and moment; a column of two measures is taken from the first."""

    def merged(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
        again = left.columns.intersection(right.columns).difference(PLACE)
        return left.merge(right.drop(columns=again), on=PLACE)

    return reduce(merged, [_measured(material, name) for name in measures])


def _measured(material: Material, name: str) -> pd.DataFrame:
    """The columns of one measure; `<measure>_settled` says whether its own search converged."""
    measure = name.removeprefix(LATER)
    table = with_attack_size(material.tables[f"{name}_summary"])
    derived = {
        one.name: one.of(lambda column: table[column].to_numpy(float))
        for one in DERIVED
        if one.measure == measure
    }
    rows = table[[*PLACE, "attack_size", *COLUMNS[measure]]].assign(**derived)
    named = {"converged": f"{measure}_settled"}
    if measure in OTHER_SEARCHES:
        named |= {column: f"{measure}_{column}" for column in OF_A_SEARCH}
    return rows.rename(columns=named)


def _finished(material: Material, points: pd.DataFrame) -> pd.DataFrame:
    """The table with the epochs to zero error; the columns that axes show come last."""
    outcomes = material.tables["outcomes"].drop_duplicates(DOT)
    points = points.merge(outcomes[[*DOT, "met_epoch"]], on=DOT)
    derived = [one.name for one in DERIVED if one.name in points]
    return points[[*points.columns.drop(derived), *derived]].reset_index(drop=True)


def small_print(material: Material, points: pd.DataFrame, about: str = "") -> str:
    """Small print: what a dot is, remarks `about` the figure, and how many nets have no dot."""
    text = "One dot per net with zero error on S"
    varied = points["attack_size"].nunique() > 1
    text += (", darker the more wrong labels |A| it learnt. " if varied else ". ") + about
    if "is_target" in points and (missed := int(points["is_target"].eq(False).sum())):
        text += f"{missed} nets express another function than the one they were trained to. "
    if "first_order" in points and points["sharpness_settled"].eq(True).mean() > 0.5:
        text += (
            "Gradient: the first-order part of the sharpness, in the median net whose search"
            " converged. "
        )
    if points.filter(like="_settled").eq(False).any(axis=None):
        text += "Hollow: the measurement has not converged. "
    return text + zero_error(material, points)
