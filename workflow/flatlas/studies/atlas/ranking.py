"""How a quantity ranks nets by their generalization gap, and claims about that."""

from collections.abc import Iterable
from dataclasses import replace
from math import isfinite

import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.claims.trust import trusted, unsettled
from flatlas.statistics.estimate import Estimate
from flatlas.statistics.more_realizations import student
from flatlas.statistics.rank_correlation import tau
from flatlas.studies.atlas.nets import GAP, STUDY, Along, once
from flatlas.studies.atlas.quantities import BASELINES, MEASURES, QUANTITIES, settled

# Parts that only some nets have. `valley` needs a recording, so its claims are about the axis of
# recorded nets alone. Chains are too slow for every net.
OF_SOME_NETS = ("valley", "learning_coefficient")
# The measures that every net has.
ASKED = {name: measure for name, measure in MEASURES.items() if measure.part not in OF_SOME_NETS}
# The mean gap of the other realizations with the same settings, ranked like a measure. It knows the
# expected gap of a setting, but nothing about a realization. Few measures can do better.
REPEATED = "repeated"


def ranked(some: Along, name: str, given: Iterable[str] = ()) -> Estimate:
    """Kendall's τ of a quantity with the gap, over the nets that may be compared."""
    return tau(some.nets, name, GAP, some.settings, some.realizations, given)


def with_repeated(some: Along) -> Along:
    """The same nets, each with the mean gap of the other realizations with all its settings."""
    gaps = some.nets[GAP].groupby([some.contexts, some.values])
    others = (gaps.transform("sum") - some.nets[GAP]) / (gaps.transform("count") - 1)
    return replace(some, nets=some.nets.assign(**{REPEATED: others}))


def label_of(name: str) -> str:
    """The name of a quantity in figures, or that of the gap of the other realizations."""
    return "gap of other realizations" if name == REPEATED else QUANTITIES[name].label


def by_size(numbers: pd.Series) -> list[str]:
    """The baselines, then the measures that are asked about, by descending number."""
    groups = [numbers.reindex([*group]) for group in (BASELINES, ASKED)]
    return [name for one in groups for name in one.sort_values(ascending=False).index]


def ranks_pairs(words: str) -> str:
    """The sentence of a claim that a quantity's coefficient is USEFUL."""
    return f"the {words} ranks at least 2 of 3 pairs as the gap"


def on_ranks(claim: Claim, name: str, table: pd.DataFrame, *given: str, missing: str = "") -> Claim:
    """A claim on a number of a quantity, with notes on the nets of a table behind it.

    These are the nets whose quantity and all `given` quantities are known. `missing` says what else
    the number lacks.
    """
    quantity, nets = QUANTITIES[name], once(table.dropna(subset=[name, *given]))
    searches = [nets[settled(name)].to_numpy(float)] if quantity.searched else []
    known = isfinite(claim.estimate.low)
    few = "" if known else f"No interval, of {len(nets)} networks."
    knows = f"; it knows {quantity.tested}" if quantity.tested else ""
    return replace(
        claim,
        quantity=claim.quantity + knows,
        note=" ".join(filter(None, [few, missing, unsettled(searches)])),
        complete=known and not missing and trusted(searches),
        ours=True,
        realizations=len(nets[[STUDY, "seed"]].drop_duplicates()),
        half_width=student,
    )
