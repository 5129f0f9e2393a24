"""Figure 3: whether the local measures go with the test error."""

from collections.abc import Iterator
from dataclasses import replace

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import CORRELATED, TIGHTER
from flatlas.claims.correlations import Quantity
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import spearman
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.mystery.measured import from_summary, in_ball, of_flatness

# Not the trace: by it contrastive flatness is 1 but for which minibatches are drawn.
FLATNESS = {"spectral_norm": "the spectral norm", "sharpness": "sharpness"}
SWEEPS = {
    "batch": "SGD with minibatches of several sizes",
    "sgd": "SGD with attack sets",
    "adam": "Adam with attack sets",
    "entropy_sgd": "Entropy-SGD with attack sets",
}


# The post tells of the regret and not of its factors, and of a KL-ball without damping.
OURS = {"norm", "dissimilarity", "damped_regret"}


def judge(material: Material) -> list[Claim]:
    """Over all nets of a realization, and sweep by sweep."""
    nets = Nets(material)
    everywhere = [
        replace(_goes_with(nets, name, says, measured, "over all nets"), ours=name in OURS)
        for name, (says, measured) in _quantities(nets).items()
    ]
    return [*everywhere, *_by_sweep(material), *_better(nets)]


def _quantities(nets: Nets) -> dict[str, tuple[str, Quantity]]:
    contrasts = {
        f"{flatness}_contrast": (
            f"contrastive flatness by {says}",
            of_flatness(nets, "contrast", flatness),
        )
        for flatness, says in FLATNESS.items()
    }
    return {
        "regret": ("the local regret", from_summary(nets, "regret")),
        "norm": ("the gradients' norm", from_summary(nets, "norm")),
        "dissimilarity": ("1 − cos(g₁, g₂)", from_summary(nets, "dissimilarity")),
        "damped_regret": ("the regret in a damped KL-ball", in_ball(nets, damped=True)),
        "kl_regret": ("the regret in a KL-ball", in_ball(nets, damped=False)),
        **contrasts,
    }


def _by_sweep(material: Material) -> Iterator[Claim]:
    for sweep, told in SWEEPS.items():
        nets = Nets(material, sweep)
        for name in ("regret", "damped_regret", *(f"{one}_contrast" for one in FLATNESS)):
            says, measured = _quantities(nets)[name]
            claim = _goes_with(nets, f"{name}_{sweep}", says, measured, f"over the nets of {told}")
            yield replace(claim, ours=name in OURS)


def _better(nets: Nets) -> Iterator[Claim]:
    error, rho = from_summary(nets, "test_error"), within_realizations(spearman)
    for flatness, says in FLATNESS.items():
        contrast, alone = (of_flatness(nets, name, flatness) for name in ("contrast", "of_mean"))
        yield nets.claim(
            f"{flatness}_better",
            "how flatness is affected by subsampling says more than flatness of the average loss",
            f"size of Spearman's coefficient of contrastive flatness by {says} with the test error,"
            " less that of the flatness itself, over all nets in each realization; mean"
            " over these",
            TIGHTER,
            lambda x, y, z: abs(rho(x, z)) - abs(rho(y, z)),
            contrast.values,
            alone.values,
            error.values,
            settled=(contrast.settled, alone.settled),
        )


def _goes_with(nets: Nets, name: str, says: str, measured: Quantity, over: str) -> Claim:
    return nets.claim(
        name,
        f"the smaller {says}, the better a net generalizes",
        f"Spearman's coefficient of {says} with the test error, {over} in each realization;"
        " mean over these",
        CORRELATED["spearman"],
        within_realizations(spearman),
        measured.values,
        from_summary(nets, "test_error").values,
        settled=(measured.settled,),
    )
