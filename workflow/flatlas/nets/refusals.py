"""What a torch module must be to be trained or measured; everything else is refused."""

from collections.abc import Iterable

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from flatlas.errors import FlatlasError


def logits_of(module: nn.Module, images: Tensor, outputs: int) -> Tensor:
    """A module's logits for some images, in evaluation mode; an error if it gives none."""
    parameters = dict(module.named_parameters())
    unknown = [name for name, value in parameters.items() if is_lazy(value)]
    if unknown:
        raise FlatlasError(
            f"the net does not know the shape of '{unknown[0]}' before it sees an image: give the "
            "sizes of all layers, as in nn.Linear in place of nn.LazyLinear."
        )
    refuse_without_values([*parameters.items(), *module.named_buffers()], "the net")
    refuse_not_finite(parameters.items(), "the net")
    shape = tuple(images.shape[1:])
    try:
        logits, repeated = module(images), module(images)
    except Exception as error:
        raise FlatlasError(
            f"the net can't take images of shape {shape} (channels, height, width): {error}"
        ) from error
    made = tuple(logits.shape) if isinstance(logits, Tensor) else f"a {type(logits).__name__}"
    if made != (len(images), outputs):
        raise FlatlasError(
            f"the net makes {made} of {len(images)} images, where the data need "
            f"{(len(images), outputs)}: give it that many outputs."
        )
    if not logits.isfinite().all():
        raise FlatlasError(
            "the net makes NaN or infinite logits of random images, though its weights are finite: "
            "look for weights that are too large, or a division by 0."
        )
    if not torch.equal(logits, repeated):
        raise FlatlasError(
            "the net makes other logits of the same images the second time: in evaluation mode "
            "nothing may be random. Use nn.Dropout in place of a dropout that is always on."
        )
    return logits


def refuse_without_values(tensors: Iterable[tuple[str, Tensor]], whose: str) -> None:
    """Raise an error unless every named tensor is dense and has its values in memory."""
    for name, value in tensors:
        why = without_values(value)
        if why:
            raise FlatlasError(f"{whose} has '{name}' {why}")


def without_values(tensor: Tensor) -> str:
    """Why a tensor can't be used in computations, and what to do; '' if it can."""
    if tensor.is_meta:
        return "on the meta device, where tensors have no values. Load it on the CPU or a GPU."
    if tensor.is_nested or tensor.layout != torch.strided:
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        return f"as a tensor of layout {kind}. Give a dense one, as of to_dense()."
    return ""


def read_weights(file: str, whose: str) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    try:
        return load_file(file)
    except (SafetensorError, OSError) as error:
        raise FlatlasError(f"{whose} can't be read: {error}") from error


def refuse_not_finite(weights: Iterable[tuple[str, Tensor]], whose: str) -> None:
    """Raise an error if any of the named weights is NaN or infinite."""
    for name, value in weights:
        wrong = int((~value.isfinite()).sum())
        if wrong:
            raise FlatlasError(
                f"{whose} has NaN or infinite weights, {wrong} of {value.numel()} in '{name}': "
                "its training diverged. Give weights that are numbers."
            )


def refuse_integers(found: dict[str, Tensor], wanted: dict[str, Tensor], whose: str) -> None:
    """Raise an error if integers are given where a module has floating-point numbers."""
    for name, value in found.items():
        if wanted[name].is_floating_point() and not value.is_floating_point():
            raise FlatlasError(
                f"{whose} has {value.dtype} in '{name}', where the net has {wanted[name].dtype}: "
                "give floating-point numbers. Quantized weights must be scaled back first."
            )
