"""What was measured of the nets of a sweep, as arrays: realizations, then values of L2."""

from collections.abc import Callable

import numpy as np

from flatlas.claims.nets import Nets, Sweep
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.statistics.spectral_norms import known

L2 = "penalty.coefficient"
TABLE = "norms_summary"
NORMS = {"spectral_norm": "λ₁", "trace": "the trace", "frobenius": "the Frobenius norm"}
NAMES = {
    "logistic": "logistic regression",
    "mlp": "the MLP",
    "cnn": "the CNN",
    "cnn_colour": "the CNN on colour images",
    "preresnet": "PreResNet",
    "wideresnet": "WideResNet",
}


def with_history(material: Material) -> Material:
    """Each net's norms beside its weight norm and its errors; `converged` is of λ₁ alone."""
    table = material.beside_history(TABLE)
    return Material({**material.tables, TABLE: table.assign(converged=known(table))})


def along_l2(material: Material, sweep: str) -> Sweep:
    """The nets of a sweep, by the strength of L2."""
    return Sweep(material, sweep, along=L2)


def read(nets: Nets, column: str, *axes: str) -> np.ndarray:
    """One quantity, or the test accuracy, which the table has not."""
    if column == "accuracy":
        return 1 - nets.read(TABLE, "test_error", *axes)
    return nets.read(TABLE, column, *axes)


def settled(nets: Nets, column: str) -> tuple[np.ndarray, ...]:
    """Whether the search for the spectral norm converged; the others take none."""
    return (nets.read(TABLE, "converged"),) if column == "spectral_norm" else ()


def of_means(
    statistic: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray], np.ndarray]:
    """Of the means over realizations, with the values on the last axis."""
    return lambda measured: statistic(mean(measured))
