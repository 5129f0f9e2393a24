"""The nets of a sweep or of several, and the claims about a layer that several figures share."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flatlas.claims.claim import Claim, Claims, Criterion
from flatlas.claims.conventions import BARELY, BARELY_OFF, FALLING, MOSTLY, RISING
from flatlas.claims.nets import Nets, Sweep
from flatlas.claims.trust import lacking
from flatlas.evidence.material import Material
from flatlas.statistics.estimate import UNKNOWN, least_share
from flatlas.statistics.means import mean
from flatlas.statistics.pooling import Statistic
from flatlas.statistics.trends import change, share_of_a_fall, share_of_a_rise, trend
from flatlas.studies.duality import directions
from flatlas.studies.duality.swept import varied

ENDS = "from the first value to the last"
WITHIN = "directions that hold 99 % of ΔL"


@dataclass(frozen=True)
class Layer:
    """One layer's nets over the sweep `varying`.

    `measure` is the study's name for the layer's duality. The sweep's values ascend, or have the
    given `order`.
    """

    material: Material
    varying: str
    measure: str = "hidden"
    order: tuple[Hashable, ...] = ()

    @cached_property
    def sweep(self) -> Sweep:
        """The nets, by the values of the swept key; claims hold for those with solutions."""
        key, _ = varied(self.varying)
        return Sweep(self.material, self.varying, key, self.order, in_part=True)

    @cached_property
    def whole(self) -> Sweep:
        """The same, for claims about an end of the range: every value needs solutions."""
        return replace(self.sweep, in_part=False)

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
        return directions.counted(self.directions("gap"))

    @cached_property
    def sharpness(self) -> np.ndarray:
        """log σ_g,n."""
        return directions.logs(self.directions("sigma_g"))

    @cached_property
    def correlation(self) -> np.ndarray:
        """The mean c_n of each net, as (realizations, values).

        The mean is over the ranks that hold 99 % of ΔL at every value. Otherwise, as c_n falls with
        n, it would seem to change only because one value has more directions than another.
        """
        gap = self.directions("gap")
        last = int(directions.counted_each(mean(gap)).sum(-1).min(initial=gap.shape[-1]))
        alive = np.isfinite(directions.live(self.directions("sigma_g")))
        c = np.where(alive, self.directions("correlation"), np.nan)
        return mean(directions.by_stretch(c, max(last, 1)), -1)

    def changes(
        self,
        name: str,
        says: str,
        what: str,
        criterion: Criterion,
        over: np.ndarray,
        statistic: Statistic = change,
    ) -> Claim:
        """A claim about the relative change of a quantity from the first value to the last."""
        quantity = f"relative change of {what}"
        return self.sweep.claim(name, says, quantity, criterion, statistic, over)

    def stays(self, name: str, what: str, over: np.ndarray) -> Claim:
        """The claim that a quantity barely moves."""
        says = f"{what} barely moves as {self.symbol} rises"
        return self.changes(name, says, f"mean {what} {ENDS}", BARELY, over)

    def follows(self, name: str, what: str, over: np.ndarray, rises: bool) -> Claim:
        """The claim that a quantity rises or falls with the swept value, over all values."""
        return self.sweep.claim(
            name,
            f"{what} {'rises' if rises else 'falls'} as {self.symbol} rises",
            f"rank correlation of mean {what} with {self.symbol}",
            RISING if rises else FALLING,
            trend(self.sweep.values),
            over,
        )

    def keeps_spectrum(self, name: str, which: str, over: np.ndarray) -> Claim:
        """The claim that the σ_g spectrum, or part of it, barely moves."""
        return self.sweep.claim(
            name,
            f"the σ_g spectrum{which} barely moves as {self.symbol} rises",
            f"geometric mean factor by which σ_g moves, up or down, less 1; {ENDS}, over"
            f" half-decades of rank{which}, {WITHIN}",
            BARELY_OFF,
            directions.moved,
            over,
        )

    def lies_in(self, name: str, part: str, over: np.ndarray, rises: bool) -> Claim:
        """The claim that ΔL rises or falls with the swept value, mostly through one part."""
        way, other = ("rises", "falls") if rises else ("falls", "rises")
        return self.sweep.claim(
            name,
            f"as {self.symbol} rises, ΔL {way} mostly by {part}",
            f"share of {part} in the change of ΔL {ENDS}; below 0 where ΔL {other}",
            MOSTLY,
            share_of_a_rise if rises else share_of_a_fall,
            over,
            self.net("dual_gap"),
        )

    def solved(self) -> Claim:
        """The claim that most trainings give a solution at each value, over all trainings."""
        met = self.sweep.met
        # If no training gave a solution, the trainings failed, and the claim stays undecided.
        number = least_share(met) if (met == 1).any() else UNKNOWN
        return Claim(
            "solved",
            f"at every {self.symbol}, most networks become solutions",
            "share of realizations that meet the stopping rule, at the value of"
            f" {self.symbol} with the fewest",
            MOSTLY,
            number,
            note=" ".join(filter(None, [self.whole.note, lacking(number)])),
            complete=number is not UNKNOWN,
            realizations=len(met),
            half_width=None,
        )

    def flatter(self, rises: bool) -> Claims:
        """The claims that ΔL follows σ_g of the sharp directions, and all else stays (Fig. 3)."""
        sharp = directions.sharpest(self.sharpness)
        yield self.follows("gap", "ΔL", self.net("dual_gap"), rises)
        yield self.lies_in("gap_sharp", "ΔL_s", self.net("gap_sharp"), rises)
        yield self.stays("gap_flat", "ΔL_f", self.net("gap_flat"))
        yield self.stays("size", "S_w", self.net("S_w"))
        yield self.follows("sharpness_sharp", "log σ_g of the 10 sharpest directions", sharp, rises)
        beyond = directions.flat(self.sharpness, self.last)
        yield self.keeps_spectrum("sharpness_flat", " beyond n = 10", beyond)

    def smaller(self, rises: bool) -> Claims:
        """The claims that ΔL follows the size through flat directions, at the same σ_g (Fig. 4)."""
        yield self.keeps_spectrum("sharpness", "", directions.by_stretch(self.sharpness, self.last))
        yield self.follows("size", "S_w", self.net("S_w"), rises)
        yield self.follows("gap", "ΔL", self.net("dual_gap"), rises)
        yield self.lies_in("gap_flat", "ΔL_f", self.net("gap_flat"), rises)


def pooled_words(nets: Nets) -> str:
    """Which nets these are, in the words of claims."""
    return f"nets of the sweeps that are drawn ({', '.join(nets.material.sweeps)})"


def named(name: str, claims: Iterable[Claim], where: str = "") -> Claims:
    """The claims, with `name` before their names and `where` after their sentences."""
    for claim in claims:
        yield replace(claim, name=f"{name}_{claim.name}", says=claim.says + where)
