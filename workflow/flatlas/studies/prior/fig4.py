"""Figure 4: prior and flatness against generalization, for three optimizers."""

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.prior.scatter import OPTIMIZERS, REST_LEGEND, WITH_THE_REST
from flatlas.studies.prior.systems import draw_systems


def draw(material: Material) -> Drawing:
    """A column an optimizer; the prior above, flatness, and flatness beyond first order."""
    measures = ("prior", "sharpness", "corners")
    return draw_systems(material, OPTIMIZERS, WITH_THE_REST, measures, REST_LEGEND)


def claims(material: Material):
    """See there."""
    from flatlas.studies.prior.fig4_claims import judge

    return judge(material)
