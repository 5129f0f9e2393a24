"""Figure 4: landscape-dependent constraints (LDC) keep task-1, elastic ones (EWC) less so."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import (
    ALL,
    BARELY_OFF,
    BOUNDED,
    LESS,
    MORE,
    MOSTLY,
    NEAR_TWO_HUNDRED,
)
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean

# The constraints of panels C and D, and the threshold of B and D.
STRENGTH, COUNT, THRESHOLD = 10, 200, 0.008
# 'Reaches its optimal level': but for a tenth of the way from nothing held, as 'barely'.
REACHED = 0.9
FLATNESS = {"ldc": "F_i as measured", "ldc_variance": "F_i from the variances"}


@dataclass(frozen=True)
class Method:
    """What one measure found: arrays (realizations, λ, N_c), NaN but for N_c = 0 where λ = 0."""

    nets: Nets
    name: str

    @cached_property
    def strengths(self) -> np.ndarray:
        """The values of λ, ascending from 0."""
        return np.array(self.nets.levels(f"{self.name}_points", "strength"), dtype=float)

    @cached_property
    def counts(self) -> np.ndarray:
        """The values of N_c, ascending from 0."""
        return np.array(self.nets.levels(f"{self.name}_points", "directions"), dtype=float)

    def read(self, column: str) -> np.ndarray:
        """One quantity of the saturated state; the mean over runs, where a user has several."""
        found = self.nets.read(f"{self.name}_points", column, "strength", "directions")
        return mean(found, 1)

    def starts(self) -> np.ndarray:
        """ε1 before task-2 is learnt."""
        table = f"{self.name}_errors"
        found = self.nets.read(table, "epsilon_1", "strength", "directions", "time")
        return mean(mean(found, 1)[:, :1, :1, :1].reshape(len(found), -1), -1)

    @property
    def free(self) -> np.ndarray:
        """Where nothing is held: a mask of (λ, N_c)."""
        return np.outer(self.strengths == 0, self.counts == 0)

    def held(self, strength: float, count: float) -> np.ndarray:
        """The point nearest to these values: a mask of (λ, N_c)."""
        return np.outer(_nearest(self.strengths, strength), _nearest(self.counts, count))


def judge(material: Material) -> list[Claim]:
    """Panels A and C; B and D; E; F."""
    nets = Nets(material)
    ldc, ewc = Method(nets, "ldc"), Method(nets, "ewc")
    claims = [*_forgetting(nets, ldc), *_displacements(nets, ldc)]
    for name, flatness in FLATNESS.items():
        claims.append(_trade_off(nets, Method(nets, name), ewc, flatness))
    return [*claims, *_optimum(nets, ldc, ewc)]


def _forgetting(nets: Nets, ldc: Method) -> list[Claim]:
    held = ldc.held(STRENGTH, COUNT)
    epsilon_1, epsilon_2 = ldc.read("epsilon_1"), ldc.read("epsilon_2")
    settled = [_at(ldc.read("converged"), mask) for mask in (ldc.free, held)]
    start = ldc.starts()
    lost = _at(epsilon_1, ldc.free) - start
    left = _at(epsilon_1, held) - start
    cost = _at(epsilon_2, held) - _at(epsilon_2, ldc.free)
    return [
        nets.claim(
            "forgotten",
            "without constraints, learning task-2 makes the error of task-1 rise",
            "rise of ε1 while task-2 is learnt with λ = 0; mean over nets",
            MORE,
            mean,
            lost,
            settled=settled[:1],
        ),
        nets.claim(
            "kept",
            "with λ = 10 on 200 directions the error of task-1 remains about what it was",
            "rise of ε1 with these constraints, relative to that without; of means over nets",
            BARELY_OFF,
            _ratio,
            left,
            lost,
            settled=settled,
        ),
        nets.claim(
            "learnt",
            "with these constraints, task-2 is learnt to a comparable error",
            "rise of ε2 by these constraints, relative to that of ε1 without; of means over nets",
            BARELY_OFF,
            _ratio,
            cost,
            lost,
            settled=settled,
        ),
    ]


def _displacements(nets: Nets, ldc: Method) -> list[Claim]:
    """Of the directions along which the valley ends somewhere."""
    axes = "strength", "directions", "rank"
    q, flatness, known = (
        mean(nets.read("ldc_displacements", column, *axes), 1)
        for column in ("q", "flatness", "converged")
    )
    told = np.isfinite(q) & np.isfinite(flatness)
    beyond = np.where(told, q > THRESHOLD * flatness, np.nan)[..., :COUNT]
    free, held = (
        _at(np.moveaxis(values, -1, 1), mask)
        for values, mask in ((beyond, ldc.free), (1 - beyond, ldc.held(STRENGTH, COUNT)))
    )
    settled = (_at(np.moveaxis(known[..., :COUNT], -1, 1), ldc.free),)
    return [
        nets.claim(
            "beyond",
            "without constraints, the displacement q_i goes far beyond 0.008 F_1i in many of the"
            " first directions",
            "share of the first 200 directions with q_i > 0.008 F_1i; mean over nets",
            MOSTLY,
            mean,
            mean(free, -1),
            settled=settled,
        ),
        nets.claim(
            "bounded",
            "with λ = 10 on 200 directions, q_i is bounded by 0.008 F_1i in these",
            "share of the first 200 directions with q_i ≤ 0.008 F_1i; mean over nets",
            BOUNDED,
            mean,
            mean(held, -1),
            settled=settled,
        ),
    ]


def _trade_off(nets: Nets, ldc: Method, ewc: Method, flatness: str) -> Claim:
    """The paper's curves go by λ; LDC holds 200 directions, EWC all weights."""
    curves = [
        [method.read(column)[:, mask] for column in ("epsilon_2", "epsilon_1")]
        for method, mask in (
            (ldc, ldc.free | _row(ldc, _nearest(ldc.counts, COUNT))),
            (ewc, ewc.free | _row(ewc, ewc.counts == ewc.counts.max(initial=0))),
        )
    ]
    return nets.claim(
        f"{ldc.name}_below",
        f"LDC trades ε1 for ε2 better than EWC ({flatness})",
        "least ε1 of LDC at no more than a given ε2, less that of EWC; mean over all ε2 that"
        " either has at some λ, and over nets",
        LESS,
        mean,
        mean(_gaps(*curves), -1),
        settled=[method.read("converged") for method in (ldc, ewc)],
    )


