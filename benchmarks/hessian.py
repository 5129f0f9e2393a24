"""The Hessian of 784-40-40-1 on 500 images, compared with curvlinops and scipy's ARPACK.

The net is trained to zero error on scikit-learn's digits, enlarged to MNIST's shape, because the
spectrum decides how fast eigenvalues converge. Also timed: the three norms of 784-10-100-10 on
1,000 images, trained in the same way, and Keskar's sharpness of the first net, alone and stacked.
"""

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from curvlinops import HessianLinearOperator
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits
from torch import nn

from flatlas.hessian import DenseHessian
from flatlas.hessian.lanczos import TOLERANCE
from flatlas.hessian.norms import ends
from flatlas.measures.hessian import measure as measure_hessian
from flatlas.measures.sharpness import measure_stack
from flatlas.measures.solution import Solution
from flatlas.nets import build_net
from flatlas.nets.loss import predictions, sample_losses
from flatlas.plan.families.dense import DenseNet

IMAGES, TOP, STACK = 500, 50, 50
BINARY = DenseNet(family="dense", hidden=(40, 40), bias=True)
# The MLP of the study `false_friend`, and the options of its norms there.
MLP, MANY = DenseNet(family="dense", hidden=(10, 100)), 1000
NORMS = {"top": 3, "tolerance": 1e-4, "probes": 100}
# Steps beyond zero error, so that another machine's rounding leads to a similar net.
BEYOND = 50
SHARPNESS = {"by": "sgd", "box": 1e-4, "batch": 32, "lr": 1e-3, "epochs": 100}


def main() -> None:
    """Print seconds, and the ratio of curvlinops' seconds to ours."""
    solution = _trained(BINARY, IMAGES, 1)
    hessian = DenseHessian.of(solution.net, solution.parameters, solution.inputs, solution.labels)
    operator = _operator(solution)
    vector = torch.randn(hessian.size, dtype=torch.float64)
    one, _ = _timed(lambda: hessian.product(vector.unsqueeze(0)), 20)
    other, _ = _timed(lambda: operator @ vector, 20)
    print(f"a product               {one * 1e3:8.1f} ms, curvlinops {other / one:.1f} times that")

    random = torch.Generator().manual_seed(0)
    one, found = _timed(lambda: ends(hessian.reduced(), TOP, random), 3)
    other, (values, _) = _timed(
        lambda: eigsh(operator.to_scipy(), k=TOP, which="LA", tol=TOLERANCE), 1
    )
    apart = np.abs(np.sort(values)[::-1] / found.top.numpy() - 1).max()
    print(
        f"the {TOP} largest          {one:8.2f} s, curvlinops + ARPACK {other / one:.1f} times that"
    )
    print(f"                        which agree to {apart:.0e}")
    print(f"trace                   {_timed(hessian.trace, 5)[0] * 1e3:8.1f} ms")
    print(f"Frobenius norm          {_timed(hessian.frobenius, 5)[0] * 1e3:8.1f} ms")

    mlp = _trained(MLP, MANY, 10)
    seconds, _ = _timed(lambda: measure_hessian(mlp, NORMS), 3)
    print(f"three norms of an MLP   {seconds:8.2f} s")

    for by, members in product(("sgd", "lbfgs", "corners"), (1, STACK)):
        way = partial(measure_stack, [solution] * members, {**SHARPNESS, "by": by})
        seconds, _ = _timed(way, 1)
        print(f"sharpness, {by:8} {members:3} {seconds:8.2f} s, {seconds / members:.2f} s each")


def _timed(way: Callable[[], Any], times: int) -> tuple[float, Any]:
    """The shortest time of several runs, in seconds, and the result."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        result = way()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


def _trained(spec: DenseNet, images: int, outputs: int) -> Solution:
    """A net trained by Adam on all images at once, some steps beyond zero error."""
    digits = load_digits()
    chosen = np.random.default_rng(0).permutation(len(digits.images))[:images]
    enlarged = np.kron(digits.images[chosen] / 16, np.ones((1, 3, 3)))
    pixels = torch.as_tensor(np.pad(enlarged, ((0, 0), (2, 2), (2, 2)))).view(1, -1, 1, 28, 28)
    targets = digits.target[chosen] if outputs > 1 else digits.target[chosen] >= 5
    labels = torch.as_tensor(targets).long().unsqueeze(0)
    net = build_net(spec, (1, 28, 28), outputs)
    weights = {name: w.double().requires_grad_() for name, w in net.initial([0]).items()}
    adam, left = torch.optim.Adam(weights.values()), BEYOND
    while left:
        logits = net.forward(weights, pixels)
        left -= bool((predictions(logits) == labels).all())
        adam.zero_grad()
        sample_losses(logits, labels).mean().backward()
        adam.step()
    parameters = {name: w.detach() for name, w in weights.items()}
    clean = torch.ones_like(labels, dtype=torch.bool)
    return Solution(net, 0, parameters, parameters, pixels, labels, clean, pixels, labels)


def _operator(solution: Solution) -> HessianLinearOperator:
    """curvlinops' Hessian of the same net as a module of torch.nn, with transposed weights."""
    modules: list[nn.Module] = []
    for layer in solution.net.dense_layers:
        linear = nn.Linear(layer.inputs, layer.outputs, dtype=torch.float64)
        linear.weight.data = solution.parameters[f"{layer.name}.weight"][0].T.contiguous()
        linear.bias.data = solution.parameters[f"{layer.name}.bias"][0]
        modules += [linear, nn.ReLU()]
    model = nn.Sequential(*modules[:-1])
    data = [(solution.inputs[0].flatten(1), solution.labels[0].double().unsqueeze(1))]
    return HessianLinearOperator(
        model, nn.BCEWithLogitsLoss(), list(model.parameters()), data, check_deterministic=False
    )
