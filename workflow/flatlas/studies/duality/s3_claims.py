"""Figure S3: the correlation c_n of g and Δw."""

from collections.abc import Iterator

import numpy as np

from flatlas.evidence.material import Material
from flatlas.claims.claim import Claim
from flatlas.claims.conventions import ALL, BARELY, BARELY_OFF
from flatlas.studies.duality.correlations import by_half_decade, correlations, level
from flatlas.studies.duality.strategies import ENDS, WITHIN
from flatlas.studies.duality.swept_claims import SWEPT
from flatlas.studies.duality.trends import change
from flatlas.claims.nets import Nets, Sweep
from flatlas.statistics.means import mean


def judge(material: Material) -> list[Claim]:
    """Of every net; then sweep by sweep.

    'Except for adding new data', says the paper: sizes and label noise are Figure S15's.
    """
    return [*_each_net(Nets(material)), *_each_sweep(material)]


def _each_net(nets: Nets) -> Iterator[Claim]:
    c = correlations(nets)
    parts = by_half_decade(c)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = mean(np.abs(parts / mean(parts, -1)[..., np.newaxis] - 1), -1)
        known = np.isfinite(c).sum(-1)
        positive = np.where(known > 0, (c >= 0).sum(-1) / known, np.nan)
    yield nets.claim(
        "constant",
        "c_n hardly depends on n",
        f"mean relative deviation of c_n from its mean, over half-decades of rank, {WITHIN}; mean"
        " over all nets",
        BARELY_OFF,
        lambda over: mean(mean(over), -1),
        deviation,
    )
    yield nets.claim(
        "positive",
        "0 ≤ c_n ≤ 1",
        f"share with c_n ≥ 0 of the {WITHIN}; mean over all nets (c_n ≤ 1 is a theorem)",
        ALL,
        lambda over: mean(mean(over), -1),
        positive,
    )


def _each_sweep(material: Material) -> Iterator[Claim]:
    for name, (key, symbol) in SWEPT.items():
        sweep = Sweep(material, name, key)
        yield sweep.claim(
            f"{name}_level",
            f"c_n does not depend on {symbol}",
            f"relative change of mean c_n {ENDS}, over half-decades of rank, {WITHIN} at every"
            " value",
            BARELY,
            change,
            level(sweep),
        )
