"""Figure S8: where the sharp directions end."""

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import NEAR_TEN
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.duality.swept import SWEPT

PAPER = 10
SWEEPS = ("alpha", "batch", "decay", "init")


def judge(material: Material) -> list[Claim]:
    """One claim a sweep, of that of its values at which the paper is least right."""
    return [
        sweep.claim(
            name,
            f"n_s is near 10, whatever {symbol}",
            f"mean n_s at the value of {symbol} at which it is farthest from 10",
            NEAR_TEN,
            lambda over: mean(over)[..., 0],
            farthest(sweep.read("hidden_summary", "n_sharp")),
            paper="10",
        )
        for name in SWEEPS
        for key, symbol in [SWEPT[name]]
        for sweep in [Sweep(material, name, key)]
    ]


def farthest(n_sharp: np.ndarray) -> np.ndarray:
    """n_s at one value of the sweep, (realizations, 1); the same one for all resamples."""
    if not n_sharp.size:
        return n_sharp
    off = np.nan_to_num(np.abs(mean(n_sharp) - PAPER), nan=-1.0)
    return n_sharp[:, [int(np.argmax(off))]]
