"""Figure 7: the Hessian's norms alone, and times ‖w‖², against the test error."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.evidence.material import Material
from flatlas.plotting.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Drawing,
    note,
    panels,
)
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import kendall
from flatlas.statistics.estimate import UNKNOWN, Estimate, estimate
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.false_friend.nets import NAMES, NORMS, name_of, nets, unsettled

COLOURS = (BLACK, BLUE, GREEN, ORANGE, RED, PURPLE, SKY)
LOOKS = dict(zip(NAMES.values(), zip(COLOURS, "os^vDPX", strict=True), strict=True))
OTHER = (GREY, "*")
# The norm alone, and times the squared weight norm.
WAYS = {"": ("alone", BLUE, -0.16), "_product": (r"times $\|w\|^2$", ORANGE, 0.16)}


def draw(material: Material) -> Drawing:
    """A, B: a dot a net. C to E: how well each norm orders the nets of one kind by test error."""
    points = nets(material)
    products = {f"{norm}_product": points[norm] * points["weight_norm"] ** 2 for norm in NORMS}
    points = points.assign(
        **products, kind=points["sweep"].map(name_of), error=100 * points["test_error"]
    )
    kinds = [kind for kind in LOOKS if kind in set(points["kind"])]
    figure, axes = panels(1, 5, width=2.5, height=3.0)
    for ax, column, label in zip(
        axes,
        ("spectral_norm", "spectral_norm_product"),
        (r"$\lambda_1$", r"$\lambda_1\|w\|^2$"),
        strict=False,
    ):
        _scatter(ax, points, column)
        ax.set_xlabel(label)
    axes[0].set_ylabel("test error (%)")
    orders = pd.DataFrame(_orders(points, kinds))
    for ax, norm in zip(axes[2:], NORMS, strict=True):
        _coefficients(ax, orders, norm, kinds)
        ax.set_xlabel(rf"Kendall's $\tau$ of {NORMS[norm][0]}")
    _legends(figure, axes[2], kinds)
    note(figure, _small_print(material, points))
    return Drawing(figure, pd.concat([points, orders], ignore_index=True))


def _scatter(ax: Axes, points: pd.DataFrame, column: str) -> None:
    for kind, some in points.groupby("kind", sort=False):
        colour, sign = LOOKS.get(str(kind), OTHER)
        lost = some["settled"].eq(False).to_numpy()
        face = np.where(lost, "white", colour)
        ax.scatter(
            some[column], some["error"], s=14, marker=sign, c=face, edgecolors=colour, lw=0.7
        )
    ax.set(xscale="log")


def _orders(points: pd.DataFrame, kinds: list[str]) -> list[dict[str, object]]:
    rows = []
    for kind in kinds:
        some = points[points["kind"] == kind]
        for norm in NORMS:
            for way in WAYS:
                found = _kendall(some, norm + way)
                told = {"tau": found.value, "tau_low": found.low, "tau_high": found.high}
                rows.append({"kind": kind, "of": norm + way, **told})
    return rows


def _kendall(some: pd.DataFrame, column: str) -> Estimate:
    """Of the nets of a kind in each realization: the mean over these, with its interval."""
    x, y = (
        some.pivot(index="seed", columns="run", values=name).to_numpy(float)
        for name in (column, "error")
    )
    return estimate(within_realizations(kendall), x, y) if x.size else UNKNOWN


def _coefficients(ax: Axes, orders: pd.DataFrame, norm: str, kinds: list[str]) -> None:
    ax.axvline(0, color=GREY, lw=0.8, ls="--", zorder=0)
    for way, (_, colour, aside) in WAYS.items():
        some = orders[orders["of"] == norm + way] if len(orders) else orders
        for at, (_, row) in enumerate(some.iterrows()):
            y = at + aside
            ax.plot([row["tau_low"], row["tau_high"]], [y, y], "-", color=colour, lw=1.2)
            ax.plot(row["tau"], y, "o", color=colour, ms=4.5)
    names = kinds if norm == "spectral_norm" else [""] * len(kinds)
    ax.set_yticks(range(len(kinds)), names, fontsize=7.5)
    ax.set(xlim=(-1.05, 1.05), ylim=(len(kinds) - 0.4, -0.6))


def _legends(figure: Figure, ax: Axes, kinds: list[str]) -> None:
    for kind in kinds:
        colour, sign = LOOKS[kind]
        figure.axes[0].plot([], [], sign, color=colour, ms=4, label=kind)
    for label, colour, _ in WAYS.values():
        ax.plot([], [], "o-", color=colour, ms=4, label=label)
    figure.legend(loc="outside upper center", ncols=len(kinds) + len(WAYS), fontsize=7.5)


def _small_print(material: Material, points: pd.DataFrame) -> str:
    text = (
        "One dot a net. The coefficients are over the nets of a kind, whatever their L2 and"
        " optimizer, in each realization: means over these; 1 where the sharper has the larger"
        " error. "
    )
    return text + unsettled(points) + small_print(material)


def claims(material: Material):
    """See there."""
    from flatlas.studies.false_friend.fig7_claims import judge

    return judge(material)
