"""The quantities of a net that figures draw and claims use: each is declared once.

A quantity names the measure and the column it is computed from, its own column in a figure's
table, its label on an axis, and its name in a claim.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from flatlas.claims.correlations import Measured, Pair
from flatlas.claims.nets import Nets
from flatlas.evidence.material import ZERO_ERROR

# A function that returns a column of a measure's table, by its name.
Read = Callable[[str], np.ndarray]


def plain(read: Read, column: str) -> np.ndarray:
    """The column as it is."""
    return read(column)


def log10(read: Read, column: str) -> np.ndarray:
    """log10 of a column, NaN where it is not positive; a column `log10_...` is already a logarithm.

    A product of the positive eigenvalues becomes their geometric mean; the column `positive` counts
    them.
    """
    values = read(column)
    if column == "log10_product":
        count = read("positive")
        return values / np.where(count > 0, count, np.nan)
    if column.startswith("log10_"):
        return values
    return np.log10(np.where(values > 0, values, np.nan))


def minus_log10(read: Read, column: str) -> np.ndarray:
    """Flatness: minus log10 of a quantity that is larger where the loss is sharper."""
    return -log10(read, column)


def percent_right(read: Read, column: str) -> np.ndarray:
    """The accuracy in percent, from an error."""
    return 100 * (1 - read(column))


@dataclass(frozen=True)
class Quantity:
    """A quantity in the table `<measure>_summary`; `searched` if a search found it.

    A search may fail to converge. A quantity without a search can always be trusted.
    """

    name: str
    measure: str
    column: str
    label: str
    what: str
    value: Callable[[Read, str], np.ndarray] = log10
    searched: bool = True

    def of(self, read: Read) -> np.ndarray:
        """Its values, from the columns of its measure."""
        return self.value(read, self.column)

    def measured(self, nets: Nets, at: str = ZERO_ERROR) -> Measured:
        """Its values at a moment as an array for claims, and whether each search converged."""
        return self._measured(lambda column: nets.read(f"{self.measure}_summary", column, at=at))

    def along(self, nets: Nets) -> Measured:
        """The same at all moments, which are the last axis, for nets of one run."""
        table = f"{self.measure}_summary"
        return self._measured(lambda column: nets.read_of_run(table, column, "at"))

    def _measured(self, read: Read) -> Measured:
        values = self.of(read)
        settled = read("converged") if self.searched else np.full_like(values, np.nan)
        return Measured(values, settled)


LOG_PRIOR = Quantity("log10_p", "prior", "log10_p", r"$\log_{10}P(f)$", "log10 P(f)")
ACCURACY = Quantity(
    "accuracy",
    "prior",
    "test_error",
    "generalization accuracy (%)",
    "the accuracy",
    percent_right,
    searched=False,
)
FLATNESS = Quantity(
    "flatness",
    "sharpness",
    "sharpness",
    r"flatness, $-\log_{10}$ sharpness",
    "flatness",
    minus_log10,
)
LBFGS_FLATNESS = replace(
    FLATNESS,
    name="lbfgs_flatness",
    measure="lbfgs",
    label=f"{FLATNESS.label} by L-BFGS-B",
    what="flatness by L-BFGS-B",
)
CORNERS_FLATNESS = replace(
    FLATNESS,
    name="corners_flatness",
    measure="corners",
    label=r"$-\log_{10}$ sharpness by corners",
    what="flatness by corners",
)
# By corners, because the remainder would lack what an ascent misses.
REST_FLATNESS = replace(
    CORNERS_FLATNESS,
    name="rest_flatness",
    column="rest",
    label=r"$-\log_{10}$ sharpness beyond first order",
    what="flatness beyond first order",
)
NORM_FLATNESS = Quantity(
    "norm_flatness",
    "hessian",
    "spectral_norm",
    r"$-\log_{10}$ spectral norm",
    "a small spectral norm",
    minus_log10,
)
TOP_FLATNESS = Quantity(
    "top_flatness",
    "hessian",
    "log10_product",
    r"$-\log_{10}$ geometric mean of 50 $\lambda_i$",
    "a small geometric mean of the 50 largest eigenvalues",
    minus_log10,
)
# In the order in which a figure's table has them.
DERIVED = (
    ACCURACY,
    FLATNESS,
    LBFGS_FLATNESS,
    CORNERS_FLATNESS,
    REST_FLATNESS,
    NORM_FLATNESS,
    TOP_FLATNESS,
)


def paired(nets: Nets, x: Quantity, y: Quantity = ACCURACY, name: str = "") -> Pair:
    """Two quantities of the same nets, to correlate; the second is generalization by default."""
    return Pair(x.measured(nets), y.measured(nets), name or f"{x.what} with {y.what}")
