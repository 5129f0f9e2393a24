"""Figure S5: the ascent that finds the sharpness converges, and L-BFGS-B finds the same."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY_OFF, SATURATED, TIGHT
from flatlas.claims.correlations import correlated
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, ZERO_ERROR, Material, at_moment
from flatlas.plotting.style import GREY, Drawing, note, panels, shades
from flatlas.studies.prior.nets import nets, small_print, with_attack_size
from flatlas.studies.prior.quantities import FLATNESS, LBFGS_FLATNESS, paired
from flatlas.studies.prior.scatter import LEGEND, draw_dots, name_shades


def draw(material: Material) -> Drawing:
    """A: the loss found so far, along the ascent. B: sharpness by both searches."""
    figure, axes = panels(1, 2, width=3.8, height=3.1)
    curves, points = ascents(material), nets(material, "sharpness", "lbfgs")
    _curves_panel(axes[0], curves)
    draw_dots(axes[1], points, LBFGS_FLATNESS, FLATNESS)
    if len(points):
        axes[1].axline((points["flatness"].iloc[0],) * 2, slope=1, color=GREY, lw=0.8, zorder=0)
    name_shades(figure, axes, points)
    about = "A: means over realizations; a line for each size of the attack set. " + LEGEND
    note(figure, small_print(material, points, about))
    panel = [points.assign(panel="B"), curves.assign(panel="A")]
    return Drawing(figure, pd.concat([one for one in panel if len(one)] or panel[:1]))


def ascents(material: Material) -> pd.DataFrame:
    """The mean sharpness 100 (L - L_0) / (1 + L_0) after each epoch, for each attack size."""
    table = with_attack_size(at_moment(material.tables["sharpness_ascent"], ZERO_ERROR))
    start = table.groupby(DOT)["value"].transform("first")
    table = table.assign(sharpness=100 * (table["value"] - start) / (1 + start))
    return (
        table.groupby(["attack_size", "epoch_of_ascent"])["sharpness"]
        .agg(mean="mean", sd="std", realizations="size")
        .reset_index()
    )


def _curves_panel(ax: Axes, curves: pd.DataFrame) -> None:
    sizes = sorted(curves["attack_size"].unique())
    for size, colour in zip(sizes, shades(len(sizes)), strict=True):
        line = curves[curves["attack_size"] == size]
        ax.plot(line["epoch_of_ascent"], line["mean"], color=colour, lw=1.1)
    ax.set(xlabel="epoch of the ascent", ylabel="sharpness found")


def claims(material: Material) -> Claims:
    """The claims about panel A, by the last half of the ascent, and panel B, net by net."""
    nets = Nets(material, "sgd")
    by_sgd, by_lbfgs = (
        nets.read(f"{name}_summary", "sharpness", at=ZERO_ERROR) for name in ("sharpness", "lbfgs")
    )
    pair = paired(nets, FLATNESS, LBFGS_FLATNESS, "flatness by both searches")
    says = "L-BFGS-B finds similar sharpness"
    yield nets.mean_claim(
        "converged",
        "the ascent that finds the sharpness has converged",
        "relative rise of the loss found, from half of the ascent to its end",
        SATURATED,
        _late_rise(nets),
    )
    yield nets.mean_claim(
        "similar",
        says,
        "relative deviation of the sharpness by L-BFGS-B, up or down",
        BARELY_OFF,
        np.abs(by_lbfgs / by_sgd - 1),
        settled=pair.settled,
    )
    yield from correlated(nets, "similar", says, TIGHT, pair)


def _late_rise(nets: Nets) -> np.ndarray:
    """The relative rise in the last half of the ascent; NaN where no ascent was recorded."""
    found = nets.read("sharpness_ascent", "value", "epoch_of_ascent", at=ZERO_ERROR)
    if not found.shape[-1]:
        return np.full(found.shape[:-1], np.nan)
    start, half, end = (found[..., place] for place in (0, found.shape[-1] // 2, -1))
    return (end - half) / (half - start)
