"""Specs of kernel matrices that are too expensive to recompute for every training."""

from pydantic import PositiveInt

from flatlas.plan.data_specs import SubsetSpec, subset_of
from flatlas.plan.families import NetSpec
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.measurements.functions import GpPrior
from flatlas.plan.spec import Spec


class KernelSpec(Spec):
    """K between the images of each draw of a subset, S and then E, sampled with random nets.

    P(f) is computed on S and E, without an attack set, so all attack sizes share the matrix.
    """

    samples: SubsetSpec
    net: NetSpec
    input_shape: tuple[PositiveInt, PositiveInt, PositiveInt]


def sampled_kernel(measured: MeasureSpec) -> KernelSpec | None:
    """The kernel that a measure reads, or None."""
    options, run = measured.options, measured.run
    if not isinstance(options, GpPrior) or options.kernel != "monte_carlo":
        return None
    subset = subset_of(run.samples)
    assert isinstance(subset, SubsetSpec)
    return KernelSpec(samples=subset, net=run.net, input_shape=run.input_shape)
