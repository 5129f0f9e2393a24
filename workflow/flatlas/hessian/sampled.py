"""A mean over random numbers, with its standard error."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Sampled:
    """A value estimated from random numbers, with its standard error."""

    value: float
    standard_error: float


def mean(drawn: Tensor) -> Sampled:
    """The mean of independent numbers."""
    return Sampled(drawn.mean().item(), drawn.std().item() / len(drawn) ** 0.5)


def root(square: Sampled) -> Sampled:
    """The square root, with its error to first order."""
    value = square.value**0.5
    return Sampled(value, square.standard_error / (2 * value) if value else 0.0)
