"""Figures 5, S6, S8 and S10, and two not in the paper: along a training with an α-scaling."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import ALL, BARELY_OFF, LESS, NEAR, RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import largest, mean
from flatlas.studies.prior import along
from flatlas.studies.prior.course import IN_RANGES, approach, checkpoints, course, prior_in_ranges
from flatlas.studies.prior.quantities import Quantity
from flatlas.studies.prior.scaling import falls, relaxes, scaling_claims, spikes

ZERO_ERROR_EPOCH = 140
# log P(f), and log sharpness by both searches.
CURVES = (along.PRIOR, along.SHARPNESS, along.CORNERS)
BEFORE = along.CloseUp("since_zero_error", -200, 20, "epochs after zero error")


@dataclass(frozen=True)
class Rescaled:
    """The nets of one sweep, and the claims about them."""

    sweep: str
    make_claims: Callable[[Nets], Iterable[Claim]]
    curves: tuple[Quantity, ...] = CURVES
    close_up: along.CloseUp = along.SCALING

    def draw(self, material: Material) -> Drawing:
        """A row of panels for each curve, with a close-up on the right."""
        return along.draw_along(material, self.curves, self.close_up)

    def claims(self, material: Material) -> Iterable[Claim]:
        """The paper's claims about this sweep."""
        return self.make_claims(Nets(material, self.sweep))


def _paper(nets: Nets) -> Claims:
    """The claims from the fresh weights to zero error, from there to the scaling, and after it."""
    yield from _until_zero_error(nets)
    prior, unit_settled = prior_in_ranges(nets)
    yield nets.mean_claim(
        "prior_constant",
        "after zero error, P(f) stays constant",
        "largest change of log10 P(f) from its value at zero error until the α-scaling, up or down,"
        f" {IN_RANGES}",
        BARELY_OFF,
        largest(np.abs(prior.before - prior.start[:, np.newaxis])),
        settled=(unit_settled, prior.settled.before),
    )
    yield falls(nets, "sharpness", course(nets, along.CORNERS))
    yield falls(nets, "loss", course(nets, along.LOSS))
    yield from scaling_claims(nets)


def _until_zero_error(nets: Nets) -> Claims:
    yield nets.mean_claim(
        "zero_error",
        f"zero error is reached near epoch {ZERO_ERROR_EPOCH}",
        "epoch at which zero error is first reached, relative to the paper's, minus 1",
        NEAR,
        nets.read_of_run("outcomes", "met_epoch") / ZERO_ERROR_EPOCH - 1,
        # Text: our number is relative to it.
        paper=f"epoch {ZERO_ERROR_EPOCH}",
    )
    for name, quantity in (("prior", along.PRIOR), ("sharpness", along.CORNERS)):
        logs = approach(nets, quantity)
        yield nets.mean_claim(
            f"{name}_before",
            f"until zero error, {quantity.what} falls",
            f"change of log10 of {quantity.what} from the fresh weights to zero error",
            LESS,
            logs.values[:, -1] - logs.values[:, 0],
            settled=(logs.settled[:, -1], logs.settled[:, 0]),
        )


def _staying_at_zero_error(nets: Nets) -> Claims:
    """The claims that the sharpness spikes, and that nothing else happens."""
    (prior, unit_settled), error = prior_in_ranges(nets), course(nets, along.ERROR)
    sharpness = course(nets, along.CORNERS)
    yield spikes(nets, "sharpness", sharpness)
    yield relaxes(nets, "sharpness", sharpness)
    yield nets.mean_claim(
        "zero_error",
        "after a small α-scaling, SGD stays at zero error",
        "share of the moments after the α-scaling at which there is no error on S",
        ALL,
        mean(np.where(np.isfinite(error.later), error.later == 0, np.nan), -1),
    )
    yield nets.mean_claim(
        "prior_unchanged",
        "a small α-scaling does not change the prior at all",
        f"largest change of log10 P(f) at any moment after the α-scaling, up or down, {IN_RANGES}",
        BARELY_OFF,
        largest(np.abs(prior.changes)),
        settled=(unit_settled, prior.settled.later, prior.settled.unscaled),
    )


