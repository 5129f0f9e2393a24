"""Made-up tables of `false_friend`, in a world where the preprint is right and where it is not."""

from functools import cache

import numpy as np
from side_by_side import side_by_side

from flatlas.evidence.material import Material

RIGHT, WRONG = True, False
L2 = (0.0, 1e-4, 5e-4)
GRIDS = {
    "fig3": ("logistic", "mlp", "cnn"),
    "fig4": ("cnn_colour", "preresnet", "wideresnet"),
    "fig7": ("logistic", "mlp", "cnn", "cnn_colour", "preresnet", "wideresnet"),
}
VGG = ("vgg_sgd", "vgg_sgd_ia", "vgg_adamw", "vgg_adamw_ia")
EPOCHS = (1, 2, 5, 10, 20, 50)
FACTORS = (0.5, 1.0, 4.0)
CLASSES = (2, 3, 5, 10)
FIGURES = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7")


@cache
def world(right, figure, seeds=5):
    """The material of one figure, which nobody may change."""
    parts = {}
    for stands in standing(figure):
        for seed in range(seeds):
            rng = np.random.default_rng([seed, len(parts.get("outcomes", ()))])
            for name, rows in TABLES[figure](right, stands, rng).items():
                parts.setdefault(name, []).append((stands | {"seed": seed}, rows))
            ended = {"reason": "rule met", "met_epoch": [50], "epoch": 50, "converged": True}
            parts.setdefault("outcomes", []).append((stands | {"seed": seed}, ended))
    return Material({name: side_by_side(tables) for name, tables in parts.items()})


def standing(figure):
    """Every run: its sweep and the value it stands at."""
    grids = GRIDS.get(figure, ())
    if figure in ("fig1", "fig6"):
        grids = ("logistic_path", "mlp_path")
    for sweep in grids:
        for strength in L2:
            yield {"sweep": sweep, "run": f"{sweep}-{strength}", "penalty.coefficient": strength}
    if figure in ("fig5", "fig7"):
        yield from ({"sweep": sweep, "run": sweep} for sweep in VGG)
    if figure == "fig2":
        yield from ({"sweep": f"{n}_solution", "run": n} for n in ("logistic", "mlp"))
    if figure == "fig6":
        for count in CLASSES:
            classes = tuple(range(count))
            yield {"sweep": "mlp_classes", "run": f"classes-{count}", "data.classes": classes}


def by_chance(rng):
    return 1 + 0.01 * rng.normal()


def trained(size, weight_norm, error, loss=0.1, at="final", epoch=50):
    """The tables of norms and history, a row a moment."""
    norms = {"spectral_norm": size, "trace": 9 * size, "frobenius": 2 * size}
    norms |= {"spectral_norm_residual": 1e-4 * size, "converged": False}
    history = {"train_loss": loss, "weight_norm": weight_norm, "test_error": error}
    moments = {"epoch": np.atleast_1d(epoch)}
    return {
        "norms_summary": moments | norms | {"at": at},
        "history": moments | history,
    }


def path(right, stands, rng):
    """Loss and norms fall together, or the norms rise."""
    epochs = np.array(EPOCHS)
    loss = 1 / epochs
    size = loss if right else epochs
    weights = np.sqrt(epochs) if right else 1 / epochs
    at = [*map(str, EPOCHS[:-1]), "final"]
    return trained(size * by_chance(rng), weights, 0.1, loss, at, epochs)


def scaled(right, stands, rng):
    c = np.array(FACTORS)
    falls = np.exp(-2 * c) if right else c
    rows = {"factor": c, "converged": True, "at": "final", "epoch": 50}
    for name in ("loss", "spectral_norm", "trace", "frobenius"):
        rows |= {name: falls * by_chance(rng), f"{name}_predicted": falls if right else 2 * falls}
    return {"scaling_summary": rows}


def grid(right, stands, rng):
    """L2 raises norms and accuracy, or lowers both."""
    step = L2.index(stands["penalty.coefficient"])
    step = step if right else -step
    return trained(np.exp(step) * by_chance(rng), 10.0, 0.3 - 0.05 * step)


def ways(right, stands, rng):
    sharp = {"vgg_adamw": 60, "vgg_adamw_ia": 30} if right else {"vgg_adamw_ia": 0.5}
    best = 0.2 if right else 0.4
    error = best if stands["sweep"] == "vgg_adamw_ia" else 0.3
    return trained(sharp.get(stands["sweep"], 1) * by_chance(rng), 10.0, error)


def spectra(right, stands, rng):
    count = len(stands.get("data.classes", range(10)))
    row = {
        "outliers": [count if right else 30 - count],
        "bulk": (0.95 if right else 0.2) * by_chance(rng),
        "converged": True,
        "at": "final",
        "epoch": 50,
    }
    return {"density_summary": row}


def ordered(right, stands, rng):
    """Sharpness as it comes, which the weights put in order; or in order, which they turn round."""
    order = [*L2, *VGG]
    step = order.index(stands.get("penalty.coefficient", stands["sweep"]))
    size = np.exp((-1) ** step / 2 if right else step) * by_chance(rng)
    weights = np.exp(step if right else -step)
    return trained(size, weights, 0.1 + 0.05 * step)


TABLES = {
    "fig1": path,
    "fig2": scaled,
    "fig3": grid,
    "fig4": grid,
    "fig5": ways,
    "fig6": spectra,
    "fig7": ordered,
}
