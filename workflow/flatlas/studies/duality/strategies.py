"""The two strategies that lower the gap (Fig. S7), as claims of a sweep: flatter, and smaller.

Figures 3, 4, S9, S12 and their counterparts on CIFAR-10 judge sweeps by the same claims.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, BARELY_OFF, FALLING, MOSTLY, RISING
from flatlas.claims.nets import Sweep
from flatlas.studies.duality.spectra import (
    by_stretch,
    counted,
    flat,
    logs,
    moved,
    sharpest,
)
from flatlas.studies.duality.trends import (
    change,
    share_of_a_fall,
    share_of_a_rise,
    trend,
)

# The study's names of the layer pairs of the net of four hidden layers, and which they are.
PAIRS = {"hidden": "first", "second": "second", "third": "third"}
ENDS = "from the first value to the last"
WITHIN = "directions that hold 99 % of ΔL"


@dataclass(frozen=True)
class Layer:
    """One layer's nets over one sweep, and the claims that several figures make of them.

    `symbol` is the swept quantity's, `name` begins the names of the claims, `measure` is the
    study's name of the layer's duality, and `where` says in words which layer it is.
    """

    sweep: Sweep
    symbol: str
    name: str
    measure: str = "hidden"
    where: str = ""

    def net(self, column: str) -> np.ndarray:
        """One number a net, as (realizations, values)."""
        return self.sweep.read(f"{self.measure}_summary", column)

    def directions(self, column: str) -> np.ndarray:
        """A spectrum, as (realizations, values, directions)."""
        return self.sweep.read(f"{self.measure}_directions", column, "n")

    @cached_property
    def last(self) -> int:
        """The last direction that counts."""
        return counted(self.directions("gap"))

    @cached_property
    def sharpness(self) -> np.ndarray:
        """log σ_g,n."""
        return logs(self.directions("sigma_g"))

    def follows(self, name: str, what: str, over: np.ndarray, rises: bool) -> Claim:
        """A quantity rises or falls with the swept value, over all of its values."""
        return self.sweep.claim(
            f"{self.name}_{name}",
            f"{what} {'rises' if rises else 'falls'} as {self.symbol} rises{self.where}",
            f"rank correlation of mean {what} with {self.symbol}",
            RISING if rises else FALLING,
            trend(self.sweep.values),
            over,
        )

    def stays(self, name: str, what: str, over: np.ndarray) -> Claim:
        """A quantity barely moves."""
        return self.sweep.claim(
            f"{self.name}_{name}",
            f"{what} barely moves as {self.symbol} rises{self.where}",
            f"relative change of mean {what} {ENDS}",
            BARELY,
            change,
            over,
        )

    def keeps_spectrum(self, name: str, which: str, over: np.ndarray) -> Claim:
        """A stretch of the σ_g spectrum barely moves."""
        return self.sweep.claim(
            f"{self.name}_{name}",
            f"the σ_g spectrum{which} barely moves as {self.symbol} rises{self.where}",
            f"geometric mean factor by which σ_g moves, up or down, less 1; {ENDS}, over"
            f" half-decades of rank{which}, {WITHIN}",
            BARELY_OFF,
            moved,
            over,
        )

    def lies_in(self, name: str, part: str, over: np.ndarray, rises: bool) -> Claim:
        """ΔL rises or falls with the swept value, and that is one part's doing."""
        way, other = ("rises", "falls") if rises else ("falls", "rises")
        return self.sweep.claim(
            f"{self.name}_{name}",
            f"as {self.symbol} rises, ΔL {way} mostly by {part}{self.where}",
            f"share of {part} in the change of ΔL {ENDS}; below 0 where ΔL {other}",
            MOSTLY,
            share_of_a_rise if rises else share_of_a_fall,
            over,
            self.net("dual_gap"),
        )

    def flatter(self, rises: bool) -> Iterator[Claim]:
        """ΔL follows σ_g of the sharp directions, and nothing else moves (Fig. 3)."""
        sharp = sharpest(self.sharpness)
        yield self.follows("gap", "ΔL", self.net("dual_gap"), rises)
        yield self.lies_in("gap_sharp", "ΔL_s", self.net("gap_sharp"), rises)
        yield self.stays("gap_flat", "ΔL_f", self.net("gap_flat"))
        yield self.stays("size", "S_w", self.net("S_w"))
        yield self.follows("sharpness_sharp", "log σ_g of the 10 sharpest directions", sharp, rises)
        beyond = flat(self.sharpness, self.last)
        yield self.keeps_spectrum("sharpness_flat", " beyond n = 10", beyond)

    def smaller(self, rises: bool) -> Iterator[Claim]:
        """ΔL follows the size through the flat directions; σ_g does not move (Fig. 4)."""
        yield self.keeps_spectrum("sharpness", "", by_stretch(self.sharpness, self.last))
        yield self.follows("size", "S_w", self.net("S_w"), rises)
        yield self.follows("gap", "ΔL", self.net("dual_gap"), rises)
        yield self.lies_in("gap_flat", "ΔL_f", self.net("gap_flat"), rises)


def layer_pairs(sweep: Sweep, symbol: str) -> list[Layer]:
    """The three pairs of hidden layers of the deeper net (Figs. S9, S12)."""
    return [
        Layer(sweep, symbol, place, measure, f", in the {place} pair of hidden layers")
        for measure, place in PAIRS.items()
    ]
