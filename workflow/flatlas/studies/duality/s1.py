"""Figure S1: how many test images the gap ΔL needs."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import BARELY_OFF
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLACK, GREY, Drawing, panels
from flatlas.statistics.means import mean
from flatlas.statistics.trends import nearest
from flatlas.studies.duality.realizations import draw_means, finish, over_seeds
from flatlas.studies.duality.swept import IMAGES, set_ticks

# The paper calls the gap converged from here on.
ENOUGH = 2000


def draw(material: Material) -> Drawing:
    """A: the mean and each realization. B: each relative to its own gap with all test images."""
    figure, axes = panels(1, 2)
    nets = material.measured("test_images_summary")
    nets = nets[[*NET, "converged", IMAGES, "dual_gap"]].sort_values(IMAGES)
    last = nets.groupby(NET)["dual_gap"].transform("last")
    nets = nets.assign(relative_gap=nets["dual_gap"] / last)
    _realizations(axes[0], nets, "dual_gap", r"$\Delta L$")
    _realizations(axes[1], nets, "relative_gap", r"$\Delta L(N_{te})\;/\;\Delta L(\mathrm{all})$")
    means = over_seeds(nets, [IMAGES], ["dual_gap"])
    draw_means(axes[0], means, IMAGES, BLACK)
    axes[0].set_ylim(bottom=min(0, axes[0].get_ylim()[0]))
    legend = "Grey: each realization; black: mean and one s.d. Dotted: where the paper finds "
    points = [means.assign(panel="A"), nets]
    return finish(figure, points, material, f"{legend}convergence ({ENOUGH:,}). ")


def _realizations(ax: Axes, nets: pd.DataFrame, column: str, label: str) -> None:
    for _, one in nets.groupby(NET):
        ax.plot(one[IMAGES], one[column], "-", color="0.75", lw=0.8)
    set_ticks(ax, sorted(nets[IMAGES].unique()), IMAGES)
    ax.set_ylabel(label)
    ax.axvline(ENOUGH, color=GREY, ls=":", lw=1, zorder=0)


def claims(material: Material) -> Claims:
    """The claim, judged net by net: a mean over nets needs fewer images than a single net."""
    nets = Nets(material, "test_images")
    sizes = nets.levels("test_images_summary", IMAGES)
    place = nearest(sizes, ENOUGH)
    size = f"N_te = {sizes[place]:g}" if len(sizes) > 1 else "the N_te nearest to 2,000"
    yield nets.claim(
        "converged",
        "ΔL has converged at about 2,000 test images",
        f"relative deviation of ΔL at {size} from ΔL at the largest N_te, up or down; mean"
        " over nets",
        BARELY_OFF,
        lambda gap: mean(np.abs(gap[..., place] / gap[..., -1] - 1)),
        nets.read_of_run("test_images_summary", "dual_gap", IMAGES),
        paper="N_te ≥ 2,000",
    )
