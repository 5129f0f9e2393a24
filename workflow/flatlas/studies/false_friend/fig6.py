"""Figure 6: the spectral density without L2 and with, and how many eigenvalues stand out."""

from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim, Claims, ours
from flatlas.claims.conventions import BOUNDED, TIGHT, near
from flatlas.claims.nets import Sweep
from flatlas.evidence.material import DOT, Material
from flatlas.plotting.style import BLUE, COLOURS, GREY, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import pearson
from flatlas.statistics.means import mean
from flatlas.studies.false_friend.norms import KINDS, L2, OverL2, name_of, strengths_in

TABLE = "density_summary"
SPECTRA = ("logistic_path", "mlp_path")
# The sweep over classes, and the key that lists them.
CLASSES, LISTED = "mlp_classes", "data.classes"
COLUMNS = {
    "density": ("eigenvalue", "density"),
    "summary": ("spectral_norm", "outliers", "edge", "bulk", "size", "converged"),
}
# Only the abstract and the introduction are left, and they mention neither.
ELSEWHERE = " (Sagun et al., 2017, of other nets)"


def draw(material: Material) -> Drawing:
    """A, B: the density in the first realization. C: outliers over classes in each realization."""
    material = _counted(material)
    density, counts = (_columns(material, name) for name in COLUMNS)
    first = density.merge(density.groupby("run")["seed"].min().reset_index())
    figure, axes = panels(1, 3)
    for ax, sweep in zip(axes, SPECTRA, strict=False):
        _spectra(ax, first[first["sweep"] == sweep], counts)
        ax.set_title(name_of(sweep))
    points = counts[counts["sweep"] == CLASSES]
    _draw_outliers(axes[2], points)
    note(figure, _small_print(material, counts))
    return Drawing(figure, pd.concat([first, counts], ignore_index=True))


def _counted(material: Material) -> Material:
    """Add the number of `classes` to each table that lists them."""
    tables = {
        name: table.assign(classes=table[LISTED].map(len, na_action="ignore").astype(float))
        for name, table in material.tables.items()
        if LISTED in table
    }
    return Material({**material.tables, **tables})


def _columns(material: Material, name: str) -> pd.DataFrame:
    table = material.tables[f"density_{name}"]
    swept, classes = ([key] if key in table else [] for key in (L2, "classes"))
    return table[[*DOT, *swept, *COLUMNS[name], *classes]].assign(table=name)


def _spectra(ax: Axes, some: pd.DataFrame, counts: pd.DataFrame) -> None:
    strengths = strengths_in(some)
    peak = 1.0
    for strength, colour in zip(strengths, cycle(COLOURS), strict=False):
        net = some[some[L2] == strength].merge(counts[[*DOT, "spectral_norm", "edge"]], on=DOT)
        if net.empty:
            continue
        norm, edge = net["spectral_norm"].iloc[0], net["edge"].iloc[0]
        ax.plot(
            net["eigenvalue"] / norm,
            net["density"] * norm,
            color=colour,
            lw=1,
            label=rf"L2 {strength:g}, $\lambda_1$ = {norm:.2g}",
        )
        peak = max(peak, norm * net["density"].max())
        ax.axvline(edge / norm, color=colour, lw=0.8, ls=":")
    ax.set(yscale="log", xlabel=r"eigenvalue$\,/\,\lambda_1$", ylabel="density")
    # Set limits, because the default ones follow the tails of the kernels over many decades.
    ax.set_ylim(1e-5, 10 * peak)
    if strengths:
        ax.legend(loc="upper right")


def _draw_outliers(ax: Axes, points: pd.DataFrame) -> None:
    ax.set(xlabel="classes", ylabel="outliers")
    if points.empty or "classes" not in points:
        return
    known = points["classes"].dropna()
    ends = [known.min(), known.max()]
    ax.plot(ends, [end - 1 for end in ends], "--", color=GREY, lw=0.9, label="classes less 1")
    for seed, (_, net) in enumerate(points.sort_values("classes").groupby("seed")):
        ax.plot(net["classes"], net["outliers"], "o", color=BLUE, ms=4, alpha=0.7)
        if not seed:
            ax.plot([], [], "o", color=BLUE, ms=4, label="MLP, each realization")
    ax.legend(loc="lower right")
    ax.set_ylim(bottom=0)


def _small_print(material: Material, counts: pd.DataFrame) -> str:
    text = (
        "A, B: stochastic Lanczos quadrature of one realization, with a kernel as wide as 1 % of"
        r" $\lambda_1$; dotted: 6 standard deviations of all eigenvalues. Eigenvalues beyond are"
        " outliers. "
    )
    if counts["converged"].eq(False).any():
        text += "The eigenvalues of some nets did not converge. "
    return text + small_print(material)


def claims(material: Material) -> list[Claim]:
    """Questions about the bulk with and without L2, and about outliers by number of classes."""
    return ours([*_bulk(material, "logistic"), *_bulk(material, "mlp"), *_outliers(material)])


def _bulk(material: Material, kind: str) -> Claims:
    sweep = f"{kind}_path"
    without, with_l2 = OverL2(material, sweep), Sweep(material, sweep, along=L2)
    share = without.read(TABLE, "bulk")
    for nets, place, says in ((without, 0, "without"), (with_l2, -1, "with")):
        yield nets.mean_claim(
            f"{kind}_bulk_{says}_l2",
            f"nearly all eigenvalues of {KINDS[kind].words} lie in a bulk at 0{ELSEWHERE}",
            f"share of the eigenvalues up to a hundredth of λ₁, {says} L2",
            BOUNDED,
            share[:, place] if share.size else share,
        )


def _outliers(material: Material) -> Claims:
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
