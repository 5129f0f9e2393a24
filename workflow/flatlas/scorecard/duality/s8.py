"""Figure S8: where the sharp directions end."""

from flatlas.scorecard.claims import Claim
from flatlas.scorecard.conventions import NEAR_TEN
from flatlas.scorecard.nets import Sweep
from flatlas.statistics.means import mean
from flatlas.store.material import Material

SWEEPS = {
    "alpha": ("optimizer.lr", "α"),
    "batch": ("batch", "B"),
    "decay": ("penalty.coefficient", "β"),
    "init": ("net.init.scale", "s"),
}


def judge(material: Material) -> list[Claim]:
    """One claim a sweep."""
    return [
        sweep.claim(
            name,
            f"n_s is near 10, whatever {symbol}",
            f"mean n_s over the values of {symbol}",
            NEAR_TEN,
            lambda over: mean(mean(over), -1),
            sweep.read("hidden_summary", "n_sharp"),
            paper="10",
        )
        for name, (key, symbol) in SWEEPS.items()
        for sweep in [Sweep(material, name, key)]
    ]
