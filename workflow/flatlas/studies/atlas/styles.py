"""What the figures of the atlas share: the style of each study, and the small print."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREEN, ORANGE, PURPLE, RED, SKY
from flatlas.studies.atlas.nets import STUDY, once
from flatlas.studies.atlas.quantities import SEARCHED, settled

# Colours and markers of the studies, in alphabetical order of their names.
STYLES = ((BLUE, "o"), (RED, "^"), (GREEN, "s"), (ORANGE, "D"), (PURPLE, "v"), (SKY, "P"))
DAGGER = r"†: knows test images; $T_g$ and $\Delta L$ know their losses. "


def styles(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The colour and marker of each study in a table."""
    studies = sorted(table[STUDY].unique())
    return {name: STYLES[place % len(STYLES)] for place, name in enumerate(studies)}


def counted(table: pd.DataFrame, name: str) -> str:
    """For how many runs and nets a quantity is known."""
    known = once(table.dropna(subset=[name]))
    return f"{known['run'].nunique()} runs, {len(known)} nets"


def small_print(material: Material, table: pd.DataFrame) -> str:
    """How many nets there are, from which studies, and which values are not reliable."""
    trained = material.trainings
    nets = once(table)
    by_study = nets.groupby(STUDY)["run"].nunique().items()
    counts = ", ".join(f"{name}: {count}" for name, count in by_study)
    lost = len(trained) - len(nets)
    text = (
        f"{nets['run'].nunique()} runs ({counts}), {len(nets)} nets; pairs of one study compared."
    )
    if lost:
        text += f" {lost} of {len(trained)} trainings met no stopping rule and are left out."
    searches = nets[[settled(name) for name in SEARCHED if settled(name) in nets]]
    if count := int((searches == 0).sum().sum()):
        text += f" {count} of {int(searches.notna().sum().sum())} values come from searches that"
        text += " did not converge."
    return DAGGER + text
