"""Not in the paper: optimizers on the same images, with the same attack set, side by side."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.scatter import LEGEND, Quantity, draw_grid

APART = {
    "log10_p": Quantity("log10_p_apart", r"$\log_{10}P(f)$, from the mean", "prior"),
    "flatness": Quantity("flatness_apart", "flatness, from the mean", "sharpness"),
    "accuracy": Quantity("accuracy_apart", "accuracy (%), from the mean"),
}
CLEAN, WRONG = "no wrong labels", "wrong labels"
SAID = "From the mean: of all optimizers that learnt the same images with the same attack set. "


def draw(material: Material) -> Drawing:
    """Rows: P(f) and flatness. Columns: without wrong labels, and with them."""
    points = apart(nets(material, "prior", "sharpness"))
    log_prior, flatness, accuracy = APART.values()
    rows = [(log_prior, accuracy), (flatness, accuracy)]
    figure, _ = draw_grid(points, rows, {one: one for one in (CLEAN, WRONG)}, "labels")
    # The gradient's share is told of flatness itself.
    told = points.drop(columns="first_order")
    note(figure, small_print(material, told, SAID + LEGEND))
    return Drawing(figure, points)


def apart(points: pd.DataFrame) -> pd.DataFrame:
    """With each quantity less its mean over the optimizers; none where a net is alone."""
    sets = points.groupby(["seed", "attack_size"])
    several = sets["run"].transform("count") > 1
    distances = {
        told.column: (points[name] - sets[name].transform("mean")).where(several)
        for name, told in APART.items()
    }
    labels = points["attack_size"].astype(float).gt(0).map({False: CLEAN, True: WRONG})
    return points.assign(labels=labels, **distances)


def claims(material: Material):
    """See there."""
    from flatlas.studies.prior.optimizers_claims import judge

    return judge(material)
