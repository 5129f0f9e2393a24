"""Figure S1: the gap against the number of test images.

Claims: Figure S1: how many test images ΔL needs.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import BARELY_OFF
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, GREY, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.means import mean
from flatlas.studies.duality.dots import draw_means
from flatlas.studies.duality.realizations import over_seeds
from flatlas.studies.duality.swept import stand
from flatlas.studies.duality.trends import nearest

IMAGES = "test_images"
# From here on the paper calls the gap converged.
ENOUGH = 2000


def draw(material: Material) -> Drawing:
    """A: the mean, and each realization. B: each against its own gap with all test images."""
    figure, axes = panels(1, 2)
    nets = material.measured("test_images_summary", [IMAGES, "dual_gap"])
    nets = nets[["run", "seed", "converged", IMAGES, "dual_gap"]].sort_values(IMAGES)
    last = nets.groupby(["run", "seed"])["dual_gap"].transform("last")
    nets = nets.assign(quantity="relative_gap", relative_gap=nets["dual_gap"] / last)
    for ax, column, label in (
        (axes[0], "dual_gap", r"$\Delta L$"),
        (axes[1], "relative_gap", r"$\Delta L(N_{te})\;/\;\Delta L(\mathrm{all})$"),
    ):
        _realizations(ax, nets, column)
        stand(ax, sorted(nets[IMAGES].unique()), IMAGES)
        ax.set_ylabel(label)
        ax.axvline(ENOUGH, color=GREY, ls=":", lw=1, zorder=0)
    means = over_seeds(nets, [IMAGES], ["dual_gap"])
    axes[0].plot(means[IMAGES], means["mean"], "-", color=BLACK)
    draw_means(axes[0], means[IMAGES], means, BLACK)
    axes[0].set_ylim(bottom=min(0, axes[0].get_ylim()[0]))
    note(
        figure,
        "Grey: each realization; black: mean and one s.d. Dotted: where the paper finds "
        f"convergence ({ENOUGH:,}). " + small_print(material),
    )
    return Drawing(
        figure,
        pd.concat([means.assign(panel="A"), nets.drop(columns="quantity")], ignore_index=True),
    )


def _realizations(ax: Axes, nets: pd.DataFrame, column: str) -> None:
    for _, one in nets.groupby(["run", "seed"]):
        ax.plot(one[IMAGES], one[column], "-", color="0.75", lw=0.8)


def claims(material: Material) -> list[Claim]:
    """Net by net: the mean over realizations would need fewer images than any one of them."""
    nets = Nets(material, "test_images")
    sizes = nets.levels("test_images_summary", "test_images")
    place = nearest(sizes, ENOUGH)
    told = f"N_te = {sizes[place]}" if len(sizes) > 1 else "the N_te nearest to 2,000"
    return [
        nets.claim(
            "converged",
            "ΔL has converged at about 2,000 test images",
            f"relative deviation of ΔL at {told} from ΔL at the largest N_te, up or down; mean"
            " over nets",
            BARELY_OFF,
            lambda gap: mean(np.abs(gap[..., place] / gap[..., -1] - 1)),
            nets.read("test_images_summary", "dual_gap", "test_images")[:, 0],
            paper="N_te ≥ 2,000",
        )
    ]
