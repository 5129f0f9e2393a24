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

Summary = dict[str, float]
LAYER = "fc2"
SUMS = ("pairwise_gap", "dual_gap", "T_g", "T_h", "T_w")


def main() -> None:
    """Print seconds, peak memory and the ratio, with one thread and with two."""
    for threads in (1, 2):
        ours, our_summary = _apart(_ours, (30, 30), threads)
        plain, plain_summary = _apart(_plain, (30, 30), threads)
        apart = max(abs(our_summary[name] / plain_summary[name] - 1) for name in SUMS)
        print(f"threads: {threads}")
        print(f"  30 x 30, flatlas       {_told(ours)}")
        print(f"  30 x 30, plain script  {_told(plain)}")
        print(f"  ratio {plain[0] / ours[0]:.0f}; sums agree to {apart:.0e}")
        print(f"  120 x 25, flatlas      {_told(_apart(_ours, (120, 25), threads)[0])}", flush=True)


def _told(measured: tuple[float, float]) -> str:
    seconds, mebibytes = measured
    return f"{seconds:7.2f} s, {mebibytes:5.0f} MiB above the images"


def _apart(
    way: Callable[[Solution], Summary], hidden: tuple[int, int], threads: int
) -> tuple[tuple[float, float], Summary]:
    """(seconds, peak MiB) and sums of one way, in a fresh process."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(_timed, way, hidden, threads).result()


def _timed(
    way: Callable[[Solution], Summary], hidden: tuple[int, int], threads: int
) -> tuple[tuple[float, float], Summary]:
    torch.set_num_threads(threads)
    # The first matrix products of a process pay for loading the libraries.
    torch.linalg.eigh(torch.eye(64, dtype=torch.float64))
    solution = _random_solution(hidden)
    before = _peak()
    began = time.perf_counter()
    summary = way(solution)
    seconds = time.perf_counter() - began
    return (seconds, _peak() - before), summary


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _random_solution(hidden: tuple[int, int]) -> Solution:
    generator = torch.Generator().manual_seed(0)
    net = build_net(DenseNet(family="dense", hidden=hidden), (1, 28, 28), 10)

    def images(count: int) -> torch.Tensor:
        return torch.rand(1, count, 1, 28, 28, generator=generator, dtype=torch.float64)

    return Solution(
        net=net,
        parameters={name: tensor.double() for name, tensor in net.initial([0]).items()},
        inputs=images(4000),
        labels=torch.arange(4000).remainder(10).unsqueeze(0),
        clean=torch.ones(1, 4000, dtype=torch.bool),
        test_inputs=images(1000),
        test_labels=torch.arange(1000).remainder(10).unsqueeze(0),
    )


def _ours(solution: Solution) -> Summary:
    options = {"layer": LAYER, "directions": "hessian", "sharp": "steepest"}
    return measure("duality", solution, options)["summary"].iloc[0].to_dict()


def _plain(solution: Solution) -> Summary:
    """One pair after another, a forward pass a loss, and a Hessian by double backward."""
    first, weight, last = (tensor[0] for tensor in solution.parameters.values())
    images, labels = solution.inputs[0].flatten(1), solution.labels[0]
    test_images, test_labels = solution.test_inputs[0].flatten(1), solution.test_labels[0]

    def loss(inputs: torch.Tensor, targets: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return cross_entropy(((inputs @ first).relu() @ w).relu() @ last, targets)

    shifts, gradients, gaps = [], [], []
    for image, label in zip(test_images, test_labels, strict=True):
        candidates = [j for j in range(len(labels)) if labels[j] == label]
        distances = [torch.norm(images[j] - image).item() for j in candidates]
        partner = images[candidates[distances.index(min(distances))]]
        a, test_a = (partner @ first).relu(), (image @ first).relu()
        shift = torch.zeros_like(weight)
        for i in range(weight.shape[0]):
            for j in range(weight.shape[1]):
                shift[i, j] = a[i] * torch.sum((test_a - a) * weight[:, j]) / torch.sum(a**2)
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
