"""Figure S19: many training images show the same, and the prior goes tighter."""

from collections.abc import Iterator

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import TIGHTER
from flatlas.scorecard.nets import Nets
from flatlas.scorecard.prior.correlations import Pair, compared
from flatlas.scorecard.prior.systems import looser_flatness, prior_pair, tight_prior
from flatlas.store.material import Material

MANY, FEW = "many_images", "sgd"


def judge(material: Material) -> list[Claim]:
    """By themselves, and against the sweep of Figure 3."""
    return [
        *tight_prior(material, MANY),
        *looser_flatness(material, MANY),
        *_tighter(Nets(material)),
    ]


def _tighter(nets: Nets) -> Iterator[Claim]:
    """Both sweeps as one, so that their realizations are drawn together."""
    whole, sweep_of = prior_pair(nets), nets.outcomes.set_index("run")["sweep"].to_dict()
    many, few = (
        Pair(whole.x[:, here], whole.y[:, here], f"{whole.name} with {called} images")
        for sweep, called in ((MANY, "many"), (FEW, "few"))
        for here in [[sweep_of.get(run) == sweep for run in nets.values]]
    )
    says = "with more training images P(f) correlates tighter with generalization"
    return compared(nets, "tighter", says, TIGHTER, many, few)
