"""How a quantity ranks nets by their generalization gap, and claims on that."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

import pandas as pd

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.nets import trusted, unsettled
from flatlas.evidence.atlas import QUANTITIES, once, settled
from flatlas.statistics.estimate import Estimate


@dataclass(frozen=True)
class Ranked:
    """The nets of which a quantity is known, and all that it is `given`."""

    name: str
    known: pd.DataFrame

    @classmethod
    def of(cls, table: pd.DataFrame, name: str, given: Iterable[str] = ()) -> "Ranked":
        """From all nets, a row each or more."""
        return cls(name, once(table.dropna(subset=[name, *given])))

    def claim(
        self,
        name: str,
        says: str,
        quantity: str,
        criterion: Criterion,
        found: Estimate,
        missing: str = "",
    ) -> Claim:
        """A claim on a coefficient that was `found` over these nets, or what of it is `missing`."""
        tested = QUANTITIES[self.name].tested
        quantity += f"; it knows {tested}" if tested else ""
        searches = [self.known[settled(self.name)].to_numpy(float)] if self._searched else []
        known = isfinite(found.low)
        few = "" if known else f"No interval, of {self.known['run'].nunique()} runs."
        note = " ".join(filter(None, [few, missing, unsettled(searches)]))
        complete = known and not missing and trusted(searches)
        return Claim(name, says, quantity, criterion, found, note=note, complete=complete)

    @property
    def _searched(self) -> bool:
        return QUANTITIES[self.name].searched
