"""Checks that a torch module and its weights can be trained or measured."""

from collections.abc import Iterable, Mapping

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from flatlas.errors import FlatlasError, first_few

# Logits of one image that differ by at most this, relative to the largest, are the same: a net may
# compute a part in float32 or less.
SAME = 1e-3


def logits_of(module: nn.Module, images: Tensor, outputs: int) -> Tensor:
    """A module's logits for some images, in evaluation mode; an error if they are not usable."""
    parameters = dict(module.named_parameters())
    lazy = [name for name, value in parameters.items() if is_lazy(value)]
    if lazy:
        raise FlatlasError(
            f"the net's '{lazy[0]}' has no shape before the first image. Give the sizes of all "
            "layers: nn.Linear instead of nn.LazyLinear."
        )
    refuse_without_values([*parameters.items(), *module.named_buffers()], "the net")
    refuse_not_finite(parameters.items(), "the net")
    _refuse_complex(parameters)
    try:
        logits, repeated = module(images), module(images)
    except Exception as error:
        raise cannot_take(images, error) from error
    given = tuple(logits.shape) if isinstance(logits, Tensor) else f"a {type(logits).__name__}"
    wanted = (len(images), outputs)
    if given != wanted:
        raise FlatlasError(
            f"the net returns {given} for {len(images)} image{'s' * (len(images) > 1)}. Allowed "
            f"for these data: one tensor of logits of shape {wanted}."
        )
    if not logits.isfinite().all():
        raise FlatlasError(
            "the net's logits for random images are NaN or infinite, although its weights are "
            "finite. Look for weights that are too large, or a division by 0."
        )
    if not torch.equal(logits, repeated):
        raise FlatlasError(
            "the net's logits for the same images differ between two calls. Nothing may be random "
            "in evaluation mode: use nn.Dropout instead of a dropout that is always on."
        )
    return logits


def refuse_mixing(some: Tensor, whole: Tensor) -> None:
    """Raise an error if logits of `some` images differ from those that they have among others."""
    largest = whole.abs().max().item()
    if not torch.allclose(some, whole[: len(some)], rtol=0, atol=SAME * largest):
        raise FlatlasError(
            "the net's logits for an image depend on the other images of its batch, as with batch "
            "norm without running statistics: numbers would depend on how images are cut into "
            "batches. Give batch norm track_running_stats=True, or use a norm of single images, "
            "such as nn.GroupNorm."
        )


def cannot_take(images: Tensor, error: Exception) -> FlatlasError:
    """The error for a net that failed on these images, with what to do if they are in float64."""
    shape = f"images of shape {tuple(images.shape[1:])} (channels, height, width)"
    if images.dtype != torch.float64:
        return FlatlasError(f"the net can't take {shape}: {error}")
    return FlatlasError(
        f"the net can't take {shape} in float64: {error}. Measures are in float64: if it casts, as "
        "by .float(), let it cast by .to(images.dtype). Register tensors that it keeps as buffers."
    )


def _refuse_complex(parameters: Mapping[str, nn.Parameter]) -> None:
    for name, value in parameters.items():
        if value.is_complex() and value.requires_grad:
            raise FlatlasError(
                f"the net's '{name}' has complex numbers. Allowed for weights: real numbers. Keep "
                "torch.view_as_real of it and use torch.view_as_complex in the forward, or freeze "
                "it by requires_grad_(False)."
            )


def refuse_without_values(tensors: Iterable[tuple[str, Tensor]], subject: str) -> None:
    """Raise an error unless every named tensor is dense and has its values in memory."""
    for name, value in tensors:
        why = without_values(value)
        if why:
            raise FlatlasError(f"{subject} has '{name}' {why}")


def without_values(tensor: Tensor) -> str:
    """Why a tensor can't be used in computations, and what to do; '' if it can."""
    if tensor.is_meta:
        return "on the meta device, where tensors have no values. Load it on the CPU or a GPU."
    if tensor.is_nested or tensor.layout != torch.strided:
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        return f"as a tensor of layout {kind}. Make it dense, for example by to_dense()."
    return ""


def read_weights(file: str, subject: str) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise FlatlasError(f"{subject} can't be read: {error}") from error


def refuse_not_finite(weights: Iterable[tuple[str, Tensor]], subject: str) -> None:
    """Raise an error if any of the named weights is NaN or infinite."""
    for name, value in weights:
        wrong = int((~value.isfinite()).sum())
        if wrong:
            raise FlatlasError(
                f"{subject} has NaN or infinite weights, {wrong} of {value.numel()} in '{name}'. "
                "Give finite weights: those of a training that did not diverge."
            )


def differences(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> str:
    """Missing weights, unknown weights and weights of another shape; '' if there are none."""
    shapes = [
        f"'{name}' has shape {tuple(found[name].shape)}, but the net needs {tuple(one.shape)}"
        for name, one in wanted.items()
        if name in found and found[name].shape != one.shape
    ]
    missing = [f"'{name}'" for name in wanted if name not in found]
    unknown = [f"'{name}'" for name in found if name not in wanted]
    lists = {"it lacks ": missing, "the net has no ": unknown, "": shapes}
    return "; ".join(f"{words}{first_few(names)}" for words, names in lists.items() if names)


def refuse_integers(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], subject: str
) -> None:
    """Raise an error if integers are given where a net has floating-point numbers."""
    for name, value in found.items():
        if wanted[name].is_floating_point() and not value.is_floating_point():
            raise FlatlasError(
                f"{subject} has {value.dtype} in '{name}', but the net has {wanted[name].dtype}. "
                "Give floating-point numbers: quantized weights must be scaled back first."
            )
