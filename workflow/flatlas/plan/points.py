"""The points of a figure: its runs with their swept values, in the order of its files."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

# Figures import these keys from here and must not load the models of the specs.
if TYPE_CHECKING:
    from flatlas.plan.plan import Entry
    from flatlas.plan.training_specs import RunSpec

# The key that lists tables of measures that were not taken of a point's run.
LACKS = "lacks"
# The key that marks a batch of all images, which a point has as a number.
FULL_BATCH = "full_batch"


def points_of(
    entries: Iterable["Entry"], tables: Mapping[str, tuple[str, str]], runs: Mapping[str, "RunSpec"]
) -> list[dict[str, Any]]:
    """For each entry its sweep, run and values, as JSON types, and the tables that it lacks."""
    points = []
    for entry in entries:
        lacks = [table for table, (name, _) in tables.items() if name not in entry.measurements]
        points.append(
            {
                "sweep": entry.sweep,
                "run": entry.first,
                **_scaling(runs[entry.run]),
                **entry.point,
                **({LACKS: lacks} if lacks else {}),
            }
        )
    return points


def _scaling(run: "RunSpec") -> dict[str, Any]:
    """When and how much a run is α-scaled. Figures mark it even if no sweep varies it."""
    scaling = run.rescaling.model_dump(mode="json") if run.rescaling else {}
    return {f"rescaling.{key}": value for key, value in scaling.items()}
