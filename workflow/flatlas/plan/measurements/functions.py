"""Options of the measures of P(f), how often random nets express a function f."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import PositiveInt

from flatlas.plan.data_specs import FunctionsSpec, NoiseSpec
from flatlas.plan.measurements.measurement import Many, Measurement
from flatlas.plan.net_specs import DenseNet
from flatlas.plan.spec import Distinct
from flatlas.plan.training_specs import RunSpec

Link = Literal["heaviside", "probit"]
ARC_COSINE = "dense nets with init he_normal or scaled_normal"


class OfFunction(Measurement):
    """What measures of P(f) share: a net that says yes or no, and the `link` of its GP prior."""

    link: Link = "probit"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A function has two values."""
        yield from super().misfits(run)
        if run.outputs != 1:
            yield "measure", "is of binary nets: say which classes are data.positive."


def _has_arc_cosine_kernel(run: RunSpec) -> bool:
    schemes = ("he_normal", "scaled_normal")
    return isinstance(run.net, DenseNet) and run.net.init.scheme in schemes


class GpPrior(OfFunction):
    """log P(f) of the function f that a binary net expresses on S and E, by EP under a GP prior.

    The `monte_carlo` kernel is that of any net with a last dense layer, estimated with random ones.
    """

    measure: Literal["gp_prior"]
    kernel: Literal["arc_cosine", "monte_carlo"] = "arc_cosine"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """A kernel that the net has."""
        yield from super().misfits(run)
        if self.kernel == "arc_cosine" and not _has_arc_cosine_kernel(run):
            yield "kernel", f"is 'arc_cosine', that of {ARC_COSINE}. Allowed: monte_carlo."
        if self.kernel == "monte_carlo" and isinstance(run.samples, NoiseSpec | FunctionsSpec):
            yield "kernel", "is 'monte_carlo', which is sampled on a subset, all with true labels."
        if self.kernel == "monte_carlo" and getattr(run.net, "weights", None) is not None:
            yield "kernel", "is 'monte_carlo', that of random nets; this one's weights are given."


class OfArcCosineKernel(OfFunction):
    """What measures share that know no other kernel."""

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """It is of the arc-cosine kernel."""
        yield from super().misfits(run)
        if not _has_arc_cosine_kernel(run):
            yield "measure", f"has only the arc-cosine kernel, that of {ARC_COSINE}."


class Orthant(OfArcCosineKernel):
    """The exact prior of f on `sizes` of its images, beside EP and the variational bound."""

    measure: Literal["orthant"]
    sizes: Annotated[tuple[PositiveInt, ...], Many, Distinct]


class BooleanPrior(Measurement):
    """P(f): how often random nets express the function f that the net expresses."""

    measure: Literal["boolean_prior"]

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The functions of random nets have to be counted."""
        yield from super().misfits(run)
        if not isinstance(run.samples, FunctionsSpec):
            yield "measure", "is of the functions that random nets express: say data.functions."
