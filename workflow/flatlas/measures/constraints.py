"""Constraints that hold a layer near w1 while it learns a second task, by direction (§V).

The cost is λ Σ_{i ≤ N_c} (Δw·p_i)² / F_i² with Δw = w − w1 (Eq. 15). Landscape-dependent
constraints use the principal directions of task-1 and the flatness F_i along them. Elastic weight
constraints use single weights, by descending Fisher information F_jj, and F_jj^(-1/2) in place of
F_i.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import e

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.curvature import hessian
from flatlas.measures.landscape import interval, mirrored
from flatlas.measures.principal import Principal, principal_of
from flatlas.measures.solution import Solution

# The paper's exponent of σ² ∝ F^-ψ (Eq. 8), and the ranks at which F_i is measured to find the
# factor. They spread over the power law and leave out the first, along which the weights drift.
PSI = 4
CALIBRATED = (2, 5, 10, 20, 50, 100, 200)
# Directions processed at a time: for a layer of 2,500 weights they take 1.3 MB.
BAND = 64

# Applies a step of the cost to displacements (points, weights).
CostStep = Callable[[Tensor], None]


@dataclass(frozen=True)
class _Constraints:
    """The `flatness` of each direction, most important first; `known` says if a search found it."""

    flatness: Tensor
    known: Tensor

    def shares(self, strengths: Tensor, counts: Tensor, lr: float) -> Tensor:
        """The share of each component that a step at rate α removes (points, directions).

        For a cost k q² / 2 with k = 2 λ / F², an implicit step, which takes the slope where it
        ends, leaves q / (1 + α k). An explicit step would leave (1 - α k) q and diverge along any
        direction with α k > 2. Both have the same fixed point.
        """
        steepness = 2 * lr * strengths.unsqueeze(1) / self.flatness.square()
        ranks = torch.arange(len(self.flatness), device=self.flatness.device)
        return torch.where(ranks < counts.unsqueeze(1), steepness / (1 + steepness), 0.0)


@dataclass(frozen=True)
class LandscapeDependent(_Constraints):
    """Constraints along the principal directions p_i, a row each."""

    directions: Tensor

    def components(self, displacements: Tensor) -> Tensor:
        """θ_i for each row of displacements (points, weights)."""
        return displacements @ self.directions.T

    def cost_step(self, strengths: Tensor, counts: Tensor, lr: float) -> CostStep:
        """Apply the cost in bands of directions that fit into a core's cache.

        A band is processed only for the points that constrain it: the first ones in descending
        order of N_c.
        """
        order = counts.argsort(descending=True, stable=True)
        shares = self.shares(strengths, counts, lr)[order]
        ends = {int(count) for count in counts.tolist()} | set(range(0, int(counts.max()), BAND))
        bands = []
        for begin, end in pairwise(sorted({0, *ends})):
            points, band = int((counts >= end).sum()), slice(begin, end)
            bands.append((points, self.directions[band], shares[:points, band]))

        def apply(displacements: Tensor) -> None:
            ordered = displacements[order]
            for points, directions, removed in bands:
                some = ordered[:points]
                some.addmm_((some @ directions.T).mul_(removed), directions, alpha=-1)
            displacements[order] = ordered

        return apply


@dataclass(frozen=True)
class Elastic(_Constraints):
    """Constraints on single weights, by position in the flattened layer of `size` weights."""

    weights: Tensor
    size: int

    def components(self, displacements: Tensor) -> Tensor:
        """The displacement of each constrained weight."""
        return displacements[:, self.weights]

    def cost_step(self, strengths: Tensor, counts: Tensor, lr: float) -> CostStep:
        """Multiply each weight by the share that a step leaves."""
        shares = self.shares(strengths, counts, lr)
        left = shares.new_ones(len(shares), self.size).index_copy_(1, self.weights, 1 - shares)

        def apply(displacements: Tensor) -> None:
            displacements.mul_(left)

        return apply


Constraints = LandscapeDependent | Elastic


def landscape_dependent(
    solution: Solution, layer: str, count: int, flatness: str
) -> LandscapeDependent:
    """Constraints along the first p_i of the recording, with F_i `measured` or from the `variance`.

    F_i is the width of the interval around w1 in which the loss of task-1 grows by at most a factor
    e. If one side has no end, as along a drift, F_i is twice the other side; if neither has, F_i is
    infinite. From the variance, F_i = κ σ_i^(-2/ψ), where ln κ is the mean over a few measured
    ranks.
    """
    found = principal_of(solution, layer, count)
    if flatness == "measured":
        widths, known = _widths(solution, layer, found, slice(None))
        return LandscapeDependent(widths, known, found.directions)
    places = [rank - 1 for rank in CALIBRATED if rank <= count] or [0]
    widths, known = _widths(solution, layer, found, places)
    power = found.variances.pow(-1 / PSI)
    usable = known & widths.isfinite() & power[places].isfinite()
    if not usable.any():
        raise FlatlasError(
            "flatness is 'variance', but no valley ends along the directions that its factor is "
            f"taken from (ranks {', '.join(str(place + 1) for place in places)}): use 'measured'."
        )
    factor = (widths / power[places])[usable].log().mean().exp()
    return LandscapeDependent(factor * power, known.all().expand(count), found.directions)


def elastic(solution: Solution, layer: str, count: int) -> Elastic:
    """Constraints on the weights with the largest Fisher information on task-1's training images.

    The Fisher information is the exact mean over all classes with the net's own probabilities. The
    logits are piecewise linear in one layer's weights, so it equals the Hessian.
    """
    diagonal = hessian(solution, layer, solution.into(layer, solution.inputs)).diagonal()
    if count > len(diagonal):
        raise FlatlasError(
            f"directions is {count}, but '{layer}' has {len(diagonal)} weights: "
            "give a number up to that."
        )
    information, weights = diagonal.clamp_min(0).sort(descending=True, stable=True)
    flatness = information[:count].rsqrt()
    known = torch.ones_like(flatness, dtype=torch.bool)
    return Elastic(flatness, known, weights[:count], len(diagonal))


def _widths(
    solution: Solution, layer: str, found: Principal, places: slice | list[int]
) -> tuple[Tensor, Tensor]:
    """F_i of some directions, and whether each end was found or is known not to exist."""
    activity = solution.into(layer, solution.inputs)
    some = found.directions[places]
    shape = solution.net.dense(layer).fans
    left, right = interval(solution, layer, activity, some.reshape(-1, *shape), e)
    # The cost is symmetric, so it uses the side that has an end.
    low, high = mirrored(left, right)
    known = [end.converged | end.at.isnan() for end in (left, right)]
    return (high - low).nan_to_num(nan=torch.inf), known[0] & known[1]
