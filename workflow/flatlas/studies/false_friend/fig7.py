"""Figure 7: the Hessian's norms alone, and times ‖w‖², against the test error."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import CORRELATED, TIGHTER
from flatlas.claims.nets import Nets, pooled_nets
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
from flatlas.statistics.estimate import estimate
from flatlas.statistics.pooling import within_realizations
from flatlas.studies.false_friend import norms
from flatlas.studies.false_friend.grid import FEWEST
from flatlas.studies.false_friend.norms import KINDS, NORMS, TABLE

COLOURS = (BLACK, BLUE, GREEN, ORANGE, RED, PURPLE, SKY)
STYLES = dict(zip(KINDS, zip(COLOURS, "os^vDPX", strict=True), strict=True))
OTHER = (GREY, "*")
# The norm alone, and times the squared weight norm: label, colour and vertical offset.
VARIANTS = {"": ("alone", BLUE, -0.16), "_product": (r"times $\|w\|^2$", ORANGE, 0.16)}
PRODUCTS = {"": r"$\lambda_1$", "_product": r"$\lambda_1\|w\|^2$"}


def draw(material: Material) -> Drawing:
    """A, B: a dot for each net. C to E: how each norm orders the nets of a kind by test error."""
    drawn = norms.points(material, *(f"{norm}_product" for norm in NORMS))
    drawn = drawn.assign(kind=drawn["sweep"].map(norms.name_of), error=100 * drawn["test_error"])
    kinds = [kind for kind in KINDS if KINDS[kind].name in set(drawn["kind"])]
    figure, axes = panels(1, 5, width=2.5, height=3.0)
    for ax, (variant, label) in zip(axes, PRODUCTS.items(), strict=False):
        _scatter(ax, drawn, f"spectral_norm{variant}")
        ax.set_xlabel(label)
    axes[0].set_ylabel("test error (%)")
    orders = pd.DataFrame(_orders(norms.with_history(material), kinds))
    for ax, norm in zip(axes[2:], NORMS, strict=True):
        _coefficients(ax, orders, norm, kinds)
        ax.set_xlabel(rf"Kendall's $\tau$ of {NORMS[norm].symbol}")
    _legends(figure, axes[2], kinds)
    note(figure, _small_print(material, drawn))
    return Drawing(figure, pd.concat([drawn, orders], ignore_index=True))


def _scatter(ax: Axes, drawn: pd.DataFrame, column: str) -> None:
    for sweep, some in drawn.groupby("sweep", sort=False):
        colour, marker = STYLES.get(norms.kind_of(str(sweep)), OTHER)
        face = np.where(some["settled"].eq(False), "white", colour)
        ax.scatter(
            some[column], some["error"], s=14, marker=marker, c=face, edgecolors=colour, lw=0.7
        )
    ax.set(xscale="log")


def _nets(material: Material, kind: str) -> Nets:
    """The nets of a kind, whatever their optimizer, in the realizations that all its runs have."""
    return pooled_nets(material, [one for one in material.sweeps if norms.kind_of(one) == kind])


def _orders(material: Material, kinds: list[str]) -> list[dict[str, object]]:
    rows = []
    for kind in kinds:
        nets = _nets(material, kind)
        error = nets.read(TABLE, "test_error")
        for column in [norm + variant for norm in NORMS for variant in VARIANTS]:
            found = estimate(within_realizations(kendall), nets.read(TABLE, column), error)
            tau = {"tau": found.value, "tau_low": found.low, "tau_high": found.high}
            rows.append({"kind": KINDS[kind].name, "of": column, **tau})
    return rows


def _coefficients(ax: Axes, orders: pd.DataFrame, norm: str, kinds: list[str]) -> None:
    ax.axvline(0, color=GREY, lw=0.8, ls="--", zorder=0)
    for variant, (_, colour, offset) in VARIANTS.items():
        some = orders[orders["of"] == norm + variant] if len(orders) else orders
        for at, (_, row) in enumerate(some.iterrows()):
            y = at + offset
            ax.plot([row["tau_low"], row["tau_high"]], [y, y], "-", color=colour, lw=1.2)
            ax.plot(row["tau"], y, "o", color=colour, ms=4.5)
    names = [KINDS[kind].name if norm == "spectral_norm" else "" for kind in kinds]
    ax.set_yticks(range(len(kinds)), names, fontsize=7.5)
    ax.set(xlim=(-1.05, 1.05), ylim=(len(kinds) - 0.4, -0.6))


def _legends(figure: Figure, ax: Axes, kinds: list[str]) -> None:
    for kind in kinds:
        colour, marker = STYLES[kind]
        figure.axes[0].plot([], [], marker, color=colour, ms=4, label=KINDS[kind].name)
    for label, colour, _ in VARIANTS.values():
        ax.plot([], [], "o-", color=colour, ms=4, label=label)
    figure.legend(loc="outside upper center", ncols=len(kinds) + len(VARIANTS), fontsize=7.5)


def _small_print(material: Material, drawn: pd.DataFrame) -> str:
    text = (
        "One dot for each net. Coefficients: over all nets of a kind, whatever their L2 and"
        " optimizer, in each realization that they share; means over these. At 1 the sharper net"
        " always has the larger error. "
    )
    return text + norms.unsettled(drawn) + small_print(material)


def claims(material: Material) -> Claims:
    """For each kind with enough nets: the claims that a norm times ‖w‖² orders them better."""
    material = norms.with_history(material)
    for kind in KINDS:
        nets = _nets(material, kind)
        if len(nets.values) >= FEWEST:
            yield from _ordered(nets, kind)


def _ordered(nets: Nets, kind: str) -> Claims:
    """The claims about one kind: sharper nets should have larger errors.

    For a norm alone, an order that is reversed throughout counts as well.
    """
    tau, over = within_realizations(kendall), f"over {KINDS[kind].words} in each realization"
    for name, norm in NORMS.items():
        columns = (name, f"{name}_product", "test_error")
        alone, product, error = (nets.read(TABLE, one) for one in columns)
        yield nets.claim(
            f"{kind}_{name}_better",
            "flatness says more of generalisation in conjunction with the weights' scale",
            f"Kendall's coefficient of {norm.words} times ‖w‖² with the test error, {over}, mean"
            f" over these; less the size of that of {norm.words} alone",
            TIGHTER,
            lambda x, y, z: tau(x, z) - np.abs(tau(y, z)),
            product,
            alone,
            error,
            settled=norms.settled(nets, name),
        )
        yield nets.claim(
            f"{kind}_{name}_orders",
            "flatness in conjunction with the weights' scale measures generalisation",
            f"Kendall's coefficient of {norm.words} times ‖w‖² with the test error, {over}; mean"
            " over these",
            CORRELATED["kendall"],
            tau,
            product,
            error,
            settled=norms.settled(nets, name),
        )
