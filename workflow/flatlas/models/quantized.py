"""Layers of torch.ao that round their weights or activations."""

from torch import Tensor, nn

from flatlas.errors import FlatlasError


def quantized(model: nn.Module) -> list[str]:
    """The names of layers whose weights are integers, which are no parameters."""
    found = [name for name, part in model.named_modules() if _is_packed(part)]
    return [name for name in found if name.rpartition(".")[0] not in found]


def _is_packed(part: nn.Module) -> bool:
    packed = hasattr(part, "_packed_params") or hasattr(part, "_all_weight_values")
    return packed and type(part).__module__.startswith("torch.ao.nn.")


def refuse_rounding(model: nn.Module) -> None:
    """Raise an error if a part rounds numbers, as during quantization-aware training."""
    for name, part in model.named_modules():
        enabled = getattr(part, "fake_quant_enabled", None)
        if isinstance(enabled, Tensor) and bool(enabled.any()):
            raise FlatlasError(
                f"'{name}' rounds numbers, as in quantization-aware training: the loss then has "
                "steps, and its gradient is another function's. Measure the model without "
                "rounding, after model.apply(torch.ao.quantization.disable_fake_quant)."
            )
