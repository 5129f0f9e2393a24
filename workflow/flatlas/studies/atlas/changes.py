"""Changes of one setting that move the gap, and how often a measure moves with it."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from flatlas.statistics.estimate import CONFIDENCE, FEWEST, UNKNOWN, Estimate, jackknife
from flatlas.studies.atlas.nets import GAP, Along

# A change of a setting, apart from the realization.
CHANGE = ["contexts", "values_before", "values_after"]


def changes(some: Along, neighbours: bool) -> pd.DataFrame:
    """Pairs of nets before and after a change that moves the gap: a row for each realization.

    `direction` is the sign of the mean change of the gap. Only changes are listed for which
    Student's 95 % interval of that mean, over realizations, excludes 0. With `neighbours` the
    change is to the next value, otherwise to any later one.
    """
    labels = {name: getattr(some, name) for name in ("realizations", "contexts", "values")}
    frame = pd.DataFrame({**labels, "net": some.nets.index, GAP: some.nets[GAP].to_numpy()})
    pairs = frame.merge(frame, on=["realizations", "contexts"], suffixes=("_before", "_after"))
    steps = pairs["values_after"] - pairs["values_before"]
    pairs = pairs[(steps == 1) if neighbours else (steps > 0)]
    moved = pairs[f"{GAP}_after"] - pairs[f"{GAP}_before"]
    by_change = moved.groupby([pairs[key] for key in CHANGE])
    count, mean, spread = (by_change.transform(name) for name in ("count", "mean", "std"))
    student = stdtrit(np.maximum(count - 1, 1), (1 + CONFIDENCE) / 2)
    certain = (count >= FEWEST) & (mean.abs() > student * spread / np.sqrt(count))
    found = pairs[["realizations", *CHANGE, "net_before", "net_after"]]
    return found.assign(direction=np.sign(mean))[certain]


def right(pairs: pd.DataFrame, quantity: pd.Series) -> dict[str, Estimate]:
    """For each `environment` of the pairs, the share in which a quantity moves with the gap."""
    names, sums = _counts(pairs, quantity)
    return {name: _estimate(_mean, sums[:, [place]]) for place, name in enumerate(names)}


def right_on_average(pairs: pd.DataFrame, quantity: pd.Series) -> Estimate:
    """The mean of these shares: each environment counts the same."""
    names, sums = _counts(pairs, quantity)
    return _estimate(_mean, sums) if names else UNKNOWN


def _counts(pairs: pd.DataFrame, quantity: pd.Series) -> tuple[list[str], np.ndarray]:
    """How many pairs are right, and how many there are (realizations, environments, 2).

    A pair that a quantity does not distinguish is half right.
    """
    known = quantity.where(np.isfinite(quantity))
    before, after = (known[pairs[f"net_{when}"]].to_numpy() for when in ("before", "after"))
    agrees = pairs.assign(right=(1 + np.sign(after - before) * pairs["direction"]) / 2)
    known_pairs = agrees.dropna(subset=["right"])
    counts = known_pairs.groupby(["realizations", "environment"], sort=False)["right"]
    wide = [one.unstack(fill_value=0) for one in (counts.sum(), counts.count())]
    return [*wide[0].columns], np.stack([one.to_numpy(float) for one in wide], axis=-1)


def _mean(sums: np.ndarray) -> np.ndarray:
    """The mean of the shares of (..., environments, 2), over environments with pairs."""
    count = sums[..., 1]
    shares = sums[..., 0] / np.maximum(count, 1)
    with np.errstate(invalid="ignore"):
        return np.asarray(shares.sum(-1) / (count > 0).sum(-1))


def _estimate(statistic: Callable[[np.ndarray], np.ndarray], sums: np.ndarray) -> Estimate:
    found = jackknife(statistic, sums)
    return Estimate(found.value, *np.clip([found.low, found.high], 0.0, 1.0).tolist())
