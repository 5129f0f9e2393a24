"""Figure S6: the flatness F_n of a direction against its sharpness."""

from flatlas.claims.claim import Claims
from flatlas.claims.conventions import FALLING
from flatlas.claims.nets import Nets
from flatlas.evidence.material import NET, Material
from flatlas.plotting.style import BLUE, Drawing, panels
from flatlas.statistics.correlation import spearman
from flatlas.studies.duality.realizations import draw_dots, finish
from flatlas.studies.duality.spectra import picked

DIRECTION = ["n", "sigma_g", "flatness"]


def draw(material: Material) -> Drawing:
    """A dot for each direction; the small print counts those along which the loss never doubles."""
    figure, (ax,) = panels(1, 1, width=4.0, height=3.2)
    directions = material.measured("flatness_directions")
    table = picked(directions[[*NET, "converged", *DIRECTION]])
    live = table[table["sigma_g"] > 0]
    points = live[live["flatness"].notna()]
    points = points.assign(sigma_g_squared=points["sigma_g"] ** 2)
    draw_dots(ax, points, "sigma_g_squared", "flatness", BLUE, size=3, many=True)
    ax.set(xscale="log", yscale="log", xlabel=r"$\sigma_{g,n}^2$", ylabel="$F_n$")
    missing = f"Along {len(live) - len(points)} of {len(live)} the loss never doubles: not drawn. "
    legend = "Directions at ten ranks $n$ a decade. " + missing
    return finish(figure, [points], material, legend)


def claims(material: Material) -> Claims:
    """The claim about the directions in which the loss reaches twice its value."""
    nets = Nets(material, "base")
    flatness, sigma_g = (
        nets.read_of_run("flatness_directions", column, "n") for column in ("flatness", "sigma_g")
    )
    yield nets.mean_claim(
        "inverse",
        "F_n is inversely correlated with σ²_g,n",
        "rank correlation of F_n with σ²_g,n over the directions that have an F_n",
        FALLING,
        spearman(flatness, sigma_g**2),
    )
