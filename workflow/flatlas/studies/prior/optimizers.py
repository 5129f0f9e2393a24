"""Not in the paper: optimizers on the same images, with the same attack set, side by side.

It shows whether P(f) and flatness say more than the size of the attack set does.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import POSITIVE
from flatlas.claims.correlations import Measured, Pair, correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.statistics.means import mean
from flatlas.studies.prior.nets import ATTACK, nets, runs_of, small_print
from flatlas.studies.prior.quantities import ACCURACY, FLATNESS, LOG_PRIOR, Quantity
from flatlas.studies.prior.scatter import LEGEND, draw_grid

CLEAN, WRONG = "no wrong labels", "wrong labels"
ABOUT = "From the mean: of all optimizers that learnt the same images with the same attack set. "
# Each quantity and its distance from that mean.
FROM_MEAN = {
    LOG_PRIOR: replace(LOG_PRIOR, name="log10_p_apart", label=rf"{LOG_PRIOR.label}, from the mean"),
    FLATNESS: replace(FLATNESS, name="flatness_apart", label="flatness, from the mean"),
    ACCURACY: replace(ACCURACY, name="accuracy_apart", label="accuracy (%), from the mean"),
}


def draw(material: Material) -> Drawing:
    """Rows: P(f) and flatness. Columns: without wrong labels, and with them."""
    points = distances(nets(material, "prior", "sharpness"))
    rows = [(FROM_MEAN[one], FROM_MEAN[ACCURACY]) for one in (LOG_PRIOR, FLATNESS)]
    figure, _ = draw_grid(points, rows, {one: one for one in (CLEAN, WRONG)}, "labels")
    # `first_order` is the gradient's share of the sharpness itself, not of distances from a mean.
    remarked = points.drop(columns="first_order")
    note(figure, small_print(material, remarked, ABOUT + LEGEND))
    return Drawing(figure, points)


def distances(points: pd.DataFrame) -> pd.DataFrame:
    """The table with each quantity minus its mean over the optimizers; NaN where a net is alone."""
    sets = points.groupby(["seed", "attack_size"])
    several = sets["run"].transform("count") > 1
    found = {
        distance.name: (points[one.name] - sets[one.name].transform("mean")).where(several)
        for one, distance in FROM_MEAN.items()
    }
    labels = points["attack_size"].astype(float).gt(0).map({False: CLEAN, True: WRONG})
    return points.assign(labels=labels, **found)


def claims(material: Material) -> Claims:
    """The questions without wrong labels, and with them."""
    nets = Nets(material, tuple(material.sweeps))
    sizes = runs_of(nets)[ATTACK].to_numpy(float)
    yield from ours(_generalizes_better(nets, "prior", "more probable", LOG_PRIOR, sizes))
    yield from ours(_generalizes_better(nets, "flatness", "flatter", FLATNESS, sizes))


def _generalizes_better(
    nets: Nets, name: str, says: str, quantity: Quantity, sizes: np.ndarray
) -> Claims:
    for labels, learnt, here in (
        ("clean", "without wrong labels", sizes == 0),
        ("wrong", "some with wrong labels", sizes > 0),
    ):
        x, y = (_apart(one.measured(nets), sizes, here) for one in (quantity, ACCURACY))
        yield from correlated(
            nets,
            f"{name}_{labels}",
            f"of the functions that optimizers find on the same images, {learnt}, the {says} one"
            " generalizes better",
            POSITIVE,
            Pair(
                x, y, f"{quantity.what} with the accuracy, each minus its mean over the optimizers"
            ),
        )


def _apart(measured: Measured, sizes: np.ndarray, here: np.ndarray) -> Measured:
    """How far the nets `here` are from the mean of all with the same images and attack set."""
    values = np.full_like(measured.values, np.nan)
    for size in np.unique(sizes[here]):
        of_set = sizes == size
        some = measured.values[:, of_set]
        # A net that is alone is its own mean.
        several = np.isfinite(some).sum(1, keepdims=True) > 1
        values[:, of_set] = np.where(several, some - mean(some, 1)[:, np.newaxis], np.nan)
    return Measured(values[:, here], measured.settled[:, here])
