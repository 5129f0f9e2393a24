"""Power laws between quantities along the p_i: fitted, drawn, printed and written to the CSV."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from flatlas.evidence.material import NET
from flatlas.minus import with_minus
from flatlas.plotting.style import BLACK
from flatlas.statistics.estimate import Estimate, over_directions
from flatlas.statistics.power_law import power_law, slope
from flatlas.studies.annealing.recordings import FIRST, LAST

# Not "95 %": for few nets the interval is the range of the resamples.
INTERVALS = "intervals by the bootstrap over directions and nets, of one net over its directions"


@dataclass(frozen=True)
class Fit:
    """y ∝ x^slope over the ranks that were fitted; `x` and `y` are the ends of its line."""

    name: str
    slope: Estimate
    ranks: tuple[int, int]
    x: tuple[float, float]
    y: tuple[float, float]

    def label(self, symbol: str, sign: int = 1) -> str:
        """The exponent with its interval, as `symbol`; a `sign` of −1 is for y ∝ x^(−symbol)."""
        ends = sorted(sign * end for end in (self.slope.low, self.slope.high))
        interval = f" [{ends[0]:.2f}, {ends[1]:.2f}]" if np.isfinite(ends).all() else ""
        return f"${symbol}$ = " + with_minus(f"{sign * self.slope.value:.2f}{interval}")

    @property
    def row(self) -> pd.DataFrame:
        """The fit in the figure's CSV."""
        row = {
            "quantity": f"exponent of {self.name}",
            "value": self.slope.value,
            "low": self.slope.low,
            "high": self.slope.high,
            "from_rank": self.ranks[0],
            "to_rank": self.ranks[1],
        }
        return pd.DataFrame([row])

    def draw(self, ax: Axes, colour: str = BLACK) -> None:
        """Draw the line of the power law."""
        ax.plot(self.x, self.y, "--", color=colour, lw=1.1, zorder=3)


def fit(rows: pd.DataFrame, x: str, y: str, first: int = FIRST, last: int = LAST) -> Fit | None:
    """The power law of y over x for ranks `first` to `last`; None for fewer than two of them.

    The interval is a bootstrap over directions and realizations.
    """
    used = rows[rows["rank"].between(first, last) & (rows[x] > 0) & (rows[y] > 0)]
    if used["rank"].nunique() < 2:
        return None
    power, intercept = power_law(used[x].to_numpy(float), used[y].to_numpy(float))
    ends = float(used[x].min()), float(used[x].max())
    by_net = used.pivot(index=NET, columns="rank", values=[x, y])
    return Fit(
        name=f"{y} over {x}",
        slope=over_directions(slope, by_net[x].to_numpy(float), by_net[y].to_numpy(float)),
        ranks=(int(used["rank"].min()), int(used["rank"].max())),
        x=ends,
        y=(float(10**intercept * ends[0] ** power), float(10**intercept * ends[1] ** power)),
    )


def log_log(ax: Axes, rows: pd.DataFrame, **labels: str) -> None:
    """Logarithmic axes with labels; linear if there is nothing to show."""
    scale = "log" if len(rows) else "linear"
    ax.set(xscale=scale, yscale=scale, **labels)
