"""What was measured: each measure's own result, and one table of all numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pandas import DataFrame

from flatlas.errors import FlatlasError, nearest


@dataclass(frozen=True)
class Quantity:
    """A number, how far it may be off, and whether its search or sampling has converged.

    `error` is the standard error of what was sampled, or a bound for what was iterated; 0 if exact.
    """

    value: float
    error: float = 0.0
    converged: bool = True


class Result(Protocol):
    """What one measure found."""

    def quantities(self) -> Mapping[str, Quantity]:
        """Its numbers by name."""


@dataclass(frozen=True)
class Found:
    """Results by measure, as in `found["hessian"].eigenvalues`, with the seconds that each took.

    `notes` has a sentence for everything about the data that a reader of the numbers must know.
    """

    results: Mapping[str, Result]
    seconds: Mapping[str, float]
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, measure: str) -> Result:
        """The result of one measure."""
        if measure not in self.results:
            allowed = ", ".join(self.results)
            raise FlatlasError(
                f"'{measure}' was not taken. Allowed: {allowed}.{nearest(measure, self.results)}"
            )
        return self.results[measure]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures that were taken."""
        return iter(self.results)

    @property
    def table(self) -> DataFrame:
        """A row for each number: measure, quantity, value, error, converged, seconds."""
        rows = [
            {
                "measure": measure,
                "quantity": name,
                "value": one.value,
                "error": one.error,
                "converged": one.converged,
                "seconds": self.seconds[measure],
            }
            for measure, result in self.results.items()
            for name, one in result.quantities().items()
        ]
        return DataFrame(rows)