def _measures_of_the_hessian(nets: Nets) -> Claims:
    sharpness = course(nets, along.CORNERS)
    for name, quantity in (("spectral_norm", along.SPECTRAL_NORM), ("top", along.TOP)):
        logs = course(nets, quantity)
        what = logs.what
        yield falls(nets, name, logs)
        yield spikes(nets, name, logs)
        yield relaxes(nets, name, logs)
        both = np.intersect1d(logs.epochs, sharpness.epochs)
        pair = [one.values[:, np.isin(one.epochs, both)] for one in (logs, sharpness)]
        yield nets.mean_claim(
            f"{name}_follows",
            f"{what} does along training as {sharpness.what} does",
            f"rank correlation of {what} with {sharpness.what} over the moments from zero error on",
            RISING,
            spearman(*pair),
            settled=(logs.searches, sharpness.searches),
        )


def _fluctuations(nets: Nets) -> Claims:
    """The claims about fluctuations in the larger box, alone and compared with Figure 5."""
    large, in_wide = _before_zero_error(nets, along.WIDE_CORNERS)
    small, in_narrow = _before_zero_error(nets, along.CORNERS)
    yield nets.mean_claim(
        "none",
        f"with a larger ε, {along.WIDE_CORNERS.what} does not fluctuate before zero error",
        f"largest distance of log10 of {along.WIDE_CORNERS.what} from the line between the"
        " checkpoints before and after; all before zero error",
        BARELY_OFF,
        large,
        settled=(in_wide,),
    )
    yield nets.mean_claim(
        "smaller",
        "the fluctuations before zero error are smaller with a larger ε",
        "that distance with the larger ε, minus that with the ε of Figure 5",
        LESS,
        large - small,
        settled=(in_wide, in_narrow),
    )


def _before_zero_error(nets: Nets, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """The fluctuation at the checkpoints before zero error, and which of them can be trusted.

    The initial weights are left out, because the curve is steepest there.
    """
    epochs, logs = checkpoints(nets, quantity), approach(nets, quantity)
    return fluctuation(epochs[1:], logs.values[:, 1:-1]), logs.settled[:, 1:-1]


def fluctuation(epochs: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """The largest distance of a value from the line between its neighbours, along the last axis.

    It is zero for a course that rises or falls steadily.
    """
    before, here, after = epochs[..., :-2], epochs[..., 1:-1], epochs[..., 2:]
    line = logs[..., :-2] + (here - before) / (after - before) * (logs[..., 2:] - logs[..., :-2])
    return largest(np.abs(logs[..., 1:-1] - line))


FIGURES = {
    "fig5": Rescaled("scaled", _paper),
    # As Figure 5, with an α so small that the net stays at zero error.
    "s6": Rescaled("scaled_less", _staying_at_zero_error),
    # In a larger box than that of Figure 5 the sharpness does not fluctuate before zero error.
    "s8": Rescaled("scaled", _fluctuations, (*CURVES, along.WIDE, along.WIDE_CORNERS), BEFORE),
    # Measures of the Hessian behave as the sharpness does; the first hidden layer has 10 neurons.
    "s10": Rescaled(
        "scaled_narrow", _measures_of_the_hessian, (*CURVES, along.SPECTRAL_NORM, along.TOP)
    ),
    # As Figure 5, with the layer divided by that factor. Figure 5 judges what comes before the
    # scaling.
    "inverse": Rescaled("scaled_inverse", lambda nets: ours(scaling_claims(nets))),
    # The same for S6.
    "inverse_less": Rescaled(
        "scaled_less_inverse", lambda nets: ours(_staying_at_zero_error(nets))
    ),
}
