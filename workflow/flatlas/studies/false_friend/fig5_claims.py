"""Figure 5: AdamW with averaged iterates beside SGD."""

from functools import partial, reduce

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import MORE, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.measured import NORMS, read, settled, with_history

# Averaged AdamW, and what it is held against; SGD first.
AVERAGED = "vgg_adamw_ia"
OTHERS = ("vgg_sgd", "vgg_sgd_ia", "vgg_adamw")
TIMES = 30


def judge(material: Material) -> list[Claim]:
    """It generalizes best, and is far sharper than SGD."""
    material = with_history(material)
    nets = Nets(material, (AVERAGED, *OTHERS))
    one, *others = (partial(_of, material, sweep) for sweep in (AVERAGED, *OTHERS))
    accuracies = [way("accuracy") for way in (one, *others)]
    best = nets.claim(
        "best",
        "adaptive steps with averaged iterates generalize best of the four",
        "mean test accuracy of averaged AdamW less that of the best other",
        MORE,
        lambda best, *rest: mean(best) - reduce(np.maximum, map(mean, rest)),
        *accuracies,
    )
    claims = [
        *ours([best]),
        nets.claim(
            "better",
            "adaptive steps with averaged iterates generalize better than SGD",
            "mean test accuracy of averaged AdamW less that of SGD",
            MORE,
            lambda best, sgd: mean(best) - mean(sgd),
            *accuracies[:2],
        ),
    ]
    for norm, says in NORMS.items():
        converged = [
            array for sweep in (AVERAGED, OTHERS[0]) for array in _settled(material, sweep, norm)
        ]
        claims.append(
            nets.claim(
                f"{norm}_sharper",
                "adaptive steps with averaged iterates are sharper than SGD",
                f"logarithm of mean {says} of averaged AdamW over that of SGD",
                MORE,
                lambda ia, sgd: np.log10(mean(ia) / mean(sgd)),
                one(norm),
                others[0](norm),
                settled=converged,
            )
        )
        claims.append(
            nets.claim(
                f"{norm}_times",
                f"{TIMES} times sharper",
                f"mean {says} of averaged AdamW over that of SGD",
                near(TIMES),
                lambda ia, sgd: mean(ia) / mean(sgd),
                one(norm),
                others[0](norm),
                paper=f"{TIMES}",
                settled=converged,
            )
        )
    return claims


def _of(material: Material, sweep: str, column: str) -> np.ndarray:
    """Of a sweep's only run: (realizations,)."""
    return read(Nets(material, sweep), column)[:, 0]


def _settled(material: Material, sweep: str, norm: str) -> tuple[np.ndarray, ...]:
    return settled(Nets(material, sweep), norm)
