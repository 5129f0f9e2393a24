"""Options that several measures share: one class each, with types, bounds and defaults."""

from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    NonNegativeInt,
    PositiveInt,
    ValidationInfo,
    field_validator,
)

from flatlas.flatness.adaptive_sharpness import Neighbourhood, Search
from flatlas.flatness.ball import Ball, Exponent
from flatlas.models.objective import Objective
from flatlas.plan.bounds import AtLeastTwo, Positive
from flatlas.plan.measurements.flatness import AdaptiveSharpness

# The workflow's defaults.
SHARPNESS = AdaptiveSharpness(measure="adaptive_sharpness")


class Options(BaseModel):
    """The options of a measure; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OfSpectrum(Options):
    """The `top` largest and `bottom` lowest eigenvalues; trace and Frobenius norm by `probes`.

    Eigenvalues are found to `tolerance` times the largest, in at most `steps` products for each: by
    default 30 for each, but at least 100 in all. `probes` are random vectors; without any, trace
    and norm are left out. The standard error from ten probes is itself known to a quarter: one
    estimate in thirteen is off by more than twice that. With a `trace_tolerance`, more probes
    follow until the standard error is at most this share of the trace.
    """

    top: PositiveInt = 10
    bottom: NonNegativeInt = 1
    probes: AtLeastTwo | Literal[0] = 10
    steps: PositiveInt | None = None
    tolerance: Positive = 1e-3
    trace_tolerance: Positive | None = None

    @field_validator("trace_tolerance")
    @classmethod
    def _of_a_trace(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and info.data.get("probes") == 0:
            raise ValueError(
                "it needs a trace, but probes is 0. Take at least 2 probes, or leave it out"
            )
        return value


class OfAscent(Options):
    """The neighbourhood w + c ⊙ u, where c is |w|, or 1 if not `adaptive`, and a search in it.

    ‖u‖_`p` is at most `radius`. The search begins at w and at `starts` − 1 random points, at least
    at one if w has no slope, and takes at most `steps` from each. It has converged when the slope
    predicts that the loss would rise by at most `tolerance` more, relative to its rise so far. With
    `normalize_logits`, the logits of each example are divided by their standard deviation, so that
    scaling all logits changes nothing; this needs cross-entropy or a loss of your own.
    """

    radius: Positive = SHARPNESS.radius
    p: Exponent = SHARPNESS.p
    adaptive: bool = SHARPNESS.adaptive
    normalize_logits: bool = False
    tolerance: Positive = SHARPNESS.tolerance
    steps: PositiveInt = SHARPNESS.steps
    starts: PositiveInt = SHARPNESS.starts

    def loss(self, objective: Objective) -> Objective:
        """The loss whose rise is measured."""
        return objective.of_normalized_logits() if self.normalize_logits else objective

    @property
    def around(self) -> Neighbourhood:
        """The neighbourhood in which the loss rises."""
        return Neighbourhood(Ball(self.radius, self.p), self.adaptive)

    @property
    def search(self) -> Search:
        """The search for the largest rise."""
        return Search(self.tolerance, self.steps, self.starts)
