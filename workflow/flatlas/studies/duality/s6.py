"""Figure S6: how far one can go along a direction, against the sharpness there.

Claims: Figure S6: the flatness F_n and σ_g.
"""

from flatlas.claims.claim import Claim
from flatlas.claims.conventions import FALLING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.statistics.correlation import spearman
from flatlas.statistics.means import mean
from flatlas.studies.duality.dots import draw_dots
from flatlas.studies.duality.ranks import picked

DIRECTION = ["n", "sigma_g", "flatness"]


def draw(material: Material) -> Drawing:
    """One dot a direction; those that never double the loss have no flatness and are counted."""
    figure, (ax,) = panels(1, 1, width=4.0, height=3.2)
    directions = material.measured("flatness_directions", DIRECTION)
    table = picked(directions[["run", "seed", "converged", *DIRECTION]])
    live = table[table["sigma_g"] > 0]
    points = live[live["flatness"].notna()]
    points = points.assign(sigma_g_squared=points["sigma_g"] ** 2)
    x, y, converged = (points[c] for c in ("sigma_g_squared", "flatness", "converged"))
    draw_dots(ax, x, y, converged, BLUE, size=3, many=True)
    ax.set(xscale="log", yscale="log", xlabel=r"$\sigma_{g,n}^2$", ylabel="$F_n$")
    ax.set_title("", loc="left")
    missing = len(live) - len(points)
    note(
        figure,
        f"Directions at ten ranks $n$ a decade. Along {missing} of {len(live)} the loss is "
        "never doubled: not drawn. " + small_print(material),
    )
    return Drawing(figure, points.reset_index(drop=True))


def claims(material: Material) -> list[Claim]:
    """Over the directions in which the loss reaches twice its value."""
    nets = Nets(material, "base")
    flatness, sigma_g = (
        nets.read("flatness_directions", column, "n")[:, 0] for column in ("flatness", "sigma_g")
    )
    return [
        nets.claim(
            "inverse",
            "F_n is inversely correlated with σ²_g,n",
            "rank correlation of F_n with σ²_g,n over the directions that have an F_n; mean over"
            " nets",
            FALLING,
            mean,
            spearman(flatness, sigma_g**2),
        )
    ]
