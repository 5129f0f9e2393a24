"""Specs of the measures, and what each needs of a machine. One more measure: one more entry."""

from dataclasses import dataclass
from typing import Literal

from pydantic import PositiveInt

from flatlas.plan.spec import Spec
from flatlas.plan.training_specs import RunSpec


class Duality(Spec):
    """The activity-weight duality of one dense layer, along the eigenvectors of a matrix.

    `sharp` is n_s, the number of sharp directions: a number, or where sigma_g drops steepest.
    """

    measure: Literal["duality"]
    layer: str
    directions: Literal["hessian", "fisher"] = "hessian"
    sharp: PositiveInt | Literal["steepest"] = "steepest"


# With a second measure: Annotated[Duality | Another, Field(discriminator="measure")]
MeasureOptions = Duality


class MeasureSpec(Spec):
    """One measure, with its options, on every realization of one run."""

    options: MeasureOptions
    run: RunSpec


@dataclass(frozen=True)
class Measure:
    """An entry: the options a study may set, the tables written, the resources asked for."""

    options: type[Spec]
    tables: tuple[str, ...]
    threads: int = 1
    mem_mb: int = 2000
    gpu: int = 0
    runtime: int = 60


MEASURES: dict[str, Measure] = {
    "duality": Measure(options=Duality, tables=("directions", "summary"), mem_mb=4000),
}
