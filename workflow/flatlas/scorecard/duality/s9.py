"""Figure S9: smaller batches find flatter solutions in every layer."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.duality.strategies import Layer
from flatlas.scorecard.nets import Sweep
from flatlas.store.material import Material

LAYERS = {"hidden": "first", "second": "second", "third": "third"}


def judge(material: Material) -> list[Claim]:
    """Figure 3's claims of the batch size, for each of the three pairs of hidden layers."""
    sweep = Sweep(material, "batch_deep", "batch")
    layers = [
        Layer(sweep, "B", place, measure, f", in the {place} pair of hidden layers")
        for measure, place in LAYERS.items()
    ]
    return [claim for layer in layers for claim in layer.flatter(rises=True)]
