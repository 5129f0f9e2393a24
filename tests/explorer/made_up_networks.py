"""Made-up networks with the columns of the atlas' networks.parquet, and made-up claims."""

from itertools import product

import numpy as np
import pandas as pd

from flatlas.claims.claim import COLUMNS
from flatlas.studies.atlas import nets as atlas
from flatlas.studies.atlas.quantities import QUANTITIES, SEARCHED

BASE = {
    "optimizer.name": "sgd",
    "optimizer.lr": 0.1,
    "batch": 32,
    "penalty.coefficient": 0.0,
    "net.init.weight_std": 1.0,
    "width": 40,
    "depth": 2,
    "data.train_size": 500,
    "data.label_noise": 0.0,
    "data.attack_size": 0,
}
SWEPT = {
    "rate": ("optimizer.lr", [0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3]),
    "batch": ("batch", [4, 8, 16, 32, 64, 128, 250, 500]),
    "decay": ("penalty.coefficient", [0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2]),
    "init": ("net.init.weight_std", [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0]),
    "width": ("width", [10, 20, 30, 40, 60, 80, 120, 160]),
    "depth": ("depth", [1, 2, 3, 4, 5, 6, 7, 8]),
    "size": ("data.train_size", [100, 200, 300, 400, 500, 700, 1000, 2000]),
    "noise": ("data.label_noise", [0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]),
    "attack": ("data.attack_size", [0, 50, 100, 200, 300, 500, 700, 1000]),
}
AXES = {name: words for name, words in atlas.AXES.items() if name not in ("radius", "recorded")}
OPTIMIZERS = ("sgd", "momentum", "adam", "adagrad", "rmsprop", "entropy_sgd", "sam", "asam")
SEEDS = 5
BEYOND = (0, 10, 30, 100, 200, 300, 500, 1000)
# How much the gap and the measures grow with each setting: both with label noise, in opposite
# directions with the learning rate.
GAP = {"optimizer.lr": -0.1, "data.label_noise": 0.4, "data.attack_size": 2e-4, "depth": 0.005}
PRIOR = {"optimizer.lr": 12, "data.label_noise": 90, "data.attack_size": 0.08, "depth": 1.5}
SHARP = {"optimizer.lr": -2.5, "data.label_noise": 6, "batch": 0.002, "width": -0.004}


def networks(crossed: int) -> pd.DataFrame:
    """About 700 networks in the order of the page; `crossed` is the number of rates in the grid."""
    points: dict[tuple, set[str]] = {}

    def add(sweep: str, **changes: object) -> None:
        points.setdefault(tuple((BASE | changes).items()), set()).add(sweep)

    for sweep, (key, values) in SWEPT.items():
        for value in values:
            add(sweep, **{key: value})
    for place, name in enumerate(OPTIMIZERS):
        add("optimizer", **{"optimizer.name": name, "optimizer.lr": 0.1 if place < 2 else 0.01})
    for rate, batch, width in product(
        np.geomspace(0.01, 0.3, crossed).round(3), [8, 32, 128], [20, 40, 80]
    ):
        add("crossed", **{"optimizer.lr": rate, "batch": batch, "width": width})
    random = np.random.default_rng(0)
    rows = [
        _network(dict(point), sweeps, number, seed, beyond, random)
        for number, (point, sweeps) in enumerate(points.items())
        for seed in range(SEEDS)
        for beyond in (BEYOND if dict(point) == BASE else (0,))
    ]
    order = ["study", "run", "seed", "at"]
    return pd.DataFrame(rows).sort_values(order, kind="stable", ignore_index=True)


