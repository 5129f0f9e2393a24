"""Figure S15: the number of images (A-D), and the fraction of them mislabelled (E-H).

Claims: Figure S15: more training images (A-D), and images with wrong labels (E-H).
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import LESS, MORE, SLIGHTLY_MORE, SMALL
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.correlations import level
from flatlas.studies.duality.spectra import by_stretch, flat, sharpest
from flatlas.studies.duality.strategies import ENDS, WITHIN, Layer
from flatlas.studies.duality.sweeps import SWEEP_LEGEND, sweep_of, sweep_row
from flatlas.studies.duality.trends import change, change_of_logs

COLUMNS = ("sigma_g", "S_w", "correlation")
# A fall of the spectrum is taken over five ranks a side, as where n_s is looked for.
RANKS = 5


def draw(material: Material) -> Drawing:
    """One row of panels a sweep."""
    figure, axes = panels(2, 4, width=2.9)
    size = sweep_of(material, "size", "data.per_class")
    noise = sweep_of(material, "noise", "data.label_noise")
    points = [
        *sweep_row(axes[:4], "ABCD", size, COLUMNS),
        *sweep_row(axes[4:], "EFGH", noise, COLUMNS),
    ]
    for ax in (axes[2], axes[6]):
        ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, pd.concat(points, ignore_index=True))


def claims(material: Material) -> list[Claim]:
    """The sweep over N, then that over ρ."""
    size = Layer(Sweep(material, "size", "data.per_class"), "N", "size")
    noise = Layer(Sweep(material, "noise", "data.label_noise"), "ρ", "noise")
    return [*_size(size), *_noise(noise)]


def _size(layer: Layer) -> Iterator[Claim]:
    yield layer.sweep.claim(
        "size_sharpness",
        "σ_g,n falls in all directions as N rises",
        f"relative change of the geometric mean of σ_g {ENDS} in half-decades of rank, {WITHIN};"
        " the largest",
        LESS,
        _largest_change,
        by_stretch(layer.sharpness, layer.last),
    )
    yield layer.sweep.claim(
        "size_size",
        "S_w rises slightly as N rises",
        f"relative change of mean S_w {ENDS}",
        SLIGHTLY_MORE,
        change,
        layer.net("S_w"),
    )
    yield layer.follows("correlation", "c_n", level(layer.sweep), rises=False)
    yield layer.follows("gap", "ΔL", layer.net("dual_gap"), rises=False)
    yield layer.lies_in("gap_sharp", "ΔL_s", layer.net("gap_sharp"), rises=False)
    yield layer.follows("gap_flat", "ΔL_f", layer.net("gap_flat"), rises=False)


def _noise(layer: Layer) -> Iterator[Claim]:
    for name, where, verb, criterion, over in (
        ("flat", "flat directions", "rises", MORE, mean(flat(layer.sharpness, layer.last), -1)),
        ("sharp", "10 sharpest directions", "falls", LESS, sharpest(layer.sharpness)),
    ):
        yield layer.sweep.claim(
            f"noise_sharpness_{name}",
            f"σ_g,n {verb} in the {where} as ρ rises",
            f"relative change of the geometric mean of σ_g in the {where} {ENDS}, {WITHIN}",
            criterion,
            change_of_logs,
            over,
        )
    yield layer.sweep.claim(
        "noise_drop",
        "with wrong labels, σ_g,n has no sudden drop",
        "drop of log σ_g at n_s of ρ = 0, or at 10 if that is larger (its fall there, five ranks a"
        " side, less the mean of the falls five ranks before and behind); mean of all ρ > 0,"
        " relative to ρ = 0",
        SMALL,
        lambda drop: mean(mean(drop)[..., 1:], -1) / mean(drop)[..., 0],
        _drop(layer),
    )
    yield layer.follows("size", "S_w", layer.net("S_w"), rises=True)
    yield layer.follows("correlation", "c_n", level(layer.sweep), rises=True)
    yield layer.follows("gap", "ΔL", layer.net("dual_gap"), rises=True)
    yield layer.lies_in("gap_flat", "ΔL_f", layer.net("gap_flat"), rises=True)


def _largest_change(logs: np.ndarray) -> np.ndarray:
    """(realizations, ..., values, half-decades)."""
    means = mean(logs)
    return np.expm1((means[..., -1, :] - means[..., 0, :]).max(-1))


def _drop(layer: Layer) -> np.ndarray:
    """How much steeper the spectrum falls at n_s than around it, as (realizations, values).

    A smooth spectrum falls across n_s, too: what its neighbours fall is taken off. Without ρ = 0
    there is nothing to compare with.
    """
    if not layer.sharpness.size or layer.sweep.values[0] != 0:
        return layer.sharpness[..., 0:0]
    place = max(2 * RANKS, round(float(mean(layer.net("n_sharp"))[0])))
    before, here, behind = (_fall(layer.sharpness, place + step) for step in (-RANKS, 0, RANKS))
    return here - (before + behind) / 2


def _fall(logs: np.ndarray, place: int) -> np.ndarray:
    return mean(logs[..., place - RANKS : place], -1) - mean(logs[..., place : place + RANKS], -1)
