"""The nets of a figure as a table: a row each, with all that was measured of it at zero error.

Beside what is drawn stand the gradient norm, the loss and the epochs it took, so that curvature is
not taken for what the gradient does.
"""

from collections.abc import Iterable
from functools import reduce

import numpy as np
import pandas as pd

from flatlas.evidence.material import ZERO_ERROR, Material

NET = ["sweep", "run", "seed"]
PLACE = [*NET, "at", "epoch"]
ATTACK = "data.attack_size"
# What is told by the tables `<measure>_summary`; later on the measures have names of their own.
LATER = "later_"
PRIOR = ("log10_p", "train_error", "test_error", "train_size", "converged")
TOLD = {
    "prior": PRIOR,
    "heaviside": PRIOR,
    "sharpness": ("sharpness", "first_order", "rest", "gradient_norm", "loss", "converged"),
    "lbfgs": ("sharpness", "converged"),
    "corners": ("sharpness", "rest", "converged"),
    "hessian": ("spectral_norm", "log10_product", "positive", "gradient_norm", "loss", "converged"),
    "boolean_prior": ("log10_p", "standard_error", "probability", "is_target"),
}
# The same sharpness, but looked for in another way than the paper's.
OTHER_SEARCHES = ("lbfgs", "corners")
OF_A_SEARCH = ("sharpness", "rest")


def nets(material: Material, *measures: str) -> pd.DataFrame:
    """The nets that reached zero error on S, as they first did."""
    found = _joined(material, measures)
    return _finished(material, found[found["at"].astype(str) == ZERO_ERROR])


def overtrained(material: Material, *measures: str) -> pd.DataFrame:
    """The same nets as they first reached zero error, and at every later moment."""
    first = _joined(material, measures)
    later = _joined(material, [LATER + name for name in measures])
    both = [first[first["at"].astype(str) == ZERO_ERROR], later]
    return _finished(material, pd.concat([one for one in both if len(one)] or both[:1]))


def sweeps(material: Material) -> list[str]:
    """In the order of the figure; those without a net at zero error too."""
    return list(material.tables["outcomes"]["sweep"].unique())


def _joined(material: Material, measures: Iterable[str]) -> pd.DataFrame:
    """A row a net and moment; a column that two measures tell is the first one's."""

    def beside(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
        again = left.columns.intersection(right.columns).difference(PLACE)
        return left.merge(right.drop(columns=again), on=PLACE)

    return reduce(beside, [_told(material, name) for name in measures])


def _told(material: Material, name: str) -> pd.DataFrame:
    """What one measure tells; `<measure>_settled` is whether its own search converged."""
    measure = name.removeprefix(LATER)
    columns = [*PLACE, ATTACK, *TOLD[measure]]
    # Where no net reached zero error, a table has no columns of its own.
    table = material.tables[f"{name}_summary"].reindex(columns=columns)
    named = {ATTACK: "attack_size", "converged": f"{measure}_settled"}
    if measure in OTHER_SEARCHES:
        named |= {column: f"{measure}_{column}" for column in OF_A_SEARCH}
    return table.rename(columns=named)


def _finished(material: Material, points: pd.DataFrame) -> pd.DataFrame:
    """With the epochs to zero error, and what the axes show."""
    outcomes = material.tables["outcomes"].drop_duplicates(NET)
    points = points.merge(outcomes[[*NET, "met_epoch"]], on=NET)
    derived = {
        "accuracy": ("test_error", lambda error: 100 * (1 - error)),
        "flatness": ("sharpness", _minus_log10),
        **{
            f"{search}_flatness": (f"{search}_sharpness", _minus_log10) for search in OTHER_SEARCHES
        },
        "rest_flatness": ("corners_rest", _minus_log10),
        "norm_flatness": ("spectral_norm", _minus_log10),
    }
    known = {name: of(points[told]) for name, (told, of) in derived.items() if told in points}
    if "log10_product" in points:
        count = points["positive"].astype(float)
        known["top_flatness"] = -points["log10_product"] / count.where(count > 0)
    return points.assign(**known).reset_index(drop=True)


def _minus_log10(values: pd.Series) -> pd.Series:
    positive = values.astype(float).where(values > 0)
    return -positive.map(np.log10)


def small_print(material: Material, points: pd.DataFrame, said: str = "") -> str:
    """What a dot is, what is `said` of it, and how many nets there is none of."""
    outcomes = material.tables["outcomes"].drop_duplicates(NET)
    never = len(outcomes) - len(points.drop_duplicates(NET))
    text = "One dot a net with zero error on S"
    varied = points["attack_size"].nunique() > 1
    text += (", darker the more wrong labels |A| it learnt. " if varied else ". ") + said
    if "is_target" in points and (missed := int(points["is_target"].eq(False).sum())):
        text += f"{missed} nets express another function than the one they were trained to. "
    if "first_order" in points and points["sharpness_settled"].eq(True).mean() > 0.5:
        text += (
            "Gradient: the first-order part of the sharpness, in the median net whose search"
            " converged. "
        )
    if points.filter(like="_settled").eq(False).any(axis=None):
        text += "Hollow: what was measured has not converged. "
    if never:
        return text + f"Of {len(outcomes)} nets {never} never had zero error on S."
    return text + f"All {len(outcomes)} nets came to zero error on S."
