"""Figure 2: a solution times c, beside its limit."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import BARELY, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.measured import NAMES, NORMS

TABLE = "scaling_summary"


def judge(material: Material) -> list[Claim]:
    """Whether the limit is reached, and whether it is 0."""
    return [
        claim
        for name in ("logistic", "mlp")
        for claim in _scaled(Nets(material, f"{name}_solution"), name)
    ]


def _scaled(nets: Nets, name: str) -> Iterator[Claim]:
    told = NAMES[name]
    converged, wrong = (nets.read(TABLE, one, "factor") for one in ("converged", "misclassified"))
    for column, says in {"loss": "the loss", **NORMS}.items():
        measured, predicted = (
            nets.read(TABLE, one, "factor") for one in (column, f"{column}_predicted")
        )
        searched = (converged,) if column == "spectral_norm" else ()
        off = measured / predicted - 1
        if column != "loss":
            # Of a net that misclassifies an image only the loss is predicted.
            off = np.where(wrong > 0, np.nan, off)
        theory = nets.claim(
            f"{name}_{column}_theory",
            f"as all weights of {told} grow, {says} falls as the odds of the wrong classes",
            f"{says} over what is predicted of it, less 1, at the largest c; mean over nets",
            BARELY,
            mean,
            off[:, 0, -1] if off.size else off,
            settled=searched,
        )
        # The rate is not in what is left of the preprint.
        yield from ours([theory])
        if column != "loss":
            yield nets.claim(
                f"{name}_{column}_small",
                f"with the same decisions and larger weights {told} has a smaller Hessian",
                f"{says} at the largest c over that at c = 1; mean over nets",
                SMALL,
                mean,
                _fallen(nets, measured),
                settled=searched,
            )


def _fallen(nets: Nets, measured: np.ndarray) -> np.ndarray:
    if not measured.size:
        return measured
    return measured[:, 0, -1] / measured[:, 0, nets.levels(TABLE, "factor").index(1.0)]
