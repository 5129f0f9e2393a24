"""Figure S4: two measures of the Hessian behave as sharpness does."""

from itertools import product

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY, CORRELATED
from flatlas.claims.correlations import DIFFERENCE, compared, correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.studies.prior import quantities
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.quantities import ACCURACY, FLATNESS, Quantity, paired
from flatlas.studies.prior.scatter import LEGEND, draw_dots, name_shades
from flatlas.studies.prior.systems import OPTIMIZERS, called, columns, weakened_flatness

SWEEPS = ("sgd", "adam")
MEASURES = {
    "norm": ("the spectral norm", quantities.NORM_FLATNESS),
    "top": ("the geometric mean of eigenvalues", quantities.TOP_FLATNESS),
}


def draw(material: Material) -> Drawing:
    """A row for each optimizer: spectral norm and top eigenvalues, first against sharpness."""
    points = nets(material, "prior", "sharpness", "hessian")
    rows = columns(material, OPTIMIZERS)
    figure, axes = panels(len(rows), 4, height=2.7)
    pairs = product((FLATNESS, ACCURACY), (quantities.NORM_FLATNESS, quantities.TOP_FLATNESS))
    for ax, (sweep, (y, x)) in zip(axes, product(rows, list(pairs)), strict=True):
        draw_dots(ax, points[points["sweep"] == sweep], x, y)
        ax.set_title(rows[sweep])
    name_shades(figure, axes, points)
    note(figure, small_print(material, points, LEGEND))
    return Drawing(figure, points)


def claims(material: Material) -> Claims:
    """The claims about two measures and two optimizers, against sharpness and generalization."""
    for sweep, (name, (what, measure)) in product(SWEEPS, MEASURES.items()):
        trained = Nets(material, sweep)
        yield from _of(trained, f"{name}_{sweep}", f"{what}: {called(sweep)}", measure)
    for _, measure in MEASURES.values():
        yield from weakened_flatness(material, "adam", measure)


def _of(nets: Nets, name: str, what: str, measure: Quantity) -> Claims:
    by_both = "flatness by the Hessian and by sharpness"
    with_sharpness = paired(nets, measure, FLATNESS, by_both)
    says = f"a measure of the Hessian correlates with sharpness ({what})"
    yield from correlated(nets, f"{name}_sharpness", says, CORRELATED, with_sharpness)
    with_accuracy = paired(nets, measure, name="flatness by the Hessian with the accuracy")
    says = f"a measure of the Hessian correlates with generalization as sharpness does ({what})"
    pairs = with_accuracy, paired(nets, FLATNESS)
    yield from compared(nets, f"{name}_accuracy", says, BARELY, DIFFERENCE, *pairs)
