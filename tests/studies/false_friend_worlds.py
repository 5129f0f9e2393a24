"""Made-up tables of `false_friend`, in a world where the preprint is right and in a wrong one."""

from functools import cache

import numpy as np
from declared import declared, ended
from side_by_side import material_of

# One more than the author's: three strengths have no order.
L2 = (0.0, 1e-4, 5e-4, 1e-3)
VGG = ("vgg_sgd", "vgg_sgd_ia", "vgg_adamw", "vgg_adamw_ia")
STUDY = declared("false_friend")
EPOCHS = (1, 2, 5, 10, 20, 50)
FACTORS = np.array([0.5, 1.0, 4.0])
CLASSES = (2, 3, 5, 10)
FINAL = {"at": "final", "epoch": 50}


@cache
def world(right, figure, seeds=5):
    """The material of one figure. It is cached: don't change it."""
    nets = []
    for point in points(figure):
        for seed in range(seeds):
            rng = np.random.default_rng([seed, len(nets)])
            tables = TABLES[figure](right, point, rng) | {"outcomes": ended(50)}
            nets.append((point | {"seed": seed}, tables))
    return material_of(nets)


def points(figure):
    """The sweep, the run and the swept value of every run."""
    for sweep in STUDY["figures"][figure]["sweeps"]:
        if sweep in VGG or figure == "fig2":
            yield {"sweep": sweep, "run": sweep}
        elif sweep == "mlp_classes":
            for count in CLASSES:
                classes = {"data.classes": tuple(range(count))}
                yield {"sweep": sweep, "run": f"classes-{count}"} | classes
        else:
            for strength in L2:
                run = f"{sweep}-{strength}"
                yield {"sweep": sweep, "run": run, "penalty.coefficient": strength}


def by_chance(rng):
    return 1 + 0.01 * rng.normal()


def trained(size, weight_norm, error, loss=0.1, at="final", epoch=50):
    """The tables of norms and history, a row for each moment."""
    moments = {"epoch": np.atleast_1d(epoch)}
    history = {"train_loss": loss, "weight_norm": weight_norm, "test_error": error}
    norms = moments | of_size(size) | {"at": at}
    return {"norms_summary": norms, "history": moments | history}


def path(right, point, rng):
    """Loss and norms fall together, or the norms rise."""
    epochs = np.array(EPOCHS)
    loss = 1 / epochs
    size = loss if right else epochs
    weights = np.sqrt(epochs) if right else 1 / epochs
    at = [*map(str, EPOCHS[:-1]), "final"]
    return trained(size * by_chance(rng), weights, 0.1, loss, at, epochs)


def scaled(right, point, rng):
    """Loss and norms reach their limit, which falls; or they rise beside a limit of twice that."""
    falls = np.exp(-2 * FACTORS) if right else FACTORS
    measured = falls * by_chance(rng)
    predicted = falls if right else 2 * falls
    rows = {"factor": FACTORS, "misclassified": 0, "converged": True}
    for place, name in enumerate(("loss", "spectral_norm", "trace", "frobenius"), start=1):
        rows |= {name: place * measured, f"{name}_predicted": place * predicted}
    return {"scaling_summary": FINAL | rows}


def grid(right, point, rng):
    """L2 raises norms and accuracy, or lowers both."""
    step = L2.index(point["penalty.coefficient"])
    step = step if right else -step
    return trained(np.exp(step) * by_chance(rng), 10.0, 0.3 - 0.05 * step)


def ways(right, point, rng):
    """Averaged AdamW has the least error and is 30 times as sharp as SGD, or neither."""
    sharp = {"vgg_adamw": 60, "vgg_adamw_ia": 30} if right else {"vgg_adamw_ia": 0.5}
    error = (0.2 if right else 0.4) if point["sweep"] == "vgg_adamw_ia" else 0.3
    return trained(sharp.get(point["sweep"], 1) * by_chance(rng), 10.0, error)


def spectra(right, point, rng):
    """As many outliers as classes beside a large bulk, or fewer for more classes."""
    count = len(point.get("data.classes", range(10)))
    bulk = (0.95 if right else 0.2) * by_chance(rng)
    row = {"outliers": count if right else 30 - count, "bulk": bulk, "converged": True}
    return {"density_summary": [FINAL | row]}


def ordered(right, point, rng):
    """The weights put an alternating sharpness in order, or reverse an ordered sharpness."""
    order = [*L2, *VGG]
    step = order.index(point.get("penalty.coefficient", point["sweep"]))
    size = np.exp((-1) ** step / 2 if right else step) * by_chance(rng)
    weights = np.exp(step if right else -step)
    return trained(size, weights, 0.1 + 0.05 * step)


def of_size(size):
    """The norms of a Hessian with its largest eigenvalue; not all others were found."""
    row = {"spectral_norm": size, "trace": 9 * size, "frobenius": 2 * size}
    return row | {"spectral_norm_residual": 1e-6 * size, "converged": False}


TABLES = {
    "fig1": path,
    "fig2": scaled,
    "fig3": grid,
    "fig4": grid,
    "fig5": ways,
    "fig6": spectra,
    "fig7": ordered,
}
