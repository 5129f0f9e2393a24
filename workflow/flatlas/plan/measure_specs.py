"""Every measure that the package `measurements` declares, and a measure of a run as a spec."""

import inspect
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field

from flatlas.plan import measurements
from flatlas.plan.data_specs import SubsetSpec
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.measurements.recordings import Forgetting
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec


def _declared() -> Iterator[type[Measurement]]:
    """Every class of the package with a tag."""
    for found in iter_modules(measurements.__path__):
        module = import_module(f"{measurements.__name__}.{found.name}")
        for one in vars(module).values():
            is_measure = inspect.isclass(one) and issubclass(one, Measurement)
            if is_measure and one.__module__ == module.__name__ and "measure" in one.model_fields:
                yield one


def _tag(measure: type[Measurement]) -> str:
    (tag,) = get_args(measure.model_fields["measure"].annotation)
    return str(tag)


_DECLARED = sorted(_declared(), key=_tag)
MEASURES: dict[str, type[Measurement]] = {_tag(one): one for one in _DECLARED}
"""The measures by name."""

if TYPE_CHECKING:
    MeasureOptions = Measurement
else:
    MeasureOptions = Annotated[reduce(or_, _DECLARED), Field(discriminator="measure")]


class MeasureSpec(Spec):
    """One measure, with its options, on every realization of one run."""

    options: MeasureOptions
    run: RunSpec


def second_task(measured: MeasureSpec) -> SubsetSpec | None:
    """The images of a measure's second task: as many of other classes, with the same seeds."""
    options, samples = measured.options, measured.run.samples
    if not (isinstance(options, Forgetting) and isinstance(samples, SubsetSpec)):
        return None
    return samples.model_copy(update={"only": options.task})
