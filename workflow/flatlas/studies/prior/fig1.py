"""Figure 1: functions of larger volume are found first, and are flatter, computed for one weight.

Three functions have zero error, each on its own interval of the weight; the length of the interval
is its volume. Gradient descent from every weight gives the basins of attraction, and a box around
each weight the sharpness.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.axes import Axes
from scipy.ndimage import maximum_filter1d

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLACK, BLUE, GREEN, ORANGE, Drawing, note, plain_ticks


@dataclass(frozen=True)
class Function:
    """A function with zero error on S in the middle of its well, and the ends of that well."""

    name: str
    low: float
    centre: float
    high: float
    colour: str


FUNCTIONS = (
    Function("f_1", 0.0, 0.12, 0.22, ORANGE),
    Function("f_2", 0.22, 0.53, 0.91, BLUE),
    Function("f_3", 0.91, 0.95, 1.0, GREEN),
)
NAMES = np.array([one.name for one in FUNCTIONS])
# The error is zero from the middle of a well to this share of the way to its end.
REACH = 0.3
# Ripples of the loss make flatness vary within a volume.
RIPPLED, RIPPLE, WAVES = "f_2", 0.03, 5
WEIGHTS = np.linspace(0, 1, 4001)
RATE, STEPS = 2e-4, 6000
# Half the side of the box in which the sharpness is searched.
BOX = 0.003


def draw(material: Material) -> Drawing:
    """A: the loss. B: basins against volumes. C: sharpness against volumes."""
    figure, axes = pyplot.subplot_mosaic("AAB;AAC", figsize=(8.4, 4.2))
    for letter, ax in axes.items():
        ax.set_title(letter, loc="left", fontweight="bold")
    points = landscape()
    volumes = summary(points)
    _landscape_panel(axes["A"], points)
    _basins_panel(axes["B"], volumes)
    _sharpness_panel(axes["C"], volumes)
    note(
        figure,
        r"A: shaded: zero error on $S$; strip below: where gradient descent from each weight ends. "
        "C: mean over the volume; bars: all of its weights.",
    )
    tables = points.assign(panel="A"), volumes.assign(panel="B, C")
    return Drawing(figure, pd.concat(tables, ignore_index=True))


def landscape() -> pd.DataFrame:
    """At each weight: the loss, the sharpness, its function, and the function of its basin.

    A weight without zero error has no function yet; one exactly on a ridge has no basin.
    """
    w, losses = WEIGHTS, loss(WEIGHTS)
    side = round(BOX / (w[1] - w[0]))
    sharpness = maximum_filter1d(losses, 2 * side + 1, mode="nearest") - losses
    found = {"function": expressed(w), "basin": expressed(descend(w))}
    return pd.DataFrame({"w": w, "loss": losses, "sharpness": sharpness, **found})


def loss(w: np.ndarray) -> np.ndarray:
    """Wells of one shape but different widths; in the widest, the loss varies at zero error."""
    name, place = within(w)
    inside = np.minimum(place / REACH, 1)
    ripples = (1 - inside**2) ** 2 * np.sin(np.pi * WAVES * inside) ** 2
    well = np.sin(np.pi * place / 2) ** 2
    return np.asarray(well + np.where(name == RIPPLED, RIPPLE * ripples, 0))


def within(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The well of each weight, and its distance from the middle as a share of the way."""
    ends = [one.high for one in FUNCTIONS[:-1]]
    number = np.searchsorted(ends, w)
    low, centre, high = (
        np.array([getattr(one, end) for one in FUNCTIONS])[number]
        for end in ("low", "centre", "high")
    )
    way = np.where(w < centre, centre - low, high - centre)
    return NAMES[number], np.abs(w - centre) / way


def expressed(w: np.ndarray) -> np.ndarray:
    """The function that has zero error at each weight, or an empty name."""
    name, place = within(w)
    return np.where(place < REACH, name, "")


def descend(w: np.ndarray) -> np.ndarray:
    """Where gradient descent ends from each weight."""
    slope = np.gradient(loss(WEIGHTS), WEIGHTS)
    for _ in range(STEPS):
        w = np.clip(w - RATE * np.interp(w, WEIGHTS, slope), 0, 1)
    return w


def summary(points: pd.DataFrame) -> pd.DataFrame:
    """For each function: V(f), the volume of its basin of attraction, and the sharpness in V(f).

    V(f) is its prior P(f) if all weights are equally likely at first.
    """
    sharpness = points[points["function"] != ""].groupby("function")["sharpness"]
    volumes = {
        "volume": sharpness.size() / len(points),
        "basin_volume": points.groupby("basin").size() / len(points),
    }
    table = sharpness.agg(mean="mean", least="min", largest="max").assign(**volumes)
    return table.reindex(list(NAMES)).rename_axis("function").reset_index()


def _landscape_panel(ax: Axes, points: pd.DataFrame) -> None:
    ax.plot(points["w"], points["loss"], color=BLACK, lw=1.3)
    for one in FUNCTIONS:
        w = points["w"]
        for column, low, high, alpha in (("function", 0, 1, 0.25), ("basin", -0.1, -0.05, 1)):
            here = points[column] == one.name
            ax.fill_between(w, low, high, where=here, color=one.colour, alpha=alpha, lw=0)
        ax.text(one.centre, 1.02, f"${one.name}$", color=one.colour, ha="center", fontsize=11)
    ax.set(xlabel="weight $w$", ylabel="loss $L(w)$", xlim=(0, 1), ylim=(-0.12, 1))


def _basins_panel(ax: Axes, volumes: pd.DataFrame) -> None:
    """Draw basins against volumes, with the line on which they are proportional."""
    largest = volumes.nlargest(1, "volume").iloc[0]
    ends = volumes["volume"].agg(["min", "max"])
    ax.plot(ends, ends * largest["basin_volume"] / largest["volume"], color="0.6", lw=1, zorder=0)
    _dots(ax, volumes, "basin_volume")
    ax.set(yscale="log", ylabel=r"basin $V_{\mathrm{SGD}}(f)$")
    plain_ticks(ax.yaxis)
    ax.set_ylim(0.05, 1)


def _sharpness_panel(ax: Axes, volumes: pd.DataFrame) -> None:
    for (_, row), one in zip(volumes.iterrows(), FUNCTIONS, strict=True):
        ax.plot([row["volume"]] * 2, [row["least"], row["largest"]], color=one.colour, lw=1.2)
    _dots(ax, volumes, "mean")
    ax.set(xlabel="volume $V(f)$, the prior $P(f)$", ylabel="sharpness")
    ax.set_ylim(bottom=0)


def _dots(ax: Axes, volumes: pd.DataFrame, column: str) -> None:
    for (_, row), one in zip(volumes.iterrows(), FUNCTIONS, strict=True):
        ax.plot(row["volume"], row[column], "o", color=one.colour, ms=6)
    ax.set_xscale("log")
    plain_ticks(ax.xaxis)
    ax.set_xlim(0.02, 0.3)
