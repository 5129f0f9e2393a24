"""The duality analysis of one model, timed beside a plain research script that does the same.

Random images of MNIST's shape (4,000 for training, 1,000 for testing), random weights: neither
way is any faster on real ones. Each measurement has a process of its own, for its peak memory.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import torch
from torch.nn.functional import cross_entropy

from flatlas.measures import measure
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.plan.net_specs import DenseNet

Sums = dict[str, float]
LAYER = "fc2"
NAMES = ("pairwise_gap", "dual_gap", "T_g", "T_h", "T_w")


def main() -> None:
    """Print seconds, peak memory and the ratio, with one thread and with two."""
    for threads in (1, 2):
        ours, our_sums = _apart(_ours, (30, 30), threads)
        plain, plain_sums = _apart(_plain, (30, 30), threads)
        apart = max(abs(our_sums[name] / plain_sums[name] - 1) for name in NAMES)
        print(f"threads: {threads}")
        print(f"  30 x 30, flatlas       {_told(ours)}")
        print(f"  30 x 30, plain script  {_told(plain)}")
        print(f"  ratio {plain[0] / ours[0]:.0f}; sums agree to {apart:.0e}")
        print(f"  120 x 25, flatlas      {_told(_apart(_ours, (120, 25), threads)[0])}", flush=True)


def _told(measured: tuple[float, float]) -> str:
    seconds, mebibytes = measured
    return f"{seconds:7.2f} s, peak {mebibytes:5.0f} MiB"


def _apart(
    way: Callable[[Solution], Sums], hidden: tuple[int, int], threads: int
) -> tuple[tuple[float, float], Sums]:
    """(seconds, peak MiB) and sums of one way, in a fresh process."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(_timed, way, hidden, threads).result()


def _timed(
    way: Callable[[Solution], Sums], hidden: tuple[int, int], threads: int
) -> tuple[tuple[float, float], Sums]:
    torch.set_num_threads(threads)
    # The first products of a process pay for loading libraries; a job analyses many models.
    way(_random_solution(hidden, images=50, test_images=10))
    solution = _random_solution(hidden, images=4000, test_images=1000)
    began = time.perf_counter()
    sums = way(solution)
    seconds = time.perf_counter() - began
    return (seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024), sums


def _random_solution(hidden: tuple[int, int], images: int, test_images: int) -> Solution:
    generator = torch.Generator().manual_seed(0)
    net = build_net(DenseNet(family="dense", hidden=hidden), (1, 28, 28), 10)

    def pixels(count: int) -> torch.Tensor:
        return torch.rand(1, count, 1, 28, 28, generator=generator, dtype=torch.float64)

    return Solution(
        net=net,
        parameters={name: tensor.double() for name, tensor in net.initial([0]).items()},
        inputs=pixels(images),
        labels=torch.arange(images).remainder(10).unsqueeze(0),
        clean=torch.ones(1, images, dtype=torch.bool),
        test_inputs=pixels(test_images),
        test_labels=torch.arange(test_images).remainder(10).unsqueeze(0),
    )


def _ours(solution: Solution) -> Sums:
    options = {"layer": LAYER, "directions": "hessian", "sharp": "steepest"}
    summary = measure("duality", solution, options)["summary"].iloc[0]
    return {name: float(summary[name]) for name in NAMES}


def _plain(solution: Solution) -> Sums:
    """One pair after another, a forward pass a loss, and a Hessian by double backward."""
    first, weight, last = (tensor[0] for tensor in solution.parameters.values())
    images, labels = solution.inputs[0].flatten(1), solution.labels[0]
    test_images, test_labels = solution.test_inputs[0].flatten(1), solution.test_labels[0]

    def loss(inputs: torch.Tensor, targets: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return cross_entropy(((inputs @ first).relu() @ w).relu() @ last, targets)

    shifts, gradients, gaps = [], [], []
    for image, label in zip(test_images, test_labels, strict=True):
        candidates = images[labels == label]
        distances = [torch.norm(candidate - image).item() for candidate in candidates]
        partner = candidates[distances.index(min(distances))]
        a, test_a = (partner @ first).relu(), (image @ first).relu()
        shift = torch.outer(a, (test_a - a) @ weight) / torch.sum(a**2)
        one = label.unsqueeze(0)
        gap = loss(partner[None], one, weight + shift) - loss(partner[None], one, weight)
        shifts.append(shift.flatten())
        gradients.append(gap * shift.flatten() / torch.sum(shift**2))
        gaps.append(gap)

    w = weight.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(images, labels, w), w, create_graph=True)
    rows = [torch.autograd.grad(g, w, retain_graph=True)[0].flatten() for g in gradient.flatten()]
    eigenvalues, directions = torch.linalg.eigh(torch.stack(rows))
    components = torch.stack(shifts) @ directions
    slopes = torch.stack(gradients) @ directions
    covariance = ((components - components.mean(0)) * (slopes - slopes.mean(0))).mean(0)
    return {
        "pairwise_gap": torch.stack(gaps).mean().item(),
        "dual_gap": covariance.sum().item(),
        "T_g": slopes.var(0, correction=0).sum().item(),
        "T_h": eigenvalues.sum().item(),
        "T_w": components.var(0, correction=0).sum().item(),
    }


if __name__ == "__main__":
    main()
