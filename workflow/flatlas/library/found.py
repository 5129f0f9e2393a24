"""The results of measures, and one table of all their numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor, inf, isfinite, isnan, log10
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from flatlas.errors import FlatlasError, nearest
from flatlas.hessian.sampled import Sampled
from flatlas.library.pictures import panels, symmetric_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

# The axis of values is linear below this fraction of the decade of the largest.
NEAR_ZERO = 0.01


@dataclass(frozen=True)
class Quantity:
    """A number, how far it may be off, and whether its search or sampling has converged.

    `error` is the standard error of a sampled number, or a bound for an iterated one; 0 if exact.
    """

    value: float
    error: float = 0.0
    converged: bool = True

    @property
    def is_known(self) -> bool:
        """Whether it has converged to a number with a finite error."""
        return self.converged and not isnan(self.value) and isfinite(self.error)

    @classmethod
    def of(cls, estimate: Sampled, converged: bool = True) -> "Quantity":
        """An estimate with its standard error."""
        return cls(estimate.value, estimate.standard_error, converged)


class Result(Protocol):
    """The result of one measure."""

    def quantities(self) -> Mapping[str, Quantity]:
        """Its numbers by name."""


@runtime_checkable
class Drawn(Protocol):
    """A result that draws its own picture."""

    def draw(self, ax: "Axes") -> None:
        """Draw it."""


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
            allowed, near = ", ".join(self.results), nearest(str(measure), self.results)
            raise FlatlasError(f"'{measure}' was not taken. Allowed: {allowed}.{near}")
        return self.results[measure]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures that were taken."""
        return iter(self.results)

    @property
    def table(self) -> "DataFrame":
        """A row for each number: measure, quantity, value, error, converged, seconds.

        A number counts as not converged if it is NaN or its error is not finite.
        """
        # Imported here: pandas takes as much memory as many measures.
        from pandas import DataFrame

        rows = [
            {
                "measure": measure,
                "quantity": name,
                "value": one.value,
                "error": one.error,
                "converged": one.is_known,
                "seconds": self.seconds[measure],
            }
            for measure, result in self.results.items()
            for name, one in result.quantities().items()
        ]
        return DataFrame(rows)

    def plot(self) -> "Figure":
        """A panel for each measure: its own picture, or all its numbers with their errors.

        A hollow point has not converged.
        """
        with panels(len(self.results)) as (figure, axes):
            for (measure, result), ax in zip(self.results.items(), axes, strict=True):
                if isinstance(result, Drawn):
                    result.draw(ax)
                else:
                    _draw_numbers(ax, result.quantities())
                ax.set_title(measure.replace("_", " "))
        return figure


def _draw_numbers(ax: "Axes", quantities: Mapping[str, Quantity]) -> None:
    """Draw a row for each quantity with its value, on an axis that is linear only near 0."""
    from flatlas.plotting.look import BLUE

    for row, one in enumerate(quantities.values()):
        filled = "full" if one.is_known else "none"
        ax.errorbar(one.value, row, xerr=one.error, fmt="o", color=BLUE, fillstyle=filled)
    labels = [f"{name.replace('_', ' ')}  {one.value:.3g}" for name, one in quantities.items()]
    ax.set_yticks(range(len(quantities)), labels)
    ax.invert_yaxis()
    sizes = (abs(one.value) for one in quantities.values())
    largest = max((size for size in sizes if 0 < size < inf), default=1.0)
    decade = 10.0 ** floor(log10(largest))
    symmetric_scale(ax, NEAR_ZERO * decade, [NEAR_ZERO * decade, decade])
