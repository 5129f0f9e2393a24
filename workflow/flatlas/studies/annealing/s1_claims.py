"""Figure S1: a fast drop of the loss, then slow exploration."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import ALL, SMALL, near
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.statistics.learning_phases import transition
from flatlas.statistics.means import mean

# Each net, and about when the paper sees its drop.
NETS = {"deep_curve": ("deep", "four hidden layers", 50), "lenet_curve": ("lenet", "the LeNet", 30)}


def judge(material: Material) -> list[Claim]:
    """Both nets."""
    return [
        claim for sweep, told in NETS.items() for claim in _phases(Nets(material, sweep), *told)
    ]


def _phases(nets: Nets, name: str, net: str, drop: int) -> Iterator[Claim]:
    found = np.array([_phases_of(nets, seed) for seed in nets.seeds]).reshape(-1, 3)
    steepest, begins, slowed = found.T
    solved = nets.outcomes.set_index("seed")["converged"].reindex(nets.seeds).to_numpy(bool)
    yield nets.claim(
        f"{name}_phases",
        f"learning has two phases: {net}",
        "share of trainings in which an exploration phase begins, by the stated criterion",
        ALL,
        mean,
        np.where(solved, np.isfinite(begins), np.nan),
    )
    yield nets.claim(
        f"{name}_slower",
        f"in the second the loss falls much more slowly: {net}",
        "fall of ln L per epoch from where exploration begins to the end, relative to that from"
        " where the loss falls steepest to there; mean over nets",
        SMALL,
        mean,
        np.where(solved, slowed, np.nan),
    )
    yield nets.claim(
        f"{name}_drop",
        f"the fast drop comes around epoch {drop}: {net}",
        "epoch around which the loss falls steepest, relative to the time until then; mean over"
        " nets",
        near(drop),
        mean,
        np.where(solved, steepest, np.nan),
        paper=f"{drop}",
    )


def _phases_of(nets: Nets, seed: int) -> tuple[float, float, float]:
    """When the loss falls steepest, when exploration begins, and how much slower it falls then."""
    history = nets.material.tables["history"].reindex(
        columns=["sweep", "run", "seed", "epoch", "train_loss"]
    )
    mine = history[(history["sweep"] == nets.sweep) & (history["seed"] == seed)]
    mine = mine[mine["epoch"] > 0].sort_values("epoch")
    epochs, losses = (mine[name].to_numpy(float) for name in ("epoch", "train_loss"))
    steepest, begins = transition(epochs, losses)
    if not np.isfinite(begins):
        return steepest, begins, np.nan
    times = np.array([steepest, begins, epochs[-1]])
    logs = np.interp(times, epochs, np.log(np.minimum.accumulate(losses)))
    fast, slow = np.diff(logs) / np.diff(times)
    return steepest, begins, float(slow / fast)
