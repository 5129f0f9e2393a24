"""Figure 2: loss and Hessian of a solution times c, compared with their limits as c grows."""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claims, ours
from flatlas.claims.conventions import BARELY, SMALL
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels, plain_ticks
from flatlas.plotting.trainings import small_print
from flatlas.studies.false_friend.norms import KINDS, NORMS, Column, name_of

TABLE = "scaling_summary"
QUANTITIES = {"loss": Column("training loss", "the loss", BLACK, "o"), **NORMS}
COLUMNS = ("depth", "weight_norm", "least_margin", "misclassified", "converged")


def draw(material: Material) -> Drawing:
    """A row for each net, a panel for each quantity: measured, and predicted from c = 1."""
    both = [name for one in QUANTITIES for name in (one, f"{one}_predicted")]
    points = material.tables[TABLE][[*DOT, "factor", *both, *COLUMNS]]
    rows = material.sweeps
    figure, axes = panels(len(rows), len(QUANTITIES), width=2.5, height=2.4)
    for row, sweep in enumerate(rows):
        here = axes[len(QUANTITIES) * row :][: len(QUANTITIES)]
        some = points[points["sweep"] == sweep]
        for ax, (name, quantity) in zip(here, QUANTITIES.items(), strict=True):
            for _, net in some.groupby("seed"):
                ax.plot(net["factor"], net[name], quantity.marker, color=quantity.colour, ms=3.5)
                ax.plot(net["factor"], net[f"{name}_predicted"], "--", color=GREY, lw=0.9)
            ax.set(xscale="log", yscale="log", xlabel="$c$", ylabel=quantity.symbol)
            plain_ticks(ax.xaxis)
            # The axis follows the measured values: for small c the prediction may be far off.
            positive = some.loc[some[name] > 0, name]
            if len(positive):
                ax.set_ylim(positive.min() / 3, positive.max() * 10)
        here[0].set_title(name_of(sweep))
    axes[0].plot([], [], "o", color=BLACK, ms=3.5, label="measured")
    axes[0].plot([], [], "--", color=GREY, lw=0.9, label=r"as $c\to\infty$")
    axes[0].legend(loc="lower left")
    note(figure, _small_print(material, points))
    return Drawing(figure, points)


def _small_print(material: Material, points: pd.DataFrame) -> str:
    text = "All weights are multiplied by c; every realization is shown. "
    wrong = points[points["misclassified"] > 0].drop_duplicates(DOT)
    if len(wrong):
        text += f"{len(wrong)} nets misclassify images; nothing is predicted for them. "
    return text + small_print(material)


def claims(material: Material) -> Claims:
    """The claims that the limits are reached, and that the Hessian gets small."""
    for kind in ("logistic", "mlp"):
        yield from _scaled(Nets(material, f"{kind}_solution"), kind)


def _scaled(nets: Nets, kind: str) -> Claims:
    name = KINDS[kind].words
    converged, wrong = (nets.read(TABLE, one, "factor") for one in ("converged", "misclassified"))
    for column, quantity in QUANTITIES.items():
        measured, predicted = (
            nets.read(TABLE, one, "factor") for one in (column, f"{column}_predicted")
        )
        searched = (converged,) if column == "spectral_norm" else ()
        off = measured / predicted - 1
        if column != "loss":
            # Only the loss is predicted for a net that misclassifies an image.
            off = np.where(wrong > 0, np.nan, off)
        theory = nets.mean_claim(
            f"{kind}_{column}_theory",
            f"as all weights of {name} grow, {quantity.words} falls as the odds of the wrong"
            " classes",
            f"{quantity.words} over its prediction, less 1, at the largest c",
            BARELY,
            off[:, 0, -1] if off.size else off,
            settled=searched,
        )
        # The surviving part of the preprint does not give the rate.
        yield from ours([theory])
        if column != "loss":
            yield nets.mean_claim(
                f"{kind}_{column}_small",
                f"with the same decisions and larger weights {name} has a smaller Hessian",
                f"{quantity.words} at the largest c over that at c = 1",
                SMALL,
                _fallen(nets, measured),
                settled=searched,
            )


def _fallen(nets: Nets, measured: np.ndarray) -> np.ndarray:
    """Each net's value at the largest c over that at c = 1."""
    if not measured.size:
        return measured
    return measured[:, 0, -1] / measured[:, 0, nets.levels(TABLE, "factor").index(1.0)]
