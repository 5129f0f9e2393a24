"""Figure S4: two measures of the Hessian against sharpness and against generalization."""

from itertools import product

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import (
    ACCURACY,
    FLATNESS,
    LEGEND,
    NORM_FLATNESS,
    OPTIMIZERS,
    TOP_FLATNESS,
    draw_dots,
    name_shades,
)
from flatlas.studies.prior.systems import columns


def draw(material: Material) -> Drawing:
    """A row an optimizer: the spectral norm and the top eigenvalues, first against sharpness."""
    points = nets(material, "prior", "sharpness", "hessian")
    rows = columns(material, OPTIMIZERS)
    figure, axes = panels(len(rows), 4, height=2.7)
    pairs = product((FLATNESS, ACCURACY), (NORM_FLATNESS, TOP_FLATNESS))
    for ax, (sweep, (y, x)) in zip(axes, product(rows, list(pairs)), strict=True):
        draw_dots(ax, points[points["sweep"] == sweep], x, y)
        ax.set_title(rows[sweep])
    name_shades(figure, axes, points)
    note(figure, small_print(material, points, LEGEND))
    return Drawing(figure, points)


def claims(material: Material):
    """See there."""
    from flatlas.studies.prior.s4_claims import judge

    return judge(material)
