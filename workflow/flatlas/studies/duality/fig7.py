"""Figure 7: the last layers of two deep nets, of synchronous and of decentralized learners."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.learners import COLUMNS, LEGEND, learners_row

# By sweep: what the net is called, and the test errors behind the paper's accuracies.
NETS = {
    "resnet_learners": ("ResNet", {"ssgd": "7.3", "dpsgd": "5.7"}),
    "densenet_learners": ("DenseNet", {"ssgd": "7.2", "dpsgd": "5.2"}),
}


def draw(material: Material) -> Drawing:
    """A row of panels a net, as in the paper."""
    across = len(COLUMNS)
    figure, axes = panels(len(NETS), across)
    points: list[pd.DataFrame] = []
    for row, (sweep, (name, paper)) in enumerate(NETS.items()):
        place = slice(across * row, across * (row + 1))
        points += learners_row(axes[place], "ABCDEF"[place], material, sweep, "last", paper)
        axes[place][0].set_title(name, loc="right")
    note(figure, LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def claims(material: Material):
    """See there."""
    from flatlas.studies.duality.fig7_claims import judge

    return judge(material)
