"""Figure 6: the bulk of the spectrum, and what stands out of it."""

from collections.abc import Iterator

import numpy as np

from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import BOUNDED, TIGHT, near
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import Material
from flatlas.statistics.correlation import pearson
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.measured import NAMES, along_l2

TABLE = "density_summary"
CLASSES, LISTED = "mlp_classes", "data.classes"
# The abstract and the introduction, which are all that is left, speak of neither.
ELSEWHERE = " (Sagun et al., 2017, of other nets)"


def judge(material: Material) -> list[Claim]:
    """With and without L2, and over the number of classes."""
    return ours([*_bulk(material, "logistic"), *_bulk(material, "mlp"), *_outliers(material)])


def _bulk(material: Material, name: str) -> Iterator[Claim]:
    nets = along_l2(material, f"{name}_path")
    share = nets.read(TABLE, "bulk")
    for place, says in ((0, "without"), (-1, "with")):
        yield nets.claim(
            f"{name}_bulk_{says}_l2",
            f"nearly all eigenvalues of {NAMES[name]} lie in a bulk at 0{ELSEWHERE}",
            f"share of the eigenvalues up to a hundredth of λ₁, {says} L2; mean over nets",
            BOUNDED,
            mean,
            share[:, place] if share.size else share,
        )


def _outliers(material: Material) -> Iterator[Claim]:
    nets = Sweep(_counted(material), CLASSES, along="classes")
    outliers, converged = (nets.read(TABLE, column) for column in ("outliers", "converged"))
    classes = np.array(nets.values, dtype=float)
    yield nets.claim(
        "outliers_linear",
        f"the number of outliers grows linearly with the number of classes{ELSEWHERE}",
        "Pearson's coefficient of the mean number of outliers and the number of classes",
        TIGHT["pearson"],
        lambda counted: pearson(classes, mean(counted)),
        outliers,
        settled=(converged,),
    )
    yield nets.claim(
        "outliers_each",
        f"there are about as many outliers as classes{ELSEWHERE}",
        "outliers over classes; mean over nets and numbers of classes",
        near(1),
        lambda counted: mean(mean(counted) / classes, -1),
        outliers,
        settled=(converged,),
    )


def _counted(material: Material) -> Material:
    """With the number of classes in place of their list."""
    tables = {
        name: table.assign(classes=table[LISTED].map(len, na_action="ignore"))
        for name, table in material.tables.items()
        if LISTED in table
    }
    return Material({**material.tables, **tables})
