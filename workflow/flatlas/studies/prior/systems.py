"""Scatter plots with a column of panels a system or optimizer: a sweep of the figure."""

from collections.abc import Mapping, Sequence

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.studies.prior.nets import nets, small_print, sweeps
from flatlas.studies.prior.scatter import LEGEND, OF_BOOLEAN, Quantity, draw_grid


def draw_systems(
    material: Material,
    names: Mapping[str, str],
    rows: Sequence[tuple[Quantity, Quantity]],
    measures: Sequence[str] = ("prior", "sharpness"),
    said: str = "",
) -> Drawing:
    """A row of panels for each pair (x, y) of what the measures tell, with the sweeps' names."""
    points = nets(material, *measures)
    drawn = columns(material, names)
    figure, _ = draw_grid(points, rows, drawn)
    legend = LEGEND + OF_BOOLEAN if "boolean" in drawn else LEGEND
    note(figure, small_print(material, points, said + legend))
    return Drawing(figure, points)


def columns(material: Material, names: Mapping[str, str]) -> dict[str, str]:
    """The figure's sweeps with their names; one that the paper does not have goes by its own."""
    return {sweep: names.get(sweep, sweep) for sweep in sweeps(material)}
