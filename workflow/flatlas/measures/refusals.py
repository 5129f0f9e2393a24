"""Checks of the arguments of the library's functions, before anything is computed."""

from math import ceil, prod
from typing import Any

import torch
from torch import Tensor

from flatlas.device import memory_of
from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution
from flatlas.nets.refusals import without_values
from flatlas.plan.measurements.curvature import OfHessian
from flatlas.plan.measurements.duality import PAIRED
from flatlas.plan.measurements.measurement import Measurement


def refuse_images(images: Any, name: str) -> None:
    """Raise an error unless these are images of finite floating-point numbers."""
    _refuse_other_types(images, name)
    if images.ndim != 4 or 0 in images.shape:
        raise FlatlasError(
            f"{name} have shape {tuple(images.shape)}. Allowed: (count, channels, height, width), "
            "each at least 1."
        )
    if not images.is_floating_point():
        raise FlatlasError(
            f"{name} are {images.dtype}. Allowed: floating-point numbers, scaled as in training, "
            "often by images / 255."
        )
    wrong = (~images.isfinite()).flatten(1).any(1).nonzero().flatten().tolist()
    if wrong:
        raise FlatlasError(
            f"{name}[{wrong[0]}] has NaN or infinite pixels ({len(wrong)} of {len(images)} {name} "
            "have). Leave these out."
        )


def refuse_other_shape(test_images: Tensor, images: Tensor) -> None:
    """Raise an error unless all images have one shape."""
    given, wanted = (tuple(one.shape[1:]) for one in (test_images, images))
    if given != wanted:
        raise FlatlasError(
            f"each of the test_images has shape {given}, but each of the images {wanted}. "
            "Give images of one shape (channels, height, width)."
        )


def refuse_labels(labels: Any, name: str, images: Tensor, outputs: int) -> None:
    """Raise an error unless each image has one label, from 0, for which the net has an output."""
    _refuse_other_types(labels, name)
    if labels.shape != (len(images),):
        hint = " If the rows are one-hot, give labels.argmax(1)." if labels.ndim == 2 else ""
        raise FlatlasError(
            f"{name} have shape {tuple(labels.shape)}, but there are {len(images)} images. "
            f"Allowed: one number for each image, shape ({len(images)},).{hint}"
        )
    if labels.is_floating_point() or labels.is_complex() or labels.dtype == torch.bool:
        raise FlatlasError(f"{name} are {labels.dtype}. Allowed: integers, such as labels.long().")
    # One output is the logit of label 1 of a binary task.
    largest = max(outputs, 2) - 1
    wrong = ((labels < 0) | (labels > largest)).nonzero().flatten().tolist()
    if wrong:
        raise FlatlasError(
            f"{name}[{wrong[0]}] is {labels[wrong[0]].item()}; {len(wrong)} of {len(labels)} "
            f"{name} are out of range. Allowed for a net with {outputs} "
            f"output{'s' * (outputs > 1)}: 0 to {largest}."
        )


def refuse_beyond_memory(
    options: Measurement, solution: Solution, memory_gb: float | None = None
) -> None:
    """Raise an error if a measure may need more memory than the device has, or `memory_gb`."""
    net, device = solution.net, solution.inputs.device
    weights = sum(prod(shape) for shape in net.shapes.values())
    vectors = options.vectors
    if isinstance(options, OfHessian):
        # A matrix has no more eigenvalues than rows, whatever `top` is.
        vectors = min(vectors, 10 + 2 * weights)
    numbers = vectors * weights
    what = f"the net has {weights:,} weights"
    if options.layer_matrices:
        layer = prod(net.dense(options.resolved()["layer"]).fans)
        numbers += layer * (options.layer_matrices * layer + PAIRED * solution.test_labels.shape[1])
        what += f", and this layer {layer:,}"
    needed = 8 * numbers / 1e9
    there = memory_of(device) / 1e9 if memory_gb is None else memory_gb
    if needed > there:
        raise FlatlasError(
            f"take('{options.measure}') needs up to about {needed:,.1f} GB of memory: {what}. "
            f"Allowed: {there:,.1f} GB. Use a smaller net or layer, or reduce options like top, "
            f"pairs and steps. If you know that it fits, pass memory_gb={ceil(needed)}."
        )


def _refuse_other_types(given: Any, name: str) -> None:
    if not isinstance(given, Tensor):
        raise FlatlasError(
            f"{name} is of type {type(given).__name__}. Allowed: a torch.Tensor, such as "
            f"torch.as_tensor({name})."
        )
    why = without_values(given)
    if why:
        raise FlatlasError(f"{name}: given {why}")
