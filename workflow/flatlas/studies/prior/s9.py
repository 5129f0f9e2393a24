"""Figure S9: long after the α-scaling the sharpness is where it would have been without.

As Figure 5, with ten times as many epochs after the scaling.
"""

import numpy as np
import pandas as pd

from flatlas.claims.claim import Claims
from flatlas.claims.nets import Nets
from flatlas.evidence.material import DOT, Material
from flatlas.plotting.style import BLACK, Drawing
from flatlas.statistics.power_law import power_law
from flatlas.studies.prior.along import AFTER, CORNERS, PRIOR, SHARPNESS, draw_along, in_full
from flatlas.studies.prior.course import course
from flatlas.studies.prior.scaling import rejoins, returns, spikes, untouched

ABOUT = "Black: the power law in the epoch that fits best from zero error to the scaling. "


def draw(material: Material) -> Drawing:
    """A: log P(f). C: log sharpness. E: by corners, with its trend from before the scaling."""
    drawing = draw_along(material, (PRIOR, SHARPNESS, CORNERS), about=ABOUT)
    whole = drawing.figure.axes[4]
    points = drawing.points[drawing.points["quantity"] == CORNERS.name]
    line = trend(in_full(points))
    whole.plot(line["epoch"], line["log10"], color=BLACK, lw=0.9)
    # A power law is a straight line on these axes; epoch 0 is left of them.
    whole.set_xscale("log", nonpositive="mask")
    whole.set_xlim(left=1)
    return Drawing(drawing.figure, pd.concat([drawing.points, line], ignore_index=True))


def trend(net: pd.DataFrame) -> pd.DataFrame:
    """The power law of one training's sharpness, from zero error to its last moment."""
    rows = net[net["since_zero_error"] >= 0]
    before = rows[rows["since_zero_error"] < rows[AFTER]]
    slope, intercept = power_law(before["epoch"].to_numpy(float), before["sharpness"].to_numpy())
    log10 = intercept + slope * np.log10(rows["epoch"])
    return rows[[*DOT, "epoch"]].assign(log10=log10, quantity="trend of the sharpness")


def claims(material: Material) -> Claims:
    """The claims that there is a spike, and that the curve then goes on as before."""
    nets = Nets(material, "scaled_long")
    sharpness = course(nets, CORNERS)
    yield spikes(nets, "sharpness", sharpness)
    yield rejoins(nets, sharpness)
    yield untouched(nets)
    yield returns(nets)
