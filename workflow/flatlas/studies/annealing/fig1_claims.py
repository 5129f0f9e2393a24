"""Figure 1: the spectrum of a trajectory, drift along p_1, random walks along all others."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim, above, below, between
from flatlas.claims.conventions import ALL, BEYOND_DIFFUSION, MORE, SMALL, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.means import mean
from flatlas.studies.annealing.directions import (
    BASE,
    LAST,
    along,
    ranks,
    read,
    slope,
    variances,
)

TABLE = "pca_directions"
# Where the paper sees its power law, and up to where we look for the faster decay.
BEGIN, END, BEYOND = 20, 200, 1000
SHARE, RANK = 0.9, 35
# The paper's example of random walks.
PAIR = (49, 50)


def judge(material: Material) -> list[Claim]:
    """Panels A and B, then C and D."""
    nets = Nets(material, BASE)
    return [*_spectrum(nets), *_sums(nets), *_motion(nets)]


def _spectrum(nets: Nets) -> Iterator[Claim]:
    within = variances(nets, TABLE, BEGIN, END)
    beyond = variances(nets, TABLE, END, BEYOND)
    yield along(
        nets,
        "gamma",
        f"σ_i² falls as i^−γ between ranks {BEGIN} and {END}, with γ of 2 to 3, about 2.6",
        f"minus the exponent of σ_i² over i, ranks {BEGIN} to {END} of all nets",
        # What the figure's caption says.
        between(2, 3),
        lambda x, y: -slope(x, y),
        ranks(BEGIN, END),
        within,
        paper="2.6",
    )
    yield nets.claim(
        "steeper",
        f"beyond rank {END} it falls even faster",
        f"γ between ranks {END} and {BEYOND} less that between {BEGIN} and {END}; mean over nets",
        MORE,
        mean,
        slope(ranks(BEGIN, END), within) - slope(ranks(END, BEYOND), beyond),
    )
    first, second = read(nets, TABLE, "variance", 1, 2).T
    yield nets.claim(
        "first",
        "the variance along p_1 is much larger than along any other",
        "σ_2² relative to σ_1², which pure diffusion has at a quarter; mean over nets",
        BEYOND_DIFFUSION,
        mean,
        second / first,
    )


def _sums(nets: Nets) -> Iterator[Claim]:
    cumulative = read(nets, TABLE, "cumulative", 1, BEYOND)
    reached = cumulative >= SHARE
    at = np.where(reached.any(1), reached.argmax(1) + 1.0, np.nan)
    yield nets.claim(
        "rank_90",
        f"without p_1, {100 * SHARE:g} % of the variance is reached near direction {RANK}",
        f"first rank by which it is {100 * SHARE:g} %; mean over nets",
        near(RANK),
        mean,
        at,
        paper=f"{RANK}",
    )
    yield nets.claim(
        "share_35",
        f"more than {100 * SHARE:g} % of the variance without p_1 lies in the first {RANK}",
        f"share of directions 2 to {RANK}; mean over nets",
        above(SHARE),
        mean,
        cumulative[:, RANK - 1],
        paper="more than 0.9",
    )


def _motion(nets: Nets) -> Iterator[Claim]:
    """By the time within which a velocity is forgotten, in epochs: infinite, where it never is."""
    times = read(nets, TABLE, "velocity_time", 1, LAST)
    with np.errstate(divide="ignore"):
        drift = 1 / times[:, 0]
    yield nets.claim(
        "drift",
        "along p_1 the weights drift, with a persistence time much longer than an epoch",
        "an epoch, relative to the correlation time of the velocity along p_1; mean over nets",
        SMALL,
        mean,
        drift,
    )
    i, j = PAIR
    yield nets.claim(
        "walk",
        f"along p_{i} and p_{j} they walk at random, with a velocity forgotten within an epoch",
        "the longer of the two correlation times of the velocity, in epochs; mean over nets",
        below(1),
        mean,
        np.maximum(times[:, i - 1], times[:, j - 1]),
        paper="below 1",
    )
    others = times[:, 1:]
    known = ~np.isnan(others) & np.isfinite(variances(nets, TABLE))
    with np.errstate(invalid="ignore"):
        short = (known & (others < 1)).sum(1) / known.sum(1)
    yield nets.claim(
        "walks",
        "so they do along all other directions",
        f"share of directions 2 to {LAST} whose velocity is forgotten within an epoch; mean over"
        " nets",
        ALL,
        mean,
        short,
    )
