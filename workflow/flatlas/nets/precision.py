"""The precision of a module's numbers, and what a module in another precision must keep."""

import torch
from torch import nn


def in_precision(given: torch.dtype, precision: torch.dtype) -> torch.dtype:
    """The dtype in this `precision`: complex numbers stay complex, integers stay as they are."""
    if given.is_complex:
        return precision.to_complex()
    return precision if given.is_floating_point else given


def keep_eps(module: nn.Module) -> None:
    """Set the eps that torch takes for an RMSNorm without one: its next dtype would change it."""
    floating = (one.dtype for one in module.parameters() if one.is_floating_point())
    usual = next(floating, torch.float32)
    for part in module.modules():
        if isinstance(part, nn.RMSNorm) and part.eps is None:
            dtype = usual if part.weight is None else part.weight.dtype
            # For half precision torch takes that of float32, in which it computes the norm.
            wide = torch.float64 if dtype == torch.float64 else torch.float32
            part.eps = torch.finfo(wide).eps
