"""Figure S5: the sharpness spectrum for scaled dual shifts, s_w Δw."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY_OFF, RISING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLACK, Drawing, make_room, panels, shades, written
from flatlas.statistics.correlation import spearman
from flatlas.statistics.joint import Joint
from flatlas.statistics.means import mean, smallest
from flatlas.statistics.round_off import above_round_off
from flatlas.statistics.trends import trend
from flatlas.studies.duality.directions import bent, by_stretch, live, logs
from flatlas.studies.duality.realizations import LEGEND, draw_dots, draw_means, finish, over_seeds
from flatlas.studies.duality.spectra import picked

DIRECTION = ["scale", "n", "eigenvalue", "sigma_g"]


def draw(material: Material) -> Drawing:
    """A: a dot for each direction, coloured by the scale. B: the total."""
    figure, axes = panels(1, 2, width=3.4, height=3.0)
    table = picked(material.measured("scaled_directions"))
    table = above_round_off(table, "eigenvalue", [*NET, "scale"])
    dots = table[table["sigma_g"] > 0][[*NET, "converged", *DIRECTION]]
    dots = dots.assign(panel="A", sigma_g_squared=dots["sigma_g"] ** 2)
    totals = over_seeds(material.measured("scaled_summary"), ["scale"], ["T_g"])
    _directions_panel(axes[0], dots)
    draw_means(axes[1], totals, "scale", BLACK)
    axes[1].set(xlabel="$s_w$", ylabel=r"$T_g=\sum_n\sigma_{g,n}^2$")
    axes[1].set_xlim(left=0)
    axes[1].set_ylim(bottom=0)
    points = [dots, totals.assign(panel="B")]
    return finish(figure, points, material, "A: directions at ten ranks $n$ a decade. " + LEGEND)


def _directions_panel(ax: Axes, dots: pd.DataFrame) -> None:
    scales = sorted(dots["scale"].unique())
    for scale, colour in zip(scales, shades(len(scales)), strict=True):
        chosen = dots[dots["scale"] == scale]
        draw_dots(ax, chosen, "eigenvalue", "sigma_g_squared", colour, size=2.5, many=True)
        ax.plot([], [], "o", color=colour, label=written(scale))
    ax.set(xscale="log", yscale="log", xlabel="$H_n$", ylabel=r"$\sigma_{g,n}^2$")
    if scales:
        make_room(ax, above=0.3)
        ax.legend(title="$s_w$", loc="upper left", ncols=4, handletextpad=0, columnspacing=1.2)


def claims(material: Material) -> Claims:
    """The claims about the trend at each scale, its shift from scale to scale, and panel B."""
    nets = Nets(material, "base")
    curvature, sigma_g = _by_curvature(nets)
    yield nets.claim(
        "monotone",
        "σ²_g,n grows with H_n at every s_w",
        "rank correlation of σ²_g,n with H_n over the directions with H_n above round-off,"
        " mean over nets; the lowest of all s_w",
        RISING,
        Joint(mean, smallest),
        spearman(curvature, sigma_g),
    )
    yield nets.claim(
        "shifted",
        "from one s_w to another the curve σ²_g,n(H_n) is shifted by one factor",
        "relative deviation of the factor between the smallest s_w and the largest from its"
        " mean, up or down, over half-decades of rank in H_n, directions with σ_g above"
        " round-off at both",
        BARELY_OFF,
        bent,
        by_stretch(_alive_at_both(2 * logs(sigma_g)), sigma_g.shape[-1]),
    )
    yield nets.claim(
        "total",
        "Σσ²_g,n grows with s_w",
        "rank correlation of mean T_g with s_w",
        RISING,
        trend(nets.levels("scaled_summary", "scale")),
        nets.read_of_run("scaled_summary", "T_g", "scale"),
    )


def _by_curvature(nets: Nets) -> tuple[np.ndarray, np.ndarray]:
    """H_n and σ_g,n as (realizations, scales, directions), by descending H_n above round-off.

    The table's n is the rank by σ_g at each scale; H_n does not depend on the scale.
    """
    curvature, sigma_g = (
        nets.read_of_run("scaled_directions", column, "scale", "n")
        for column in ("eigenvalue", "sigma_g")
    )
    curvature = live(curvature)
    order = np.argsort(-curvature, axis=-1)
    curvature, sigma_g = (np.take_along_axis(a, order, -1) for a in (curvature, sigma_g))
    return curvature, np.where(np.isfinite(curvature), sigma_g, np.nan)


def _alive_at_both(logs: np.ndarray) -> np.ndarray:
    """The numbers of directions that are known at the first scale and at the last.

    Otherwise directions known at only one scale would seem to shift a half-decade.
    """
    if not logs.size:
        return logs
    return np.where(np.isfinite(logs[:, [0]]) & np.isfinite(logs[:, [-1]]), logs, np.nan)
