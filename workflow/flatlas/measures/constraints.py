"""What holds a layer near w1 while it learns a second task: a cost of leaving, by direction (§V).

The cost is λ Σ_{i ≤ N_c} (Δw·p_i)² / F_i² with Δw = w − w1 (Eq. 15). Landscape-dependent
constraints have the principal directions of task-1 and its flatness there; elastic weight
constraints the single weights, the one with the largest Fisher information F_jj first, and
F_jj^(-1/2) in place of F_i.
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

# The paper's exponent of σ² ∝ F^-ψ (Eq. 8), and where F_i is measured to find the factor: ranks
# spread over the power law, without the first, along which the weights drift.
PSI = 4
CALIBRATED = (2, 5, 10, 20, 50, 100, 200)
# Directions that are worked on at a time: of a layer of 2,500 weights they take 1.3 MB.
BAND = 64

Tether = Callable[[Tensor], None]


@dataclass(frozen=True)
class Constraints:
    """The `flatness` of each direction, the foremost first; `known` where a search has found it."""

    flatness: Tensor
    known: Tensor

    def components(self, displacements: Tensor) -> Tensor:
        """Δw·p_i of each row of displacements (points, weights)."""
        raise NotImplementedError

    def tether(self, strengths: Tensor, counts: Tensor, lr: float) -> Tether:
        """What takes from displacements (points, weights), in place, the shares of a step."""
        raise NotImplementedError

    def shares(self, strengths: Tensor, counts: Tensor, lr: float) -> Tensor:
        """What a step at rate α takes away of each component (points, directions).

        Of a cost k q² / 2, with k = 2 λ / F², a step that takes the slope where it ends (an
        implicit one) leaves q / (1 + α k). One that takes the slope where it begins would leave
        (1 - α k) q, and any direction with α k > 2 would run away. Both rest at the same place.
        """
        steepness = 2 * lr * strengths.unsqueeze(1) / self.flatness.square()
        ranks = torch.arange(len(self.flatness), device=self.flatness.device)
        return torch.where(ranks < counts.unsqueeze(1), steepness / (1 + steepness), 0.0)


@dataclass(frozen=True)
class LandscapeDependent(Constraints):
    """Along the principal directions p_i, a row each."""

    directions: Tensor

    def components(self, displacements: Tensor) -> Tensor:
        """θ_i."""
        return displacements @ self.directions.T

    def tether(self, strengths: Tensor, counts: Tensor, lr: float) -> Tether:
        """Bands of directions that stay in a core's cache, one after another.

        A band is worked on only for the points that hold it: the first ones, ordered by N_c.
        """
        order = counts.argsort(descending=True, stable=True)
        shares = self.shares(strengths, counts, lr)[order]
        ends = {int(count) for count in counts.tolist()} | set(range(0, int(counts.max()), BAND))
        bands = []
        for begin, end in pairwise(sorted({0, *ends})):
            points, band = int((counts >= end).sum()), slice(begin, end)
            bands.append((points, self.directions[band], shares[:points, band]))

        def take(displacements: Tensor) -> None:
            ordered = displacements[order]
            for points, directions, taken in bands:
                some = ordered[:points]
                some.addmm_((some @ directions.T).mul_(taken), directions, alpha=-1)
            displacements[order] = ordered

        return take


@dataclass(frozen=True)
class Elastic(Constraints):
    """On single weights, by their position among all `size` of the flattened layer."""

    weights: Tensor
    size: int

    def components(self, displacements: Tensor) -> Tensor:
        """Each weight's own."""
        return displacements[:, self.weights]

    def tether(self, strengths: Tensor, counts: Tensor, lr: float) -> Tether:
        """Each weight keeps its own share."""
        shares = self.shares(strengths, counts, lr)
        left = shares.new_ones(len(shares), self.size).index_copy_(1, self.weights, 1 - shares)

        def take(displacements: Tensor) -> None:
            displacements.mul_(left)

        return take


def landscape_dependent(
    solution: Solution, layer: str, count: int, flatness: str
) -> LandscapeDependent:
    """Along the first p_i of the solution's recording, with F_i `measured` or from the `variance`.

    F_i is the width of the interval about w1 in which the loss of task-1 grows by up to e; twice
    its one side where the other has no end, as along a drift, and infinite where neither has. By
    the variance, F_i = κ σ_i^(-2/ψ), with ln κ the mean of what it is at a few measured ranks.
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
            f"taken from (ranks {', '.join(str(place + 1) for place in places)}): say 'measured'."
        )
    factor = (widths / power[places])[usable].log().mean().exp()
    return LandscapeDependent(factor * power, known.all().expand(count), found.directions)


def elastic(solution: Solution, layer: str, count: int) -> Elastic:
    """On the weights with the largest Fisher information on task-1's training images.

    It is that of the net's own labels: the exact mean over all classes, each as probable as the net
    has it. The logits are piecewise linear in one layer's weights, so that it is the Hessian.
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
    """F_i of some of the directions, and whether each end is found, or known to be nowhere."""
    activity = solution.into(layer, solution.inputs)
    some = found.directions[places]
    shape = solution.net.dense(layer).fans
    left, right = interval(solution, layer, activity, some.reshape(-1, *shape), e)
    # A cost that is the same on both sides has to keep to the one that has an end.
    low, high = mirrored(left, right)
    known = [end.converged | end.at.isnan() for end in (left, right)]
    return (high - low).nan_to_num(nan=torch.inf), known[0] & known[1]
