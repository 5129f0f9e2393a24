"""All measures that the package `measurements` declares, and the spec of a measure on a run."""

import inspect
from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from flatlas.errors import FlatlasError
from flatlas.plan import measurements
from flatlas.plan.data_specs import SubsetSpec
from flatlas.plan.declarations import IMPLEMENTED, by_tag, file_of, modules_of
from flatlas.plan.measurements import measurement
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.measurements.recordings import Forgetting
from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec


def declared() -> dict[str, type[Measurement]]:
    """The measures that the package declares, by name."""
    return dict(sorted(by_tag(_tagged(), "measure").items()))


def _tagged() -> Iterator[type[Measurement]]:
    """Every class of the package with a tag. Each module except the base's must have one."""
    for module in modules_of(measurements):
        tagged = [
            one
            for one in vars(module).values()
            if inspect.isclass(one) and issubclass(one, Measurement)
            if one.__module__ == module.__name__ and "measure" in one.model_fields
        ]
        if not tagged and module is not measurement:
            *_, page = IMPLEMENTED["measure"]
            raise FlatlasError(
                f"{file_of(module.__name__)} has no subclass of Measurement with a tag "
                f'measure: Literal["<name>"]. {page} has an example.'
            )
        yield from tagged


MEASURES = declared()
"""The measures by name."""

if TYPE_CHECKING:
    MeasureOptions = Measurement
else:
    MeasureOptions = Annotated[reduce(or_, MEASURES.values()), Field(discriminator="measure")]


class MeasureSpec(Spec):
    """One measure, with its options, on every realization of one run."""

    options: MeasureOptions
    run: RunSpec


def second_task(measured: MeasureSpec) -> SubsetSpec | None:
    """The images of a measure's second task: as many, of other classes, with the same seeds."""
    options, samples = measured.options, measured.run.samples
    if not (isinstance(options, Forgetting) and isinstance(samples, SubsetSpec)):
        return None
    return samples.model_copy(update={"only": options.task})
