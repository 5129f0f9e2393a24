"""The duality analysis of one model, compared with a plain research script that does the same.

Images of MNIST's shape (4,000 for training, 1,000 for testing) and weights are random: real ones
would make neither way faster. Each measurement has a separate process: only then is its peak
memory known.
"""

import copy
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from benchmarks.costs import Cost, in_new_process, timed
from benchmarks.noise import random_solution
from flatlas.measures import measure
from flatlas.measures.solution import Solution

Sums = dict[str, float]
LAYER = "fc2"
NAMES = ("pairwise_gap", "dual_gap", "T_g", "T_h", "T_w")


def main() -> None:
    """Print seconds, peak memory and the ratio, with one thread and with two."""
    for threads in (1, 2):
        ours, our_sums = in_new_process(_timed, _ours, (30, 30), threads)
        plain, plain_sums = in_new_process(_timed, _plain, (30, 30), threads)
        larger, _ = in_new_process(_timed, _ours, (120, 25), threads)
        apart = max(abs(our_sums[name] / plain_sums[name] - 1) for name in NAMES)
        print(f"threads: {threads}")
        print(f"  30 x 30, flatlas       {ours}")
        print(f"  30 x 30, plain script  {plain}")
        print(f"  ratio {plain.seconds / ours.seconds:.0f}; sums agree to {apart:.0e}")
        print(f"  120 x 25, flatlas      {larger}", flush=True)


def _timed(
    way: Callable[[Solution], Sums], hidden: tuple[int, int], threads: int
) -> tuple[Cost, Sums]:
    """The cost and the sums of one way."""
    torch.set_num_threads(threads)
    # The first products of a process also load libraries, but a job analyses many models.
    way(random_solution(hidden, images=50, test_images=10))
    solution = random_solution(hidden, images=4000, test_images=1000)
    # Other work on the machine would slow the two ways by different factors.
    clock = time.process_time if threads == 1 else time.perf_counter
    return timed(clock, way, solution)


def _ours(solution: Solution) -> Sums:
    options = {"layer": LAYER, "directions": "hessian", "sharp": "steepest"}
    summary = measure("duality", solution, options)["summary"].iloc[0]
    return {name: float(summary[name]) for name in NAMES}


def _plain(solution: Solution) -> Sums:
    """The sums by a script that follows the formulas, with loops over pairs and, in Eq. 6, weights.

    The paper's own demo program does the same and a little more.
    """
    model = _as_module(solution)
    images, labels = solution.inputs[0].flatten(1), solution.labels[0]
    pairs = [
        _plain_pair(model, images[labels == label], image, label)
        for image, label in zip(
            solution.test_inputs[0].flatten(1), solution.test_labels[0], strict=True
        )
    ]
    gaps, shifts = (torch.stack(parts) for parts in zip(*pairs, strict=True))
    gradients = gaps[:, None] * shifts / torch.sum(shifts**2, dim=1, keepdim=True)
    eigenvalues, directions = torch.linalg.eigh(_plain_hessian(model, images, labels))
    components, slopes = shifts @ directions, gradients @ directions
    covariance = ((components - components.mean(0)) * (slopes - slopes.mean(0))).mean(0)
    return {
        "pairwise_gap": gaps.mean().item(),
        "dual_gap": covariance.sum().item(),
        "T_g": slopes.var(0, correction=0).sum().item(),
        "T_h": eigenvalues.sum().item(),
        "T_w": components.var(0, correction=0).sum().item(),
    }


def _as_module(solution: Solution) -> nn.Sequential:
    linear = []
    for tensor in solution.parameters.values():
        layer = nn.Linear(*tensor.shape[1:], bias=False, dtype=torch.float64)
        layer.weight.data = tensor[0].T.contiguous()
        linear.append(layer)
    first, second, last = linear
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), last)


@torch.no_grad()
def _plain_pair(
    model: nn.Sequential, candidates: Tensor, image: Tensor, label: Tensor
) -> tuple[Tensor, Tensor]:
    """Δl and the flattened Δw of a test image and its nearest candidate, with a changed model."""
    distances = [torch.norm(candidate - image).item() for candidate in candidates]
    partner = candidates[distances.index(min(distances))]
    a, test_a = model[:2](partner).numpy(), model[:2](image).numpy()
    weight = model[2].weight.numpy()
    shift = np.zeros_like(weight)
    for j in range(weight.shape[0]):
        for i in range(weight.shape[1]):
            shift[j, i] = a[i] / np.sum(a**2) * np.sum((test_a - a) * weight[j])
    moved = copy.deepcopy(model)
    moved[2].weight.data = torch.as_tensor(weight + shift)
    gap = cross_entropy(moved(partner), label) - cross_entropy(model(partner), label)
    return gap, torch.as_tensor(shift).flatten()


def _plain_hessian(model: nn.Sequential, images: Tensor, labels: Tensor) -> Tensor:
    """The Hessian, row after row by double backward."""
    weight = model[2].weight
    loss = cross_entropy(model(images), labels)
    (gradient,) = torch.autograd.grad(loss, weight, create_graph=True)
    rows = [torch.autograd.grad(g, weight, retain_graph=True)[0] for g in gradient.flatten()]
    return torch.stack(rows).flatten(1)
