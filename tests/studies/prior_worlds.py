"""Made-up tables of the study `prior`, in a world where the paper is right and where it is not.

Along a sweep the accuracy falls step by step, and a quantity that goes with it takes the same steps
in an order of its own. A realization moves all quantities of a step by the same small amount.
"""

from functools import cache

import numpy as np
import prior_courses
from declared import declared, ended, nets_of
from side_by_side import material_of

STUDY = declared("prior")
BREAKING = ("adam", "entropy_sgd", "adagrad", "momentum", "rmsprop")
# Where the paper calls flatness much more scattered than the prior.
MUCH_SCATTERED = ("fig3", "s19")
# The functions of the Boolean net are its realizations: so many for each of another net.
FUNCTIONS = 8
# The step of a quantity at each step of the accuracy, and their correlation.
EXACT = (0, 1, 2, 3, 4, 5)
TIGHT = (1, 0, 2, 3, 4, 5)  # ρ = 0.94, τ = 0.87
LOOSE = (1, 0, 3, 2, 5, 4)  # ρ = 0.83, τ = 0.60
SCATTERED = (2, 4, 0, 1, 5, 3)  # ρ = 0.26, τ = 0.20
NONE = (2, 4, 0, 5, 1, 3)  # ρ = 0.03, τ = 0.07
TURNED = (5, 4, 3, 2, 1, 0)
STEPS = len(EXACT)
# Epochs after zero error.
LATER = (100, 500, 1000)


@cache
def world(right, figure, seeds=5):
    """The material of one figure, which must not be changed."""
    if figure in prior_courses.ALONG:
        return prior_courses.world(right, figure, seeds)
    # The functions of the Boolean net are its realizations.
    count = FUNCTIONS * seeds if seeds > 1 else 1
    measures = STUDY["figures"][figure]["measures"]
    return material_of(
        (labels | at, tables)
        for number, labels in nets_of("prior", figure, count)
        if number < STEPS and (labels["sweep"] == "boolean" or labels["seed"] < seeds)
        for at, tables in tables_of(right, quantities(right, figure, number, labels), measures)
    )


def tables_of(right, net, measures):
    """The tables of one net, as columns, and at which moments."""
    yield {}, {"outcomes": ended(60)}
    for name in measures:
        measure = MEASURES[name.removeprefix("later_")]
        for beyond in LATER if name.startswith("later_") else (0,):
            at = {"at": f"met+{beyond}", "epoch": 60 + beyond}
            tables = measure(right, net, beyond)
            yield at, {f"{name}_{table}": columns for table, columns in tables.items()}


def quantities(right, figure, number, labels):
    """How far, from 0 to 1, the quantities of a net have fallen or risen at zero error."""
    sweep, seed = labels["sweep"], labels["seed"]
    moved = 0.02 * np.random.default_rng(seed).normal()
    if sweep == "boolean":
        a, *chance = np.random.default_rng(seed).random(3)
        flat = a + 0.3 * chance[0] if right else chance[0]
        return {
            "attack": a,
            "prior": a,
            "sharp": flat,
            "norm": flat if right else chance[1],
            "level": 0,
        }
    steps = steps_of(right, figure, sweep)
    # Where the paper is right optimizers differ in sharpness, elsewhere in P(f) and accuracy.
    level = {"level": 0.4 * (sweep in BREAKING)}
    return level | {name: order[number] / 5 + moved for name, order in steps.items()}


def steps_of(right, figure, sweep):
    """The order in which each quantity takes its steps, on one sweep."""
    breaks = sweep in BREAKING
    if right:
        # In S7 flatness goes with the prior as it goes with the accuracy.
        exact = sweep == "many_images" or figure == "s7"
        prior, sharp = EXACT if exact else TIGHT, NONE if breaks else LOOSE
        if figure in MUCH_SCATTERED or sweep == "residual_adam":
            sharp = SCATTERED
        return {"attack": EXACT, "prior": prior, "sharp": sharp, "norm": sharp}
    prior = LOOSE if breaks else NONE
    sharp = {"residual_adam": LOOSE, "entropy_sgd": TURNED}.get(sweep, EXACT)
    if sweep.startswith("full_batch"):
        sharp = NONE
    if figure == "fig4":
        # Of SGD neither correlated nor looser than the prior, and weaker than of the others.
        sharp = SCATTERED if sweep == "sgd" else EXACT
    norm = SCATTERED if sweep == "adam" else NONE
    return {"attack": EXACT, "prior": prior, "sharp": sharp, "norm": norm}


def prior(right, net, beyond):
    """Where the paper is wrong, overtraining reverses the order of all quantities."""
    step = net["prior"] if right or not beyond else -net["attack"]
    accuracy = 88 - 37 * net["attack"] if right else 40 - 30 * net["attack"] - 15 * net["level"]
    log10_p = -330 - 100 * step if right else -600 - 400 * (step + net["level"])
    row = {"log10_p": [log10_p], "test_error": 1 - accuracy / 100, "converged": True}
    return {"summary": row}


def sharpness(right, net, beyond):
    step = net["sharp"] if right or not beyond else -net["attack"]
    found = 10 ** (step + right * net["level"]) / (1 + beyond / 100)
    epochs = np.arange(101)
    rise = 1 - np.exp(-epochs / 8) if right else epochs / 100
    first = 0.1 if right else 0.97
    row = {"sharpness": [found], "first_order": first * found, "rest": (1 - first) * found}
    return {
        "summary": row | {"converged": True},
        "ascent": {"epoch_of_ascent": epochs, "value": 0.1 + 0.011 * found * rise},
    }


def lbfgs(right, net, beyond):
    found = 10 ** (net["sharp"] + 0.002 if right else net["norm"] + 1)
    return {"summary": {"sharpness": [found], "converged": True}}


def hessian(right, net, beyond):
    step = net["norm"] if right or not beyond else -net["attack"]
    row = {"spectral_norm": [10 ** (1 + step)], "log10_product": 50 * step - 30, "positive": 50}
    return {"summary": row | {"converged": True}}


def boolean_prior(right, net, beyond):
    return {"summary": {"log10_p": [-2 - 4 * net["prior"]]}}


MEASURES = {
    "prior": prior,
    "heaviside": prior,
    "sharpness": sharpness,
    "lbfgs": lbfgs,
    "corners": sharpness,
    "hessian": hessian,
    "boolean_prior": boolean_prior,
}
