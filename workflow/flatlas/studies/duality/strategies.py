"""Claims about a layer over one sweep, and the paper's two ways to a smaller gap (Fig. S7).

Solutions become flatter (Figures 3 and S9) or smaller (Figures 4 and S12).
"""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flatlas.claims.claim import Claim, Criterion
from flatlas.claims.conventions import ABOUT_HALF, BARELY, BARELY_OFF, FALLING, MOSTLY, RISING
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.duality.directions import (
    SHARPEST,
    by_stretch,
    counted,
    counted_each,
    flat,
    live,
    logs,
    moved,
    sharpest,
)
from flatlas.studies.duality.swept import varied
from flatlas.studies.duality.trends import (
    Statistic,
    change,
    ratio,
    share_of_a_fall,
    share_of_a_rise,
    trend,
)

# The study's names of the pairs of hidden layers of the deep net, and their names in claims.
PAIRS = {"hidden": "first", "second": "second", "third": "third"}
ENDS = "from the first value to the last"
WITHIN = "directions that hold 99 % of ΔL"


@dataclass(frozen=True)
class Layer:
    """One layer's nets over the sweep `varying`, and the claims that several figures share.

    `name` begins the names of these claims, `where` ends their sentences. `measure` is the study's
    name of the layer's duality. The sweep's values ascend, or have the `order` that is given.
    """

    material: Material
    varying: str
    name: str
    measure: str = "hidden"
    where: str = ""
    order: tuple[Hashable, ...] = ()

    @cached_property
    def sweep(self) -> Sweep:
        """The nets, by the values of the swept key."""
        return Sweep(self.material, self.varying, varied(self.varying)[0], self.order)

    @property
    def symbol(self) -> str:
        """The symbol of what is swept."""
        return varied(self.varying)[1]

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

    @cached_property
    def correlation(self) -> np.ndarray:
        """The mean c_n of each net, as (realizations, values).

        It is the mean over those ranks that hold 99 % of ΔL at every value: where c_n falls with n,
        a mean over more directions at one value than at another would seem to change.
        """
        gap = self.directions("gap")
        last = int(counted_each(mean(gap)).sum(-1).min(initial=gap.shape[-1]))
        alive = np.isfinite(live(self.directions("sigma_g")))
        c = np.where(alive, self.directions("correlation"), np.nan)
        return mean(by_stretch(c, max(last, 1)), -1)

    def claim(
        self,
        name: str,
        says: str,
        quantity: str,
        criterion: Criterion,
        statistic: Statistic,
        *measured: np.ndarray,
        paper: str = "",
    ) -> Claim:
        """A claim about the nets of the sweep, in this layer."""
        name, says = f"{self.name}_{name}", says + self.where
        return self.sweep.claim(name, says, quantity, criterion, statistic, *measured, paper=paper)

    def changes(
        self,
        name: str,
        says: str,
        what: str,
        criterion: Criterion,
        over: np.ndarray,
        statistic: Statistic = change,
    ) -> Claim:
        """A quantity changes, or barely does, from the first value to the last."""
        return self.claim(name, says, f"relative change of {what}", criterion, statistic, over)

    def stays(self, name: str, what: str, over: np.ndarray) -> Claim:
        """A quantity barely moves."""
        says = f"{what} barely moves as {self.symbol} rises"
        return self.changes(name, says, f"mean {what} {ENDS}", BARELY, over)

    def follows(self, name: str, what: str, over: np.ndarray, rises: bool) -> Claim:
        """A quantity rises or falls with the swept value, over all of its values."""
        return self.claim(
            name,
            f"{what} {'rises' if rises else 'falls'} as {self.symbol} rises",
            f"rank correlation of mean {what} with {self.symbol}",
            RISING if rises else FALLING,
            trend(self.sweep.values),
            over,
        )

    def keeps_spectrum(self, name: str, which: str, over: np.ndarray) -> Claim:
        """Part of the σ_g spectrum, or all of it, barely moves."""
        return self.claim(
            name,
            f"the σ_g spectrum{which} barely moves as {self.symbol} rises",
            f"geometric mean factor by which σ_g moves, up or down, less 1; {ENDS}, over"
            f" half-decades of rank{which}, {WITHIN}",
            BARELY_OFF,
            moved,
            over,
        )

    def lies_in(self, name: str, part: str, over: np.ndarray, rises: bool) -> Claim:
        """ΔL rises or falls with the swept value, mostly through one of its parts."""
        way, other = ("rises", "falls") if rises else ("falls", "rises")
        return self.claim(
            name,
            f"as {self.symbol} rises, ΔL {way} mostly by {part}",
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


def flatter_solutions(
    material: Material, rates: str, batches: str, half: str = ""
) -> Iterator[Claim]:
    """Figure 3's claims about a sweep over learning rates and one over batch sizes.

    `half` is what the paper says of this net's ten sharpest directions, if it does.
    """
    alpha, batch = Layer(material, rates, "alpha"), Layer(material, batches, "batch")
    yield from alpha.flatter(rises=False)
    yield from batch.flatter(rises=True)
    yield alpha.sweep.claim(
        "half",
        "about half of ΔL comes from the 10 sharpest directions",
        "share of the directions n ≤ 10 in mean ΔL at the largest α",
        ABOUT_HALF,
        lambda sharp, whole: ratio(sharp[..., -1], whole[..., -1]),
        alpha.directions("gap")[..., :SHARPEST].sum(-1),
        alpha.net("dual_gap"),
        paper=half,
    )


def smaller_solutions(material: Material, decays: str, scales: str) -> Iterator[Claim]:
    """Figure 4's claims about a sweep over rates of weight decay and one over initial scales."""
    decay = Layer(material, decays, "decay")
    yield from decay.smaller(rises=False)
    yield decay.stays("gap_sharp", "ΔL_s", decay.net("gap_sharp"))
    yield from Layer(material, scales, "init").smaller(rises=True)


def layer_pairs(material: Material, sweep: str) -> list[Layer]:
    """The three pairs of hidden layers of the deep net (Figs. S9, S12)."""
    return [
        Layer(material, sweep, place, measure, f", in the {place} pair of hidden layers")
        for measure, place in PAIRS.items()
    ]
