"""Claims on how a quantity ranks nets by their generalization gap."""

from dataclasses import replace
from math import isfinite

import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.claims.nets import trusted, unsettled
from flatlas.studies.atlas.nets import once
from flatlas.studies.atlas.quantities import QUANTITIES, settled


def on_ranks(claim: Claim, name: str, table: pd.DataFrame, *given: str, missing: str = "") -> Claim:
    """A claim on a coefficient of a quantity, with notes on the nets of a table behind it.

    These are the nets whose quantity, and all that is `given`, are known. `missing` says what else
    the coefficient lacks.
    """
    quantity, nets = QUANTITIES[name], once(table.dropna(subset=[name, *given]))
    knows = f"; it knows {quantity.tested}" if quantity.tested else ""
    searches = [nets[settled(name)].to_numpy(float)] if quantity.searched else []
    known = isfinite(claim.estimate.low)
    few = "" if known else f"No interval, of {nets['run'].nunique()} runs."
    return replace(
        claim,
        quantity=claim.quantity + knows,
        note=" ".join(filter(None, [few, missing, unsettled(searches)])),
        complete=known and not missing and trusted(searches),
        ours=True,
    )
