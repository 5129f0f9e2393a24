"""Figure S6: how far one can go along a direction, against the sharpness there."""

from flatlas.evidence.material import Material
from flatlas.studies.duality.dots import draw_dots
from flatlas.studies.duality.ranks import picked
from flatlas.plotting.style import BLUE, Drawing, note, panels
from flatlas.plotting.trainings import small_print

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
