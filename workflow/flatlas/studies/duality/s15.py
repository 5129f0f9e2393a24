"""Figure S15: more training images (A-D), and images with wrong labels (E-H)."""

import numpy as np

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import LESS, MORE, MOSTLY, SLIGHTLY_MORE, SMALL
from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import largest, mean, smallest
from flatlas.statistics.trends import change_of_logs
from flatlas.studies.duality.directions import by_stretch, flat, from_first_to_last, sharpest
from flatlas.studies.duality.layer import ENDS, WITHIN, Layer, named
from flatlas.studies.duality.sweeps import SPECTRA, draw_sweeps

# The fall of a spectrum is measured over five ranks on each side, as in the search for n_s.
RANKS = 5
SHARPNESS = "the geometric mean of σ_g"


def draw(material: Material) -> Drawing:
    """A row of panels for each sweep, with the correlation."""
    return draw_sweeps(material, "size", "noise", spectra=(*SPECTRA, "correlation"), width=2.9)


def claims(material: Material) -> Claims:
    """The claims about N, then those about ρ."""
    size, noise = (Layer(material, sweep) for sweep in ("size", "noise"))
    yield from named("size", _size(size))
    yield from named("noise", _noise(noise))


def _size(layer: Layer) -> Claims:
    yield layer.changes(
        "sharpness",
        "σ_g,n falls in all directions as N rises",
        f"{SHARPNESS} {ENDS} in half-decades of rank, {WITHIN}; the largest",
        LESS,
        by_stretch(layer.sharpness, layer.last),
        Joint(from_first_to_last, largest, shown=np.expm1),
    )
    size = layer.net("S_w")
    says = "S_w rises slightly as N rises"
    yield layer.changes("size", says, f"mean S_w {ENDS}", SLIGHTLY_MORE, size)
    yield layer.follows("correlation", "c_n", layer.correlation, rises=False)
    yield layer.follows("gap", "ΔL", layer.net("dual_gap"), rises=False)
    yield layer.lies_in("gap_sharp", "ΔL_s", layer.net("gap_sharp"), rises=False)
    yield layer.follows("gap_flat", "ΔL_f", layer.net("gap_flat"), rises=False)


def _noise(layer: Layer) -> Claims:
    yield layer.changes(
        "sharpness_flat",
        "σ_g,n rises in all flat directions as ρ rises",
        f"{SHARPNESS} {ENDS} in half-decades of rank beyond 10, {WITHIN}; the smallest",
        MORE,
        flat(layer.sharpness, layer.last),
        Joint(from_first_to_last, smallest, shown=np.expm1),
    )
    yield layer.changes(
        "sharpness_sharp",
        "σ_g,n falls in the 10 sharpest directions as ρ rises",
        f"{SHARPNESS} in the 10 sharpest directions {ENDS}",
        LESS,
        sharpest(layer.sharpness),
        change_of_logs,
    )
    yield layer.sweep.claim(
        "drop",
        "with wrong labels, σ_g,n has no sudden drop",
        "drop of log σ_g at n_s of ρ = 0, or at 10 if that is larger (its fall there, five ranks a"
        " side, less the mean of the falls five ranks before and behind); mean of all ρ > 0,"
        " relative to ρ = 0",
        SMALL,
        lambda drop: mean(mean(drop)[..., 1:], -1) / mean(drop)[..., 0],
        _drop(layer),
    )
    yield layer.follows("size", "S_w", layer.net("S_w"), rises=True)
    yield layer.follows("correlation", "c_n", layer.correlation, rises=True)
    yield layer.follows("gap", "ΔL", layer.net("dual_gap"), rises=True)
    yield layer.lies_in("gap_flat", "ΔL_f", layer.net("gap_flat"), rises=True)
    yield layer.sweep.claim(
        "dominated",
        "with wrong labels, ΔL is dominated by ΔL_f",
        "ΔL_f as a share of ΔL; mean over all ρ > 0",
        MOSTLY,
        lambda share: mean(mean(share)[..., 1:], -1),
        layer.net("gap_flat") / layer.net("dual_gap"),
    )


def _drop(layer: Layer) -> np.ndarray:
    """How much steeper the spectrum falls at n_s than around it, as (realizations, values).

    A smooth spectrum falls across n_s too, so the falls around n_s are subtracted. Without ρ = 0
    there is nothing to compare with.
    """
    if not layer.sharpness.size or layer.sweep.values[0] != 0:
        return layer.sharpness[..., 0:0]
    place = max(2 * RANKS, round(float(mean(layer.net("n_sharp"))[0])))
    before, here, behind = (_fall(layer.sharpness, place + step) for step in (-RANKS, 0, RANKS))
    return here - (before + behind) / 2


def _fall(logs: np.ndarray, place: int) -> np.ndarray:
    return mean(logs[..., place - RANKS : place], -1) - mean(logs[..., place : place + RANKS], -1)
