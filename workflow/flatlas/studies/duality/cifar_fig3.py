"""Figure 3 again, of the convolutional net on CIFAR-10, whose layer is 120 x 25."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.sweeps import draw_sweeps
from flatlas.plotting.style import Drawing


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    return draw_sweeps(material, ("cifar_alpha", "optimizer.lr"), ("cifar_batch", "batch"))
