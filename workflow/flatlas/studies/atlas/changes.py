"""Changes of one setting, and how often a measure moves with the gap."""

import numpy as np
import pandas as pd

from flatlas.statistics.estimate import UNKNOWN, Estimate, jackknife
from flatlas.studies.atlas.nets import GAP, STUDY, Along

# The columns that identify a change of a setting, apart from the realization.
CHANGE = ["environment", "contexts", "values_before", "values_after"]


def changes(some: Along, neighbours: bool) -> pd.DataFrame:
    """Pairs of nets of one realization before and after a change; `moved` is the change of the gap.

    With `neighbours` the change is to the next value, otherwise to any later one. Pairs of several
    axes can be concatenated, because `realizations` are named by study and seed.
    """
    nets = some.nets
    frame = pd.DataFrame(
        {
            "realizations": nets[STUDY].astype(str) + " " + nets["seed"].astype(str),
            "contexts": some.contexts,
            "values": some.values,
            "net": nets.index,
            GAP: nets[GAP],
        }
    )
    pairs = frame.merge(frame, on=["realizations", "contexts"], suffixes=("_before", "_after"))
    steps = pairs["values_after"] - pairs["values_before"]
    pairs = pairs[(steps == 1) if neighbours else (steps > 0)]
    moved = pairs[f"{GAP}_after"] - pairs[f"{GAP}_before"]
    return pairs.drop(columns=[f"{GAP}_before", f"{GAP}_after"]).assign(moved=moved)


def right(pairs: pd.DataFrame, quantity: pd.Series) -> dict[str, Estimate]:
    """For each `environment` of the pairs, the share in which a quantity moves with the gap.

    A quantity is right about a pair if it moves as the gap does in the mean of all realizations,
    and half right if it does not move. Each change is weighted by how much it moves that mean. So
    changes that hardly move the gap hardly count; the jackknife includes the uncertainty of these
    weights.
    """
    environments, sums = _sums(pairs, quantity)
    return {
        name: _estimate(sums[:, environments == name], environments[environments == name])
        for name in dict.fromkeys(environments)
    }


def right_on_average(pairs: pd.DataFrame, quantity: pd.Series) -> Estimate:
    """The mean of the shares of all environments, each with the same weight."""
    environments, sums = _sums(pairs, quantity)
    return _estimate(sums, environments) if len(environments) else UNKNOWN


def _sums(pairs: pd.DataFrame, quantity: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The environment of each change, and what to sum, as (realizations, changes, 3).

    For each pair these are the change of the gap, the sign of the quantity's change, and 1; all are
    0 for a realization without the pair.
    """
    known = quantity.where(np.isfinite(quantity))
    before, after = (known[pairs[f"net_{when}"]].to_numpy() for when in ("before", "after"))
    parts = pairs.assign(sign=np.sign(after - before), count=1.0).dropna(subset=["sign"])
    indexed = parts.set_index(["realizations", *CHANGE])[["moved", "sign", "count"]]
    wide = [indexed[name].unstack("realizations", fill_value=0, sort=False) for name in indexed]
    return (
        wide[0].index.get_level_values("environment").to_numpy(),
        np.stack([one.to_numpy(float).T for one in wide], axis=-1),
    )


def _estimate(sums: np.ndarray, environments: np.ndarray) -> Estimate:
    member = environments[:, np.newaxis] == np.array([*dict.fromkeys(environments)])

    def share(total: np.ndarray) -> np.ndarray:
        """The mean share over environments, from sums (..., changes, 3)."""
        count = np.maximum(total[..., 2], 1)
        gap, sign = total[..., 0] / count, total[..., 1] / count
        with np.errstate(invalid="ignore"):
            shares = (1 + (gap * sign) @ member / (np.abs(gap) @ member)) / 2
            return np.asarray(np.nansum(shares, -1) / np.isfinite(shares).sum(-1))

    found = jackknife(share, sums)
    return Estimate(found.value, *np.clip([found.low, found.high], 0.0, 1.0).tolist())
