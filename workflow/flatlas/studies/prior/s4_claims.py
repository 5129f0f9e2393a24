"""Figure S4: measures of the Hessian do as sharpness does."""

from collections.abc import Iterator

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, CORRELATED
from flatlas.claims.correlations import Pair, accuracy, correlated, flatness, same
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.studies.prior.systems_claims import called, flatness_pair

OPTIMIZERS = ("sgd", "adam")
MEASURES = {
    "norm": ("the spectral norm", "spectral_norm"),
    "top": ("the geometric mean of eigenvalues", "log10_product"),
}


def judge(material: Material) -> list[Claim]:
    """Two measures and two optimizers, against sharpness and against generalization."""
    return [
        claim
        for sweep in OPTIMIZERS
        for name, (what, column) in MEASURES.items()
        for claim in _of(
            Nets(material, sweep), f"{name}_{sweep}", f"{what}: {called(sweep)}", column
        )
    ]


def _of(nets: Nets, name: str, what: str, column: str) -> Iterator[Claim]:
    measured = flatness(nets, "hessian", column)
    with_sharpness = Pair(measured, flatness(nets), "flatness by the Hessian and by sharpness")
    with_accuracy = Pair(measured, accuracy(nets), "flatness by the Hessian with the accuracy")
    says = f"a measure of the Hessian correlates with sharpness ({what})"
    yield from correlated(nets, f"{name}_sharpness", says, CORRELATED, with_sharpness)
    says = f"a measure of the Hessian correlates with generalization as sharpness does ({what})"
    yield from same(nets, f"{name}_accuracy", says, BARELY, with_accuracy, flatness_pair(nets))
