"""The correlation c_n of nets, over the directions that count."""

import numpy as np

from flatlas.claims.nets import Nets
from flatlas.statistics.means import mean
from flatlas.studies.duality.spectra import by_stretch, counted_each, live

TABLE = "hidden_directions"


def correlations(nets: Nets) -> np.ndarray:
    """c_n as (realizations, values, directions), NaN beyond those that hold 99 % of a net's ΔL."""
    gap, c = nets.read(TABLE, "gap", "n"), nets.read(TABLE, "correlation", "n")
    return np.where(counted_each(gap), c, np.nan)


def by_half_decade(c: np.ndarray) -> np.ndarray:
    """The mean c_n in each half-decade of rank: every one counts alike."""
    return by_stretch(c, c.shape[-1])


def level(nets: Nets) -> np.ndarray:
    """The mean c_n of each net, as (realizations, values).

    It is taken over those ranks that hold 99 % of ΔL at every value: where c_n falls with n, a
    mean over more directions at one value than at another would seem to change.
    """
    gap, c = nets.read(TABLE, "gap", "n"), nets.read(TABLE, "correlation", "n")
    last = int(counted_each(mean(gap)).sum(-1).min(initial=gap.shape[-1]))
    alive = np.where(np.isfinite(live(nets.read(TABLE, "sigma_g", "n"))), c, np.nan)
    return mean(by_stretch(alive, max(last, 1)), -1)
