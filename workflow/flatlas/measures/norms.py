"""Measures of a net's size and of its confidence, and the baselines of the study `atlas`.

All except the loss and error on E are of S, the images trained on with their true labels.
"""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.margin import margin
from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import predictions, sample_losses

# The smallest margin depends on one image, so this quantile of the margins is listed too.
TENTH = 0.1


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row; norms are over all weights and biases.

    `distance` is the distance from the initial weights, which are drawn again; it is NaN for a net
    that came with its weights. The `normalized` margins are divided by the path norm; an
    α-scaling changes neither these margins nor the path norm.
    """
    solution = on_clean(solution)
    net, parameters = solution.net, solution.parameters
    w = flattened(net, parameters)
    loss, g = value_and_gradient(MeanLoss(net, solution.inputs, solution.labels), w)
    logits = solution.logits(solution.inputs)
    margins = margin(logits, solution.labels)
    paths = path_norm(net, parameters, solution.inputs)
    unnormalized = {
        "margin_least": margins.min(),
        "margin_tenth": margins.quantile(TENTH),
        "margin_mean": margins.mean(),
    }
    tested = solution.logits(solution.test_inputs)
    summary = {
        "weight_norm": w.norm(),
        "distance": (w - initial(solution)).norm(),
        "path_norm": paths,
        **unnormalized,
        **{f"normalized_{name}": value / paths for name, value in unnormalized.items()},
        "gradient_norm": g.norm(),
        "train_loss": loss,
        "train_error": (predictions(logits) != solution.labels).double().mean(),
        "test_loss": sample_losses(tested, solution.test_labels).mean(),
        "test_error": (predictions(tested) != solution.test_labels).double().mean(),
    }
    return {"summary": DataFrame([{name: value.item() for name, value in summary.items()}])}


def initial(solution: Solution) -> Tensor:
    """w (1, size) before training; NaN if unknown."""
    if solution.net.trained:
        return torch.tensor(torch.nan)
    w = flattened(solution.net, solution.net.initial([solution.seed]))
    return w.to(solution.inputs)


def path_norm(net: LayeredNet, parameters: Parameters, images: Tensor) -> Tensor:
    """The root of the sum over paths of the products of their squared weights (Neyshabur 2015).

    It is the output of the net with squared weights for an image of ones. A bias is a separate
    path. Max pooling counts the largest path; average pooling weights each path by 1/n, which is
    not squared. The paths of a torch module are unknown.
    """
    if not net.layers_known:
        return torch.tensor(torch.nan)
    squared = {name: weights.square() for name, weights in parameters.items()}
    return net.forward(squared, torch.ones_like(images[:, :1])).sum().sqrt()
