"""Figure 6: the spectral density without L2 and with, and how many eigenvalues stand out."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREY, RED, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.nets import L2, NET, name_of

SPECTRA = ("logistic_path", "mlp_path")
CLASSES, SWEPT = "mlp_classes", "data.classes"
COLOURS = (BLUE, RED)
COUNTED = ("spectral_norm", "outliers", "edge", "bulk", "size", "converged")


def draw(material: Material) -> Drawing:
    """A, B: the density of the first realization. C: outliers over classes, of every one."""
    density, counts = (_told(material, name) for name in ("density", "summary"))
    first = density.merge(density.groupby("run")["seed"].min().reset_index())
    figure, axes = panels(1, 3)
    for ax, sweep in zip(axes, SPECTRA, strict=False):
        _spectra(ax, first[first["sweep"] == sweep], counts)
        ax.set_title(name_of(sweep))
    points = counts[counts["sweep"] == CLASSES]
    _outliers(axes[2], points)
    note(figure, _small_print(material, counts))
    return Drawing(figure, pd.concat([first, counts], ignore_index=True))


def _told(material: Material, name: str) -> pd.DataFrame:
    own = COUNTED if name == "summary" else ("eigenvalue", "density")
    swept = [key for key in (L2, SWEPT) if key in material.tables["outcomes"]]
    told = material.tables[f"density_{name}"].reindex(columns=[*NET, *swept, *own])
    if SWEPT in told:
        told = told.assign(classes=told[SWEPT].map(_count)).drop(columns=SWEPT)
    return told.assign(table=name)


def _count(classes: object) -> float:
    return float(len(classes)) if isinstance(classes, tuple) else float("nan")


def _spectra(ax: Axes, some: pd.DataFrame, counts: pd.DataFrame) -> None:
    strengths = sorted(some[L2].dropna().unique()) if L2 in some else []
    peak = 1.0
    for strength, colour in zip(strengths, COLOURS, strict=False):
        net = some[some[L2] == strength].merge(counts[[*NET, "spectral_norm", "edge"]], on=NET)
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
    # Left to itself the axis would leave room in proportion to the decades of the kernels' tails.
    ax.set_ylim(1e-5, 10 * peak)
    if strengths:
        ax.legend(loc="upper right")


def _outliers(ax: Axes, points: pd.DataFrame) -> None:
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
        "A, B: stochastic Lanczos quadrature of one realization, seen with a kernel of 1 % of"
        r" $\lambda_1$; dotted: 6 standard deviations of all eigenvalues, beyond which they are"
        " outliers. "
    )
    if counts["converged"].eq(False).any():
        text += "Of some nets the eigenvalues have not converged. "
    return text + small_print(material)


def claims(material: Material):
    """See there."""
    from flatlas.studies.false_friend.fig6_claims import judge

    return judge(material)