def _gaps(one: list[np.ndarray], other: list[np.ndarray]) -> np.ndarray:
    """How far, at each ε2 of either curve, the first has the lower ε1; NaN where one has none."""
    levels = np.concatenate([one[0], other[0]], axis=-1)

    def least(curve: list[np.ndarray]) -> np.ndarray:
        epsilon_2, epsilon_1 = (values[:, np.newaxis] for values in curve)
        reached = epsilon_2 <= levels[..., np.newaxis]
        return np.min(np.where(reached, epsilon_1, np.inf), axis=-1, initial=np.inf)

    with np.errstate(invalid="ignore"):
        gaps = least(one) - least(other)
    return np.where(np.isfinite(gaps), gaps, np.nan)


def _optimum(nets: Nets, ldc: Method, ewc: Method) -> list[Claim]:
    totals = [method.read("epsilon_1") + method.read("epsilon_2") for method in (ldc, ewc)]
    settled = [[method.read("converged")] for method in (ldc, ewc)]
    how = "where ε1 + ε2, at the best λ, has come nine tenths of the way to its optimum"
    return [
        nets.claim(
            "few_directions",
            "LDC reaches its optimal level with about 200 constrained directions",
            f"N_c {how}; of means over nets",
            NEAR_TWO_HUNDRED,
            _reached(ldc.counts),
            totals[0],
            paper="200",
            settled=settled[0],
        ),
        nets.claim(
            "all_weights",
            "EWC needs all weights to be constrained",
            f"N_c {how}, as a share of all that are constrained at most; of means over nets",
            ALL,
            _reached(ewc.counts / ewc.counts.max(initial=1)),
            totals[1],
            paper="1",
            settled=settled[1],
        ),
    ]


def _reached(counts: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The first of the `counts` at which the best λ has an ε1 + ε2 near the least of all."""

    def statistic(totals: np.ndarray) -> np.ndarray:
        means = mean(totals)
        best = np.min(np.where(np.isnan(means), np.inf, means), axis=-2)
        with np.errstate(invalid="ignore"):
            goal = best[..., :1] + REACHED * (best.min(-1, keepdims=True) - best[..., :1])
        first = np.argmax(best <= goal, axis=-1)
        return np.where(np.isfinite(best.min(-1)), counts[first], np.nan)

    return statistic


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Of the means; unknown where nothing is forgotten, and so there is nothing to keep."""
    total = mean(whole)
    with np.errstate(invalid="ignore"):
        return np.asarray(mean(part) / np.where(total > 0, total, np.nan))


def _nearest(values: np.ndarray, wanted: float) -> np.ndarray:
    """A mask of the positive value that is nearest, by its ratio."""
    with np.errstate(divide="ignore"):
        apart = np.abs(np.log(values / wanted))
    return (values > 0) & (apart == apart.min(initial=np.inf))


def _row(method: Method, counts: np.ndarray) -> np.ndarray:
    """All strengths, at some of the counts."""
    return np.outer(method.strengths > 0, counts)


def _at(values: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """What stands at the one point of the last two axes; NaN where there is none."""
    return mean(values[..., mask], -1)
