"""The nets of a figure as a table: a row each, with its norms, its weight norm and its errors."""

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material, at_moment
from flatlas.plotting.style import BLUE, GREEN, ORANGE
from flatlas.statistics.spectral_norms import known

NET = ["sweep", "run", "seed"]
L2 = "penalty.coefficient"
# Of the Hessian: symbol, colour and sign.
NORMS = {
    "spectral_norm": (r"$\lambda_1$", BLUE, "o"),
    "trace": (r"$\mathrm{tr}\,H$", ORANGE, "s"),
    "frobenius": (r"$\|H\|_F$", GREEN, "^"),
}
NAMES = {
    "logistic": "logistic regression",
    "mlp": "MLP",
    "cnn": "CNN",
    "cnn_colour": "CNN, colour",
    "preresnet": "PreResNet",
    "wideresnet": "WideResNet",
    "vgg": "VGG",
}
TOLD = (*NORMS, "trace_error", "frobenius_error", "weight_norm", "train_loss", "test_error")


def nets(material: Material, every_moment: bool = False) -> pd.DataFrame:
    """Each net as it was trained to be, or at every moment; `settled` tells of λ₁."""
    found = material.beside_history("norms_summary")
    found = found.assign(settled=known(found))
    swept = [L2] if L2 in found else []
    columns = [*NET, *swept, "at", "epoch", *TOLD, "settled"]
    told = found.reindex(columns=columns)
    told = told.assign(accuracy=100 * (1 - told["test_error"].astype(float)))
    return (told if every_moment else at_moment(told)).reset_index(drop=True)


def error_bar(ax: Axes, x: float, net: pd.Series, column: str, colour: str) -> None:
    """The standard error of a norm that was estimated by random signs."""
    error = net.get(f"{column}_error", 0.0)
    if error:
        ax.errorbar(x, net[column], yerr=error, fmt="none", ecolor=colour, elinewidth=0.8)


def name_of(sweep: str) -> str:
    """What a reader calls the nets of a sweep."""
    known = [name for name in NAMES if sweep == name or sweep.startswith(f"{name}_")]
    return NAMES[max(known, key=len)] if known else sweep


def sweeps(material: Material) -> list[str]:
    """In the order of the figure; those without a net too."""
    return list(material.tables["outcomes"]["sweep"].unique())


def unsettled(points: pd.DataFrame) -> str:
    """What the small print says of eigenvalues that were not found."""
    lost = int(points["settled"].eq(False).sum())
    return f"Hollow: of {lost} nets λ₁ has not converged. " if lost else ""
