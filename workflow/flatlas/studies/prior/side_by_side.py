"""Figures 4, S2, S7 and S17 to S19: systems and optimizers side by side."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from flatlas.claims.claim import Claim, Claims, Criterion, ours
from flatlas.claims.conventions import BARELY, BARELY_OFF, BROKEN, CORRELATED, SPIKE, TIGHTER
from flatlas.claims.correlations import BETTER, DIFFERENCE, compared, correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import largest, mean, smallest
from flatlas.studies.prior import quantities, scatter, systems
from flatlas.studies.prior.nets import nets, small_print
from flatlas.studies.prior.quantities import ACCURACY, FLATNESS, LOG_PRIOR, Quantity, paired
from flatlas.studies.prior.scatter import LEGEND, PRIOR_AND_FLATNESS, WITH_THE_REST
from flatlas.studies.prior.systems import BREAKING, OPTIMIZERS, RATES, SYSTEMS


@dataclass(frozen=True)
class SideBySide:
    """A row of panels for each pair (x, y), and in it a column for each sweep of the figure."""

    names: Mapping[str, str]
    rows: Sequence[tuple[Quantity, Quantity]]
    make_claims: Callable[[Material], Iterable[Claim]]
    measures: Sequence[str] = ("prior", "sharpness")
    about: str = ""

    def draw(self, material: Material) -> Drawing:
        """One dot per net."""
        points = nets(material, *self.measures)
        drawn = systems.columns(material, self.names)
        figure, _ = scatter.draw_grid(points, self.rows, drawn)
        legend = LEGEND + scatter.OF_BOOLEAN if "boolean" in drawn else LEGEND
        note(figure, small_print(material, points, self.about + legend))
        return Drawing(figure, points)

    def claims(self, material: Material) -> Iterable[Claim]:
        """The paper's claims about this figure."""
        return self.make_claims(material)


def _breaking_optimizers(material: Material) -> Claims:
    """The claims row by row, and the question whether the second row shows curvature."""
    sweeps = ("sgd", *BREAKING)
    for sweep in sweeps:
        yield from systems.tight_prior(material, sweep)
    yield from systems.correlated_flatness(material, "sgd")
    yield from _broken(material, FLATNESS)
    for sweep in BREAKING:
        yield from systems.weakened_flatness(material, sweep)
        yield from _levels(material, sweep)
    yield from ours(_broken(material, quantities.REST_FLATNESS))
    yield from ours(systems.curvature(material, sweep) for sweep in sweeps)
    for sweep in BREAKING:
        yield from ours(systems.same_prior(material, sweep))
        yield from ours(systems.weakened_flatness(material, sweep, quantities.REST_FLATNESS))


def _levels(material: Material, sweep: str) -> Claims:
    """The claims that an optimizer's nets have SGD's accuracy and P(f), but not its flatness."""
    name = systems.called(sweep)
    for quantity in (ACCURACY, LOG_PRIOR):
        yield _level(
            material,
            sweep,
            quantity,
            f"{quantity.what} under {name} does not significantly vary from SGD's",
            f"difference between the means of {quantity.what} under SGD and under {name}, up or"
            " down, divided by the range of SGD's means over the attack sets; mean over attack"
            " sets",
            BARELY_OFF,
            Joint(_apart_in_ranges, partial(mean, axis=-1), sizes=True),
        )
    yield _level(
        material,
        sweep,
        FLATNESS,
        f"{name} makes a large difference in flatness",
        f"factor between the sharpness under SGD and under {name} on the same attack sets, up"
        " or down; geometric mean over nets",
        SPIKE,
        _factor,
    )


def _level(
    material: Material,
    sweep: str,
    quantity: Quantity,
    says: str,
    measured: str,
    criterion: Criterion,
    statistic: Callable[..., np.ndarray],
) -> Claim:
    nets, sgd, other = systems.against_sgd(material, sweep, quantity)
    return nets.claim(
        f"level_{sweep}_{quantity.name}",
        says,
        measured,
        criterion,
        statistic,
        sgd.x.values,
        other.x.values,
        settled=(sgd.x.settled, other.x.settled),
    )


