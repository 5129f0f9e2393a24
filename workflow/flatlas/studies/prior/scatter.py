"""One quantity against another: a dot per net, darker the more wrong labels it learnt."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from flatlas.claims.correlations import COEFFICIENTS
from flatlas.minus import with_minus
from flatlas.plotting.style import BLUE, panels, shades
from flatlas.statistics.means import mean
from flatlas.studies.prior.quantities import ACCURACY, FLATNESS, LOG_PRIOR, REST_FLATNESS, Quantity

SYMBOLS = {"pearson": "$r$", "spearman": r"$\rho$", "kendall": r"$\tau$"}
NAMED = f"{', '.join(SYMBOLS.values())}: coefficients of Pearson, Spearman, Kendall"
LEGEND, OF_ALL_NETS = f"{NAMED} in each realization, means over these. ", f"{NAMED}. "
OF_BOOLEAN = "Of Boolean functions over all nets. "
SHADES = ListedColormap(shades(256))
# More dots than this would hide each other.
MANY = 200
PRIOR_AND_FLATNESS = ((LOG_PRIOR, ACCURACY), (FLATNESS, ACCURACY))
WITH_THE_REST = (*PRIOR_AND_FLATNESS, (REST_FLATNESS, ACCURACY))
REST_LEGEND = "Bottom: by corners, what the first-order part leaves of the sharpness if positive. "


def draw_grid(
    points: pd.DataFrame,
    rows: Sequence[tuple[Quantity, Quantity]],
    columns: Mapping[str, str],
    by: str = "sweep",
) -> tuple[Figure, list[Axes]]:
    """A row of panels for each pair (x, y), with one panel for each value of the column `by`.

    `columns` maps these values to their names. A single column is drawn as a row.
    """
    shape = (len(rows), len(columns)) if len(columns) > 1 else (1, len(rows))
    figure, axes = panels(*shape, height=2.7)
    for row, (x, y) in enumerate(rows):
        for place, value in enumerate(columns):
            ax = axes[row * len(columns) + place]
            draw_dots(ax, points[points[by] == value], x, y)
            if place:
                ax.set_ylabel("")
    for ax, name in zip(axes, columns.values(), strict=False):
        ax.set_title(name)
    name_shades(figure, axes, points)
    return figure, axes


def draw_dots(ax: Axes, points: pd.DataFrame, x: Quantity, y: Quantity) -> None:
    """Draw one panel, with the coefficients where they hide the fewest dots."""
    known = np.isfinite(points[[x.name, y.name]].to_numpy(float)).all(axis=1)
    shown = points.loc[known]
    colours = _colours(shown)
    face = np.where(_settled(shown, x, y)[:, np.newaxis], colours, 1.0)
    many = len(shown) > MANY
    ax.scatter(
        shown[x.name], shown[y.name], s=9 if many else 18, c=face, edgecolors=[*colours],
        linewidths=0.7, alpha=0.6 if many else 0.9, rasterized=many,
    )  # fmt: skip
    ax.set(xlabel=x.label, ylabel=y.label)
    lines = [*coefficients(shown, x, y)]
    if FLATNESS in (x, y):
        lines += first_order(shown)
    if lines:
        box = {"frameon": True, "framealpha": 0.4, "edgecolor": "none", "borderpad": 0.1}
        ax.legend([], [], title="\n".join(lines), title_fontsize=7, loc="best", **box)


def coefficients(points: pd.DataFrame, x: Quantity, y: Quantity) -> Iterator[str]:
    """A line for each coefficient, as in the claims; none where there is nothing to correlate.

    Where each net is a separate realization, the coefficients are those of all nets.
    """
    alone = not points["seed"].duplicated().any()
    realizations = [points] if alone else [one for _, one in points.groupby("seed")]
    pairs = [one[[x.name, y.name]].to_numpy(float).T for one in realizations]
    for kind, coefficient in COEFFICIENTS.items():
        found = float(mean(np.array([coefficient(*pair) for pair in pairs])))
        if isfinite(found):
            yield f"{SYMBOLS[kind]} = {with_minus(f'{found:.2f}')}"


def first_order(points: pd.DataFrame) -> Iterator[str]:
    """The share of the sharpness that is the gradient's, in the median net that converged."""
    settled = points[_settled(points, FLATNESS)]
    if len(settled) > len(points) / 2:
        yield f"gradient: {(settled['first_order'] / settled['sharpness']).median():.0%}"


def name_shades(figure: Figure, axes: Sequence[Axes], points: pd.DataFrame) -> None:
    """A colour bar beside the panels, if attack sizes vary."""
    sizes = points.groupby("sweep")["attack_size"].max()
    largest = set(sizes[sizes > 0])
    if largest:
        most = f"{largest.pop():g}" if len(largest) == 1 else "most"
        bar = figure.colorbar(
            ScalarMappable(cmap=SHADES), ax=axes, aspect=40, pad=0.01, ticks=[0, 1]
        )
        bar.ax.set_yticklabels(["0", most])
        bar.set_label("$|A|$", rotation=0, labelpad=0)
        bar.outline.set_visible(False)


def _colours(points: pd.DataFrame) -> np.ndarray:
    """A colour for each net: |A| relative to the sweep's largest; blue without an attack set."""
    size = points["attack_size"].astype(float)
    share = size / size.groupby(points["sweep"]).transform("max").where(lambda most: most > 0, 1)
    plain = np.array(ListedColormap([BLUE])(0))
    return np.where(share.notna().to_numpy()[:, np.newaxis], SHADES(share.fillna(0)), plain)


def _settled(points: pd.DataFrame, *quantities: Quantity) -> np.ndarray:
    columns = [f"{one.measure}_settled" for one in quantities if one.searched]
    return ~points[columns].eq(False).any(axis=1).to_numpy()
