"""The user's networks as stars among the networks of the atlas, a panel for each measure."""

from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, shades
from flatlas.studies.atlas.quantities import QUANTITIES
from flatlas.studies.atlas.scatter import scatter_panels, set_scales
from flatlas.studies.atlas.styles import DAGGER
from flatlas.studies.atlas_mine.placed import TESTED, comparable, did_converge

# Letters that fit above a panel.
WIDE = 26


def draw(material: Material) -> Drawing:
    """A panel for each measure that can be compared.

    The tables are `placed` and the measure tables `mine` and `published`, if any is published.
    """
    mine, rows = material.tables["mine"], material.tables["placed"]
    found = rows[(rows["why"] == "") & (rows["measure"] != TESTED)]
    names = [name for name in QUANTITIES if name in set(found["measure"])]
    figure, axes = scatter_panels({name: fill(QUANTITIES[name].name, WIDE) for name in names})
    colours = dict(zip(mine["net"], shades(len(mine)), strict=True))
    for name, ax in axes.items():
        own = mine[mine["net"].isin(found.loc[found["measure"] == name, "net"])]
        _panel(ax, name, own, material.tables["published"], colours)
    left_out = len(rows.loc[rows["why"] != "", "measure"].unique())
    text = (
        "Grey titles: baselines. Hollow stars: did not converge. Each measure has the sign of the "
        f"atlas. {DAGGER}"
    )
    if names:
        first = axes[names[0]]
        for net, colour in colours.items():
            first.plot([], [], "*", color=colour, ms=9, label=str(net))
        first.plot([], [], "o", color=GREY, ms=3, label="atlas")
        figure.legend(loc="outside upper center", ncols=4)
    else:
        text = f"Nothing to compare: {'; '.join(sorted({*rows['why']}))}. "
    note(figure, f"{text}{left_out} measures are listed in the table instead of drawn.")
    return Drawing(figure, rows)


def _panel(
    ax: Axes, name: str, own: pd.DataFrame, published: pd.DataFrame, colours: dict[str, str]
) -> None:
    parts = [comparable(net, published)[0] for _, net in own.iterrows()]
    others = pd.concat(parts)[[name, TESTED]].drop_duplicates().dropna()
    both = pd.concat([others, own[[name, TESTED]]])
    set_scales(ax, both[name], 100 * both[TESTED])
    ax.plot(others[name], 100 * others[TESTED], "o", color=GREY, ms=2.5, mew=0, alpha=0.5)
    for net in own.to_dict("records"):
        colour = colours[net["net"]]
        face, edge = (colour, "white") if did_converge(net, name) else ("white", colour)
        at = net[name], 100 * net[TESTED]
        ax.plot(*at, "*", color=colour, ms=11, mfc=face, mec=edge, mew=0.8)
