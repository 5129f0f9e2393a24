"""The precision of a module's numbers, and what a module in another precision must keep."""

import torch


def in_precision(given: torch.dtype, precision: torch.dtype) -> torch.dtype:
    """The dtype in this `precision`: complex numbers stay complex, integers stay as they are."""
    if given.is_complex:
        return precision.to_complex()
    return precision if given.is_floating_point else given
