"""The nets of a figure, each with its Hessian's norms, its weight norm and its errors."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.nets import Nets, Sweep
from flatlas.evidence.material import DOT, Material, at_moment
from flatlas.plotting.style import BLUE, GREEN, ORANGE

L2 = "penalty.coefficient"
TABLE = "norms_summary"
# The exact eigenvalue is within the residual of the one found. A residual up to this share of the
# norm is small.
SMALL_RESIDUAL = 0.01


@dataclass(frozen=True)
class Column:
    """A column of a table: its symbol in figures, its words in claims, its colour and marker."""

    symbol: str
    words: str
    colour: str
    marker: str


# Of the Hessian.
NORMS = {
    "spectral_norm": Column(r"$\lambda_1$", "λ₁", BLUE, "o"),
    "trace": Column(r"$\mathrm{tr}\,H$", "the trace", ORANGE, "s"),
    "frobenius": Column(r"$\|H\|_F$", "the Frobenius norm", GREEN, "^"),
}
COLUMNS = (*NORMS, "trace_error", "frobenius_error", "weight_norm", "train_loss", "test_error")


class Kind(NamedTuple):
    """A kind of net: its name in figures, its words in claims."""

    name: str
    words: str


# The sweeps of a kind begin with its key.
KINDS = {
    "logistic": Kind("logistic regression", "logistic regression"),
    "mlp": Kind("MLP", "the MLP"),
    "cnn": Kind("CNN", "the CNN"),
    "cnn_colour": Kind("CNN, colour", "the CNN on colour images"),
    "preresnet": Kind("PreResNet", "PreResNet"),
    "wideresnet": Kind("WideResNet", "WideResNet"),
    "vgg": Kind("VGG", "VGG"),
}
# How each VGG net was trained; IA is the average of the iterates.
VGG = {
    "vgg_sgd": "SGD",
    "vgg_sgd_ia": "SGD\n+ IA",
    "vgg_adamw": "AdamW",
    "vgg_adamw_ia": "AdamW\n+ IA",
}


@dataclass(frozen=True)
class OverL2(Sweep):
    """The nets of a sweep over the strength of L2, for claims that compare with those without."""

    along: str = L2

    @property
    def comparable(self) -> bool:
        """Whether there are nets without L2, and others."""
        return super().comparable and self.values[0] == 0

    @property
    def note(self) -> str:
        """What is missing, in words; says too if there are no nets without L2."""
        lacking = "" if 0 in self.values else "No solutions without L2."
        return " ".join(filter(None, [super().note, lacking]))


def with_history(material: Material) -> Material:
    """Add to the table of norms: the history, each norm times ‖w‖², and whether λ₁ is `settled`."""
    table = material.beside_history(TABLE)
    products = {f"{norm}_product": table[norm] * table["weight_norm"] ** 2 for norm in NORMS}
    table = table.assign(
        settled=_spectral_norm_known(table), accuracy=1 - table["test_error"], **products
    )
    return material.with_table(TABLE, table)


def _spectral_norm_known(table: pd.DataFrame) -> pd.Series:
    """Whether λ₁ is known, even if the search failed for further eigenvalues; NaN without λ₁."""
    residual, norm = (
        table[name].astype(float) for name in ("spectral_norm_residual", "spectral_norm")
    )
    small = residual.le(SMALL_RESIDUAL * norm)
    return small.astype(object).where(residual.notna() & norm.notna())


def points(material: Material, *more: str, every_moment: bool = False) -> pd.DataFrame:
    """The table to draw, with `more` columns: at the final or every moment; accuracies in %."""
    table = with_history(material).tables[TABLE]
    swept = [L2] if L2 in table else []
    table = table[[*DOT, *swept, "at", "epoch", *COLUMNS, "settled", "accuracy", *more]]
    table = table.assign(accuracy=100 * table["accuracy"])
    return (table if every_moment else at_moment(table)).reset_index(drop=True)


def strengths_in(points: pd.DataFrame) -> list[float]:
    """The strengths of L2, ascending; none if no sweep varies it."""
    return sorted(points[L2].dropna().unique()) if L2 in points else []


def settled(nets: Nets, column: str) -> tuple[np.ndarray, ...]:
    """Whether the search for λ₁ converged; the other columns need no search."""
    return (nets.read(TABLE, "settled"),) if column == "spectral_norm" else ()


def kind_of(sweep: str) -> str:
    """The kind of a sweep's nets; of an unknown kind, the sweep's own name."""
    known = [kind for kind in KINDS if sweep == kind or sweep.startswith(f"{kind}_")]
    return max(known, key=len, default=sweep)


def name_of(sweep: str) -> str:
    """The name of a sweep's nets in figures."""
    kind = kind_of(sweep)
    return KINDS[kind].name if kind in KINDS else sweep


def dot(
    ax: Axes, x: float, net: pd.Series, column: str, style: tuple[str, str], size: float
) -> None:
    """Draw a net's value with its standard error; hollow if the search did not converge."""
    colour, marker = style
    error = net.get(f"{column}_error", 0.0)
    if error:
        ax.errorbar(x, net[column], yerr=error, fmt="none", ecolor=colour, elinewidth=0.8)
    face = "white" if column == "spectral_norm" and net["settled"] is False else colour
    ax.plot(x, net[column], marker, mfc=face, mec=colour, ms=size, alpha=0.8)


def unsettled(points: pd.DataFrame) -> str:
    """The small print about nets whose search for λ₁ did not converge."""
    lost = int(points["settled"].eq(False).sum())
    return f"Hollow: λ₁ of {lost} nets did not converge. " if lost else ""
