"""Measures of a net's size and of its confidence, and the baselines of the study `atlas`.

All but the errors on E are of S: of the images that were trained on with their true labels.
"""

from collections.abc import Mapping
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.hessian.loss import MeanLoss, flattened, value_and_gradient
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import IMAGES, Solution
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.nets.loss import predictions, sample_losses

# Beside the smallest margin, which hangs on one image: that of the first tenth.
TENTH = 0.1


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row; norms are over all weights and biases.

    `distance` is that from the initial weights, which are drawn again; of a net that came with its
    weights they are not known. The `normalized` margins are
    over the path norm: by an α-scaling neither changes.
    """
    solution = on_clean(solution)
    net, parameters = solution.net, solution.parameters
    w = flattened(net, parameters)
    loss, g = value_and_gradient(MeanLoss(net, solution.inputs, solution.labels), w)
    logits = outputs(solution, solution.inputs)
    margins = margin(logits, solution.labels)
    paths = path_norm(net, parameters, solution.inputs)
    told = {
        "margin_least": margins.min(),
        "margin_tenth": margins.quantile(TENTH),
        "margin_mean": margins.mean(),
    }
    tested = outputs(solution, solution.test_inputs)
    summary = {
        "weight_norm": w.norm(),
        "distance": (w - initial(solution)).norm(),
        "path_norm": paths,
        **told,
        **{f"normalized_{name}": value / paths for name, value in told.items()},
        "gradient_norm": g.norm(),
        "train_loss": loss,
        "train_error": (predictions(logits) != solution.labels).double().mean(),
        "test_loss": sample_losses(tested, solution.test_labels).mean(),
        "test_error": (predictions(tested) != solution.test_labels).double().mean(),
    }
    return {"summary": DataFrame([{name: value.item() for name, value in summary.items()}])}


def initial(solution: Solution) -> Tensor:
    """w (1, size) before training; NaN where that is not known."""
    if solution.net.trained:
        return torch.tensor(torch.nan)
    w = flattened(solution.net, solution.net.initial([solution.seed]))
    return w.to(solution.inputs)


def outputs(solution: Solution, inputs: Tensor) -> Tensor:
    """Logits (1, images, outputs), some images at a time."""
    blocks = inputs.split(IMAGES, dim=1)
    return torch.cat([solution.net.forward(solution.parameters, block) for block in blocks], dim=1)


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """By how much the output of the right class exceeds the largest of all others, each image.

    Of a net with one output it is that output, with the sign of the label.
    """
    if logits.shape[-1] == 1:
        return logits.squeeze(-1) * (2 * labels - 1)
    right = logits.gather(-1, labels.unsqueeze(-1))
    others = logits.scatter(-1, labels.unsqueeze(-1), -torch.inf)
    return right.squeeze(-1) - others.amax(-1)


def path_norm(net: LayeredNet, parameters: Parameters, images: Tensor) -> Tensor:
    """The root of the sum over paths of the products of their squared weights (Neyshabur 2015).

    It is what the net makes of an image of ones with squared weights. A bias is a path of its own;
    where images are pooled, the largest path counts, and where they are averaged each path with a
    share of 1/n, which is not squared. Of a torch module the paths are not known.
    """
    if not net.told_apart:
        return torch.tensor(torch.nan)
    squared = {name: weights.square() for name, weights in parameters.items()}
    return net.forward(squared, torch.ones_like(images[:, :1])).sum().sqrt()
