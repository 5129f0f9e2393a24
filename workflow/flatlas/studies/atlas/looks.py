"""What the figures of the atlas share: how a study and a measure look, and the small print."""

import pandas as pd

from flatlas.evidence.atlas import NET, QUANTITIES, STUDY, once, settled
from flatlas.evidence.material import Material
from flatlas.plotting.style import BLUE, GREEN, ORANGE, PURPLE, RED, SKY

# Colour and sign of a study, by the order in which they come.
LOOKS = ((BLUE, "o"), (RED, "^"), (GREEN, "s"), (ORANGE, "D"), (PURPLE, "v"), (SKY, "P"))
NAMES = {
    "zero_error_epoch": "epochs to zero error",
    "train_loss": "training loss",
    "gradient_norm": r"$\|g\|$",
    "weight_norm": r"$\|w\|_2$",
    "sharpness": "box sharpness",
    "norm_sharpness": r"sharpness $\times\,\|w\|^2$",
    "spectral_norm": r"$\|H\|_2$",
    "trace": r"$\mathrm{tr}\,H$",
    "frobenius": r"$\|H\|_F$",
    "product": r"geometric mean of largest $\lambda_i$",
    "pca_flatness": "$-$PCA flatness",
    "T_g": "$T_g$",
    "T_w": "$T_w$",
    "dual_gap": r"$\Delta L$, duality",
    "prior": r"$-\log_{10}P(f)$",
    "regret": "local regret",
    "kl_regret": "regret, KL-ball",
    "contrast": "contrastive flatness",
    "distance": r"$\|w-w_0\|_2$",
    "path_norm": "path norm",
    "margin": "$-$margin",
}
LABELS = {name: words + "†" * bool(QUANTITIES[name].tested) for name, words in NAMES.items()}
DAGGER = r"†: knows test images, $T_g$ and $\Delta L$ their losses. "


def looks(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Of each study in a table."""
    studies = sorted(table[STUDY].unique())
    return {name: LOOKS[place % len(LOOKS)] for place, name in enumerate(studies)}


def counted(table: pd.DataFrame, name: str) -> str:
    """Of how many runs and nets a quantity is known."""
    known = once(table.dropna(subset=[name]))
    return f"{known['run'].nunique()} runs, {len(known)} nets"


def small_print(material: Material, table: pd.DataFrame) -> str:
    """How many nets there are, of which studies, and what is not to be relied on."""
    trained = material.tables["outcomes"].drop_duplicates([*NET])
    nets = once(table)
    by_study = nets.groupby(STUDY)["run"].nunique().items()
    told = ", ".join(f"{name}: {count}" for name, count in by_study)
    lost = len(trained) - len(nets)
    text = f"{nets['run'].nunique()} runs ({told}), {len(nets)} nets; pairs of one study compared."
    if lost:
        text += f" {lost} of {len(trained)} trainings met no stopping rule and are left out."
    searches = nets[[settled(name) for name in QUANTITIES if settled(name) in nets]]
    if count := int((searches == 0).sum().sum()):
        text += f" {count} of {int(searches.notna().sum().sum())} values are of searches that did"
        text += " not converge."
    return DAGGER + text
