"""Figure 7: the local learning coefficient against the test error."""

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.studies.atlas import fig4


def draw(material: Material) -> Drawing:
    """The panels of figure 4, for the nets whose coefficient was measured."""
    return fig4.draw(material)
