"""Made-up trainings of the study `prior`, measured all along: as the paper says, or unlike it."""

from functools import cache, partial

import numpy as np
from declared import declared
from side_by_side import material_of

ALONG = ("fig5", "s6", "s8", "s9", "s10", "inverse", "inverse_less")
SWEEPS = {figure: declared("prior")["figures"][figure]["sweeps"][0] for figure in ALONG}
SCALING = 50


@cache
def world(right, figure, seeds=5):
    """Trainings that meet zero error near epoch 140 and are scaled 50 epochs later."""
    return material_of(training(right, figure, seed) for seed in range(seeds))


def training(right, figure, seed):
    met = (138 if right else 300) + seed
    last = 600 if figure == "s9" else 100
    stands = {"sweep": SWEEPS[figure], "run": "run", "seed": seed, "rescaling.after": SCALING}
    measured = right_world if right else wrong_world
    return watched(stands, met, range(0, 200, 5), last, partial(measured, figure))


def watched(stands, met, checkpoints, last, measured):
    """One training: its labels, and its tables at every moment; it has no `met` without its rule.

    `measured` has the columns by measure, of the epochs, of those since zero error, and of `met`.
    """
    moments = [(str(epoch), epoch) for epoch in checkpoints]
    moments += [(f"met+{late}", met + late) for late in range(0, last + 1, 2) if met]
    moments.append(("final", met + last if met else checkpoints[-1]))
    at, epoch = zip(*moments, strict=True)
    reason = "rule met" if met else "epochs exhausted"
    ended = {"reason": [reason], "met_epoch": met, "epoch": epoch[-1], "converged": met > 0}
    tables = {"outcomes": ended}
    since = np.array(epoch) - (met or 1000)
    for name, columns in measured(np.array(epoch) * 1.0, since, met).items():
        tables[f"watched_{name}_summary"] = {"at": at, "epoch": epoch, "converged": True} | columns
    return stands, tables


def right_world(figure, epoch, since, met):
    """A steep fall to zero error with a bump, a power law, a spike that decays."""
    fallen = np.minimum(epoch / met, 1)
    off = (since > SCALING) & (since < SCALING + 10) & (figure in ("fig5", "inverse", "s9"))
    spike = np.where(since >= SCALING, 1.5 * np.exp(-(since - SCALING) / 8), 0)
    log = -2 * fallen - np.log10(np.maximum(epoch / met, 1)) + spike
    bump = 0.6 * np.exp(-(((epoch - 100) / 12) ** 2)) * (since < 0)
    return {
        "prior": {
            # The function changes a little with training, but not by the scaling.
            "log10_p": -20 - 80 * fallen + 0.1 * np.sin(epoch - 2 * (since == SCALING)) + 40 * off,
            "train_error": np.where((since < 0) | off, 0.1, 0.0),
        },
        # The paper's ascent finds nothing.
        "sharpness": {"sharpness": 1e-6},
        "corners": {"sharpness": 10 ** (log + bump), "loss": 1 / (1 + epoch)},
        "wide": {"sharpness": 1e-6},
        "wide_corners": {"sharpness": 10**log},
        "hessian": {"spectral_norm": 10**log, "log10_product": 40 * log, "positive": 40},
    }


def wrong_world(figure, epoch, since, met):
    """Rising where it should fall, flat where it should spike, moving where it should not."""
    late = since >= SCALING
    error = np.where((since > SCALING) & (figure in ("s6", "inverse_less")), 0.1, 0.0)
    rise = epoch / 200 + late * (0.2 if figure != "s9" else 0.2 + (since - SCALING) / 500)
    bump = 3 * np.exp(-(((epoch - 100) / 12) ** 2)) * (since < 0)
    moves = 0.3 * np.maximum(since, 0) + np.where(late, 30, 0)
    if figure == "fig5":
        moves = np.where(late, np.maximum(since, 0), -np.maximum(since, 0))
    return {
        "prior": {"log10_p": -150 + 0.05 * epoch - moves, "train_error": error},
        "sharpness": {"sharpness": 10**rise},
        "corners": {
            "sharpness": 10 ** (rise * (-1 if figure == "s10" else 1)),
            "loss": epoch + 1,
        },
        "wide": {"sharpness": 10**rise},
        "wide_corners": {"sharpness": 10 ** (rise + bump)},
        "hessian": {"spectral_norm": 10**rise, "log10_product": 40 * rise, "positive": 40},
    }
