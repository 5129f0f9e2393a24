"""Figures S11 to S16: prior and flatness against generalization, after more and more training.

The paper says that overtraining leaves both correlations as they are.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from flatlas.claims.claim import Claims, Criterion
from flatlas.claims.conventions import BARELY_OFF, BROKEN, CORRELATED
from flatlas.claims.correlations import COEFFICIENTS, Measured, Pair
from flatlas.claims.nets import Nets
from flatlas.evidence.material import BEYOND, Material
from flatlas.plotting.style import Drawing, note
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import largest, smallest
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.prior import quantities
from flatlas.studies.prior.nets import LATER, overtrained, small_print
from flatlas.studies.prior.quantities import Quantity, paired
from flatlas.studies.prior.scatter import LEGEND, draw_grid


class Level(NamedTuple):
    """How flatness correlates at all later moments: words, criteria and worst moment of claims."""

    says: str
    criteria: Mapping[str, Criterion]
    which: str
    extreme: Callable[[np.ndarray], np.ndarray]
    sizes: bool = False


LEVELS = {
    "sgd": Level("correlates", CORRELATED, "the smallest", smallest),
    "adam": Level("does not correlate", BROKEN, "the largest, up or down,", largest, sizes=True),
}


@dataclass(frozen=True)
class Overtraining:
    """One optimizer's sweep with its measures of flatness; the last measure judges the claims."""

    sweep: str
    flatnesses: tuple[Quantity, ...]

    def draw(self, material: Material) -> Drawing:
        """The prior above, each flatness below; a column for each amount of overtraining."""
        points = overtrained(material, "prior", *(one.measure for one in self.flatnesses))
        points["overtraining"] = points["at"].astype(str).str.removeprefix(BEYOND).astype(int)
        columns = {
            epochs: f"{epochs} epochs after it" if epochs else "at zero error"
            for epochs in sorted({0, *points["overtraining"]})
        }
        rows = [(one, quantities.ACCURACY) for one in (quantities.LOG_PRIOR, *self.flatnesses)]
        figure, _ = draw_grid(points, rows, columns, by="overtraining")
        note(figure, small_print(material, points, LEGEND))
        return Drawing(figure, points)

    def claims(self, material: Material) -> Claims:
        """The claims about prior and flatness, at zero error and at all later moments."""
        nets, sweep, flatness = Nets(material, self.sweep), self.sweep, self.flatnesses[-1]
        yield from _unchanged(nets, f"prior_{sweep}", quantities.LOG_PRIOR)
        yield from _unchanged(nets, f"flatness_{sweep}", flatness)
        yield from _levels(nets, f"level_{sweep}", LEVELS[sweep], flatness)


def _unchanged(nets: Nets, name: str, quantity: Quantity) -> Claims:
    """The claims of no change, judged at the moment that differs most from zero error."""
    first, later = paired(nets, quantity), _later_pair(nets, quantity)
    for kind, coefficient in COEFFICIENTS.items():
        r = within_realizations(coefficient)
        yield nets.claim(
            f"{name}_{kind}",
            f"overtraining leaves the correlation of {quantity.what} with generalization as it is",
            f"{kind.capitalize()}'s coefficient of {first.name} after the overtraining that changes"
            " it most, minus that at zero error, up or down; means over realizations",
            BARELY_OFF,
            Joint(
                lambda x, y, x2, y2, r=r: r(x2, y2) - r(x, y)[..., np.newaxis], largest, sizes=True
            ),
            *(*first.values, *later.values),
            settled=(*first.settled, *later.settled),
        )


def _levels(nets: Nets, name: str, level: Level, flatness: Quantity) -> Claims:
    """The claims about later moments, judged at the moment at which they hold least."""
    later = _later_pair(nets, flatness)
    for kind, coefficient in COEFFICIENTS.items():
        r = within_realizations(coefficient)
        yield nets.claim(
            f"{name}_{kind}",
            f"{flatness.what} {level.says} with generalization after each amount of overtraining",
            f"{kind.capitalize()}'s coefficient of {later.name}, {level.which} of all later"
            " moments; means over realizations",
            level.criteria[kind],
            Joint(r, level.extreme, level.sizes),
            *later.values,
            settled=later.settled,
        )


def _later_pair(nets: Nets, quantity: Quantity) -> Pair:
    x, y = (_later(nets, one) for one in (quantity, quantities.ACCURACY))
    return Pair(x, y, f"{quantity.what} with {quantities.ACCURACY.what}")


def _later(nets: Nets, quantity: Quantity) -> Measured:
    """A quantity as (realizations, moments, values); there may be no moments."""
    moments = nets.levels(f"{LATER}prior_summary", "at")
    later = replace(quantity, measure=LATER + quantity.measure)
    found = [later.measured(nets, str(at)) for at in moments]
    shape = len(moments), len(nets.seeds), len(nets.values)
    values, settled = (
        np.moveaxis(np.reshape([getattr(one, part) for one in found], shape), 0, 1)
        for part in ("values", "settled")
    )
    return Measured(values, settled)


FIGURES = {
    # By corners too, because the paper's ascent has too little time where losses are low.
    "s11": Overtraining("sgd", (quantities.FLATNESS, quantities.CORNERS_FLATNESS)),
    "s12": Overtraining("adam", (quantities.FLATNESS, quantities.CORNERS_FLATNESS)),
    "s13": Overtraining("sgd", (quantities.NORM_FLATNESS,)),
    "s14": Overtraining("adam", (quantities.NORM_FLATNESS,)),
    "s15": Overtraining("sgd", (quantities.TOP_FLATNESS,)),
    "s16": Overtraining("adam", (quantities.TOP_FLATNESS,)),
}
