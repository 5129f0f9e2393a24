"""The explorer of the atlas: its measure table, with names for its measures and axes."""

import pandas as pd

from flatlas.explorer.networks import compared, variables
from flatlas.explorer.page import Explorer
from flatlas.studies.atlas.nets import AXES
from flatlas.studies.atlas.quantities import BASELINES, QUANTITIES

AGAIN = "snakemake {{file}} --config preset={preset}"


def atlas_explorer(
    networks: pd.DataFrame,
    claims: pd.DataFrame,
    curves: pd.DataFrame,
    preset: str,
    report: str = "",
) -> Explorer:
    """The explorer of a preset, from its measure table, scorecards and learning curves."""
    count = len(networks.drop_duplicates(["run", "seed"]))
    runs = networks["run"].nunique()
    return Explorer(
        title=f"{count} networks of the atlas in {runs} runs, at {preset}",
        networks=networks,
        variables=variables(networks, AXES, QUANTITIES, BASELINES),
        axes=compared(networks, AXES),
        claims=claims,
        again=AGAIN.format(preset=preset),
        report=report,
        curves=curves,
    )
