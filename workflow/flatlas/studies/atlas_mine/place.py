"""The user's networks as stars among the networks of the atlas, a panel for each measure."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from flatlas.evidence.material import Material
from flatlas.plotting.style import GREY, Drawing, note, panels, plain_ticks, shades
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES
from flatlas.studies.atlas_mine.placed import TESTED, comparable

COLUMNS = 5
# An axis is logarithmic if all values are positive and their range exceeds this factor.
SPAN = 5
# Up to this factor its ticks are plain numbers.
FEW_DECADES = 100


def draw(material: Material) -> Drawing:
    """A panel for each measure that can be compared.

    The tables are `mine` and `published`, measure tables, if any is published, and `placed`.
    """
    mine, rows = material.tables["mine"], material.tables["placed"]
    published = material.tables.get("published")
    found = rows[(rows["why"] == "") & (rows["measure"] != TESTED)]
    names = [name for name in QUANTITIES if name in set(found["measure"])]
    count = -(-len(names) // COLUMNS) if names else 1
    figure, axes = panels(count, COLUMNS if names else 1, width=2.1, height=2.0)
    colours = dict(zip(mine["net"], shades(len(mine)), strict=True))
    for place, ax in enumerate(axes):
        ax.set_title("", loc="left")
        if place >= len(names) or published is None:
            ax.set_axis_off()
            continue
        _panel(ax, names[place], found, mine, published, colours)
        if place % COLUMNS == 0:
            ax.set_ylabel("test error (%)", fontsize=8)
    if names:
        for net, colour in colours.items():
            axes[0].plot([], [], "*", color=colour, ms=9, label=str(net))
        axes[0].plot([], [], "o", color=GREY, ms=3, label="atlas")
        figure.legend(loc="outside upper center", ncols=4)
    left_out = len(rows.loc[rows["why"] != "", "measure"].unique())
    text = "Grey titles: baselines. Each measure has the sign of the atlas. "
    if not names:
        text = f"Nothing to compare: {'; '.join(_reasons(rows['why']))}. "
    note(figure, f"{text}{left_out} measures are listed in the table instead of drawn.")
    return Drawing(figure, rows)


def _reasons(why: Iterable[str]) -> list[str]:
    return sorted({one for one in why if one})


def _panel(
    ax: Axes,
    name: str,
    found: pd.DataFrame,
    mine: pd.DataFrame,
    published: pd.DataFrame,
    colours: dict[str, str],
) -> None:
    own = mine[mine["net"].isin(found.loc[found["measure"] == name, "net"])]
    parts = [comparable(net, published)[0] for _, net in own.iterrows()]
    others = pd.concat(parts)[[name, TESTED]].drop_duplicates().dropna()
    ax.plot(others[name], 100 * others[TESTED], "o", color=GREY, ms=2.5, mew=0, alpha=0.5)
    for net in own.to_dict("records"):
        colour = colours[net["net"]]
        ax.plot(net[name], 100 * net[TESTED], "*", color=colour, ms=11, mec="white", mew=0.6)
    both = pd.concat([others, own[[name, TESTED]]])
    for values, axis, scale in (
        (both[name], ax.xaxis, ax.set_xscale),
        (100 * both[TESTED], ax.yaxis, ax.set_yscale),
    ):
        if values.min() > 0 and values.max() > SPAN * values.min():
            scale("log")
            axis.set_minor_formatter(NullFormatter())
            if values.max() < FEW_DECADES * values.min():
                plain_ticks(axis, (1.0, 3.0))
    ax.set_title(QUANTITIES[name].label, fontsize=8, color="0.45" if name in BASELINES else "black")
    ax.tick_params(labelsize=6.5)
