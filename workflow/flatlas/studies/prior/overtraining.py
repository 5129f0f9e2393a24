"""Prior and flatness against generalization, a column of panels an amount of overtraining."""

from flatlas.evidence.material import BEYOND, Material
from flatlas.plotting.style import Drawing, note
from flatlas.studies.prior.nets import overtrained, small_print
from flatlas.studies.prior.scatter import ACCURACY, LEGEND, LOG_PRIOR, Quantity, draw_grid


def draw_overtrained(material: Material, *flatnesses: Quantity) -> Drawing:
    """The prior above, below each flatness by the measure that finds it; a column a moment."""
    points = overtrained(material, "prior", *(flatness.search for flatness in flatnesses))
    points["overtraining"] = points["at"].astype(str).str.removeprefix(BEYOND).astype(int)
    moments = sorted({0, *points["overtraining"]})
    columns = {
        epochs: f"{epochs} epochs after it" if epochs else "at zero error" for epochs in moments
    }
    rows = [(LOG_PRIOR, ACCURACY), *((flatness, ACCURACY) for flatness in flatnesses)]
    figure, _ = draw_grid(points, rows, columns, by="overtraining")
    note(figure, small_print(material, points, LEGEND))
    return Drawing(figure, points)