def _network(point, sweeps, number, seed, beyond, random) -> dict:
    noise = lambda size=1.0: size * random.standard_normal()  # noqa: E731
    away = {key: point[key] - BASE[key] for key in {*GAP, *PRIOR, *SHARP}}
    test = 0.08 + 0.003 * seed + sum(GAP.get(key, 0) * away[key] for key in away) + noise(0.006)
    test = round(max(test, 0.01) * 1000) / 1000
    loss = 0.02 * float(np.exp(noise(0.3))) / (1 + beyond / 50)
    name = (
        f"mnist-500-dense{point['width']}x{point['depth']}-{point['optimizer.name']}-{number:012x}"
    )
    row = {
        "study": "atlas",
        "axes": ";".join(sorted(sweeps | ({"beyond"} if point == BASE else set()))),
        "run": name,
        "seed": seed,
        "at": f"met+{beyond}" if beyond else "met",
        **point,
        "epochs": round(40 * float(np.exp(noise(0.4)))) + beyond,
        "train_error": 0.0,
        "test_error": test,
        "train_loss": loss,
        "test_loss": 3 * test + abs(noise(0.02)),
        "gap": test,
    }
    if beyond:
        row["axes"] = "beyond"
    sharp = sum(SHARP.get(key, 0) * away[key] for key in away) - beyond / 250
    improbable = 60 + sum(PRIOR.get(key, 0) * away[key] for key in away)
    for place, measure in enumerate(QUANTITIES):
        if measure in row:
            continue
        if measure == "prior":
            value = improbable + noise(2)
        elif measure == "margin":
            value = -abs(0.3 + noise(0.1)) + test
        else:
            value = float(
                np.exp(0.3 * place + sharp * (0.3 + 0.05 * place) + 3 * test + noise(0.3))
            )
        row[measure] = value
        row[f"{measure}_error"] = abs(value) * 0.02
        if measure in SEARCHED:
            row[f"{measure}_converged"] = bool(random.random() > 0.04)
    if point["depth"] > 5:
        row |= {"regret": np.nan, "kl_regret": np.nan, "kl_regret_error": np.nan}
    # Only recorded trajectories have it.
    row["pca_flatness"] = np.nan
    return row


def curves(nets: pd.DataFrame) -> pd.DataFrame:
    """A learning curve of each network, as `learning_curves` makes them."""
    epochs = np.unique(np.geomspace(1, 60, 24).round().astype(int))
    each = nets.drop_duplicates(["run", "seed"])[["run", "seed"]]
    falling = {
        "epoch": epochs,
        "train_loss": 0.7 * np.exp(-epochs / 12),
        "test_loss": 0.7 * np.exp(-epochs / 20) + 0.1,
        "train_error": 0.4 * np.exp(-epochs / 8),
        "test_error": 0.4 * np.exp(-epochs / 12) + 0.05,
    }
    return each.merge(pd.DataFrame(falling).round(3), how="cross").assign(folder="runs")


def claims() -> pd.DataFrame:
    """Claims of each verdict, with open and closed criteria, some with a paper's value."""
    common = {"whose": "paper", "holds_from": -np.inf, "holds_to": np.inf, "paper": "", "note": ""}
    rows = [
        {
            "claim": "duality_fig3.slope",
            "says": "ΔL falls with the learning rate",
            "quantity": "slope of ΔL over α",
            **{"criterion": "at most 0", "holds_to": 0.0, "paper": "-0.8"},
            **{"value": -0.7, "low": -0.9, "high": -0.5, "verdict": "reproduced"},
        },
        {
            "claim": "duality_fig3.constant",
            "says": "the size stays as it is",
            "quantity": "T_w, relative change",
            **{"criterion": "-0.1 to 0.1", "holds_from": -0.1, "holds_to": 0.1},
            **{"value": 0.37, "low": 0.3, "high": 0.42, "verdict": "not reproduced"},
            "note": "Three realizations.",
        },
        {
            "claim": "prior_fig4.flatness",
            "says": "flatness & accuracy </script> <b>correlate</b>",
            "quantity": "Pearson's coefficient",
            **{"criterion": "at least 0.7", "holds_from": 0.7, "paper": "0.9"},
            **{"value": 0.48, "low": 0.22, "high": 0.71, "verdict": "undecided"},
        },
        {
            "claim": "prior_fig4.added",
            "says": "the prior adds to it",
            "whose": "flatlas",
            "quantity": "partial τ",
            **{"criterion": "above 0", "holds_from": 0.0},
            **{"value": 0.5, "low": 0.4, "high": 0.6, "verdict": "reproduced"},
        },
    ]
    missing = {"claim": "mystery_fig2", "says": "True regret", "verdict": "not run"}
    rows = [*({**common, **row} for row in rows), missing]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    study = table["claim"].str.split("_").str[0]
    figure = table["claim"].str.split(r"[._]", regex=True).str[1]
    picture = [f"{one}/{name}.png" for one, name in zip(study, figure, strict=True)]
    return table.assign(study=study, figure=figure, scale="laptop", picture=picture)
