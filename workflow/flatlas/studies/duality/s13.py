"""Figure S13: sharpness, size and gap against the epoch at which weight decay stops."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.plotting.style import Drawing, note, panels
from flatlas.plotting.trainings import small_print
from flatlas.studies.duality.sweeps import SWEEP_LEGEND, Sweep, sweep_of, sweep_row

UNTIL, COEFFICIENT = "penalty.until_epoch", "penalty.coefficient"


def draw(material: Material) -> Drawing:
    """One row of panels. No weight decay at all is one that stops at once, t_beta = 0."""
    figure, axes = panels(1, 3)
    timed = sweep_of(material, "decay_time", UNTIL)
    decays = sweep_of(material, "decay", COEFFICIENT)
    joined = Sweep(
        UNTIL,
        _with_none(decays.directions, timed.directions),
        _with_none(decays.summary, timed.summary),
    )
    points = pd.concat(sweep_row(axes, "ABC", joined), ignore_index=True)
    note(figure, SWEEP_LEGEND + small_print(material))
    return Drawing(figure, points)


def _with_none(decays: pd.DataFrame, timed: pd.DataFrame) -> pd.DataFrame:
    without = decays[decays[COEFFICIENT] == 0].assign(**{UNTIL: 0})
    return pd.concat([without, timed], ignore_index=True)


def claims(material: Material):
    """See there."""
    from flatlas.studies.duality.s13_claims import judge

    return judge(material)
