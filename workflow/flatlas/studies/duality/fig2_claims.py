"""Figure 2: σ_g measures sharpness, σ_w the size of the solution."""

from collections.abc import Iterator

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY, MORE, RISING
from flatlas.studies.duality.spectra_claims import live
from flatlas.studies.duality.strategies import ENDS
from flatlas.studies.duality.swept_claims import SWEPT
from flatlas.studies.duality.trends import change, pooled
from flatlas.claims.nets import Nets, Sweep
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean

# A net with fewer directions in a decade of H_n says nothing of the trend there.
ENOUGH = 10
GROWING, FLAT = ("decay", "init"), ("alpha", "batch")


def judge(material: Material) -> list[Claim]:
    """Panel A over every net, its inset, and panel B sweep by sweep."""
    return [*_sharpness(Nets(material)), *_size(material)]


def _sharpness(nets: Nets) -> Iterator[Claim]:
    pooled_nets = f"all nets of the sweeps that are drawn ({_sweeps(nets.material)})"
    curvature = live(nets.read("hidden_directions", "eigenvalue", "n"))
    variance = nets.read("hidden_directions", "sigma_g", "n") ** 2
    yield nets.claim(
        "monotone",
        "σ²_g,n grows monotonically with H_n",
        "rank correlation of σ²_g,n with H_n over the directions with H_n above round-off; mean"
        f" over {pooled_nets}",
        RISING,
        lambda within: mean(mean(within), -1),
        spearman(curvature, variance),
    )
    yield nets.claim(
        "every_decade",
        "over the whole range of H_n, σ²_g,n is larger where H_n is",
        "the same within each decade of H_n in which nets have 10 directions or more; the lowest"
        f" of all decades, over {pooled_nets}",
        MORE,
        lambda within: mean(within).min(-1, initial=np.inf),
        _by_decade(curvature, variance),
    )
    yield nets.claim(
        "traces",
        "T_g is highly correlated with T_h",
        f"rank correlation of T_g with T_h over {pooled_nets}",
        RISING,
        pooled,
        nets.read("hidden_summary", "T_g"),
        nets.read("hidden_summary", "T_h"),
    )


def _sweeps(material: Material) -> str:
    return ", ".join(map(str, material.tables["outcomes"]["sweep"].unique()))


def _by_decade(curvature: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """The correlation in each decade that every realization has, as (realizations, decades)."""
    decade = np.floor(np.log10(curvature))
    found = []
    for power in np.unique(decade[np.isfinite(decade)]):
        inside = np.where(decade == power, curvature, np.nan)
        enough = np.isfinite(inside).sum(-1) >= ENOUGH
        within = mean(np.where(enough, spearman(inside, variance), np.nan), -1)
        if np.isfinite(within).any() and np.isfinite(within).sum() == _with_any(curvature):
            found.append(within)
    return np.stack(found, axis=-1) if found else np.empty((len(curvature), 0))


def _with_any(curvature: np.ndarray) -> int:
    """How many realizations have a net at all."""
    return int(np.isfinite(curvature).any((1, 2)).sum())


def _size(material: Material) -> Iterator[Claim]:
    for name in GROWING:
        key, symbol = SWEPT[name]
        sweep = Sweep(material, name, key)
        yield sweep.claim(
            f"{name}_size",
            f"T_w grows with ‖w‖₂ when {symbol} varies",
            "rank correlation of T_w with the layer's ‖w‖₂ over the nets of the sweep",
            RISING,
            pooled,
            sweep.read("hidden_summary", "T_w"),
            sweep.read("hidden_summary", "layer_norm"),
        )
    for name in FLAT:
        key, symbol = SWEPT[name]
        sweep = Sweep(material, name, key)
        for column, what in (("T_w", "T_w"), ("layer_norm", "‖w‖₂")):
            yield sweep.claim(
                f"{name}_{column}",
                f"{what} is flat when {symbol} varies",
                f"relative change of mean {what} {ENDS}",
                BARELY,
                change,
                sweep.read("hidden_summary", column),
            )