def _factor(sgd: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(10 ** np.abs(mean(mean(sgd - other, -1))))


def _apart_in_ranges(sgd: np.ndarray, other: np.ndarray) -> np.ndarray:
    means = mean(sgd)
    unit = largest(means) - smallest(means)
    return mean(sgd - other) / unit[..., None]


def _broken(material: Material, flat: Quantity) -> Claims:
    yield from systems.looser_flatness(material, "sgd", flat)
    for sweep in BREAKING:
        yield from systems.broken_flatness(material, sweep, flat)


def _spectral_norm(material: Material) -> Claims:
    for sweep in material.sweeps:
        nets = Nets(material, sweep)
        # As in Figure 2, by corners: the paper's ascent has too little time.
        flatness = quantities.CORNERS_FLATNESS if sweep == "boolean" else FLATNESS
        name = "log sharpness with the log spectral norm"
        pair = paired(nets, flatness, quantities.NORM_FLATNESS, name)
        says = f"sharpness correlates with the spectral norm: {systems.called(sweep)}"
        yield from correlated(nets, sweep, says, CORRELATED, pair, systems.pooling(sweep))


def _flatness_with_prior(material: Material) -> Claims:
    """The text's claims: well for SGD, badly for the others, roughly as with generalization."""
    for sweep in material.sweeps:
        nets, breaks = Nets(material, sweep), sweep in BREAKING
        verb, criteria = ("does not correlate", BROKEN) if breaks else ("correlates", CORRELATED)
        says = f"flatness {verb} with P(f): {systems.called(sweep)}"
        with_prior = paired(nets, FLATNESS, LOG_PRIOR)
        yield from correlated(nets, sweep, says, criteria, with_prior)
        says = (
            f"flatness correlates with P(f) as it does with generalization: {systems.called(sweep)}"
        )
        pairs = with_prior, paired(nets, FLATNESS)
        yield from compared(nets, f"{sweep}_accuracy", says, BARELY, DIFFERENCE, *pairs)


def _residual_net(material: Material) -> Claims:
    """The claims about both rows, and about flatness against that of Figure 4's dense net."""
    words = {"residual_adam": "for the residual net", "adam": "for the fully connected net"}
    nets, residual, dense = systems.two_sweeps(material, FLATNESS, words)
    says = "under Adam, flatness is better for the residual net than for the fully connected one"
    yield from systems.tight_prior(material, "residual_adam")
    yield from systems.scattered_flatness(material, "residual_adam")
    yield from compared(nets, "better", says, TIGHTER, BETTER, residual, dense)


def _more_optimizers(material: Material) -> Claims:
    adaptive = ("adagrad", "momentum", "rmsprop")
    for sweep in (*adaptive, "full_batch"):
        yield from systems.tight_prior(material, sweep)
    for sweep in adaptive:
        yield from systems.broken_flatness(material, sweep)
    yield from systems.correlated_flatness(material, "full_batch")


def _learning_rates(material: Material) -> Claims:
    """The claims of Figure S18 at three rates, because the paper does not state its rate."""
    for sweep in RATES:
        yield from ours(systems.tight_prior(material, sweep))
    for sweep in RATES:
        yield from ours(systems.correlated_flatness(material, sweep))


def _many_images(material: Material) -> Claims:
    """The claims about the sweep with many images, alone and against that of Figure 3."""
    words = {"many_images": "with many images", "sgd": "with few images"}
    nets, many, few = systems.two_sweeps(material, LOG_PRIOR, words)
    says = "with more training images P(f) correlates tighter with generalization"
    yield from systems.tight_prior(material, "many_images")
    yield from systems.scattered_flatness(material, "many_images")
    yield from compared(nets, "tighter", says, TIGHTER, BETTER, many, few)


FIGURES = {
    "fig4": SideBySide(
        OPTIMIZERS,
        WITH_THE_REST,
        _breaking_optimizers,
        ("prior", "sharpness", "corners"),
        scatter.REST_LEGEND,
    ),
    "s2": SideBySide(
        SYSTEMS | OPTIMIZERS,
        [
            (quantities.NORM_FLATNESS, FLATNESS),
            (quantities.NORM_FLATNESS, quantities.CORNERS_FLATNESS),
        ],
        _spectral_norm,
        ("sharpness", "corners", "hessian"),
    ),
    "s7": SideBySide(SYSTEMS | OPTIMIZERS, [(LOG_PRIOR, FLATNESS)], _flatness_with_prior),
    "s17": SideBySide(SYSTEMS | {"adam": "FCN, Adam"}, PRIOR_AND_FLATNESS, _residual_net),
    "s18": SideBySide(OPTIMIZERS, PRIOR_AND_FLATNESS, _more_optimizers),
    "s19": SideBySide(SYSTEMS, PRIOR_AND_FLATNESS, _many_images),
    "full_batch": SideBySide(RATES, PRIOR_AND_FLATNESS, _learning_rates),
}
