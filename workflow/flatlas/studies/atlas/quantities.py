"""The quantities of the study `atlas`, and the tables that hold them.

If its theory is right, more of each quantity means a larger generalization gap. So a measure that
is worse when smaller is taken with a minus sign.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """A quantity of a net: its words in claims, its symbol in figures, and the part that has it.

    `tested` is what it knows about the images that the gap is measured on, if anything. If it is
    `searched`, the search may not converge.
    """

    words: str
    symbol: str
    part: str
    tested: str = ""
    searched: bool = False

    @property
    def label(self) -> str:
        """The symbol, with a dagger if the quantity knows test images."""
        return self.symbol + "†" * bool(self.tested)

    @property
    def name(self) -> str:
        """The words, with a dagger if the quantity knows test images."""
        return self.words + "†" * bool(self.tested)


LOSSES = "the losses of test images"
BASELINES = {
    "epochs": Quantity("epochs of training", "epochs", "training"),
    "train_loss": Quantity("training loss", "training loss", "norms"),
    "gradient_norm": Quantity("gradient norm", r"$\|g\|$", "norms"),
    "weight_norm": Quantity("weight norm", r"$\|w\|_2$", "norms"),
}
MEASURES = {
    "sharpness": Quantity("box sharpness", "box sharpness", "sharpness", searched=True),
    "norm_sharpness": Quantity(
        "box sharpness times squared norm",
        r"box sharpness $\times\,\|w\|^2$",
        "sharpness",
        searched=True,
    ),
    "spectral_norm": Quantity(
        "spectral norm of the Hessian", r"$\|H\|_2$", "hessian", searched=True
    ),
    "trace": Quantity("trace of the Hessian", r"$\mathrm{tr}\,H$", "hessian"),
    "frobenius": Quantity("Frobenius norm of the Hessian", r"$\|H\|_F$", "hessian"),
    "product": Quantity(
        "geometric mean of the largest eigenvalues",
        r"geometric mean of largest $\lambda_i$",
        "hessian",
        searched=True,
    ),
    "pca_flatness": Quantity("narrowness along principal directions", "$-$PCA flatness", "valley"),
    "T_g": Quantity("total sharpness of duality, T_g", "$T_g$", "duality", LOSSES),
    "T_w": Quantity("total size of duality, T_w", "$T_w$", "duality", "test images"),
    # Without the µ-term, which is the gap itself in losses instead of errors.
    "dual_gap": Quantity(
        "gap along directions of duality, ΔL", r"$\Delta L$, duality", "duality", LOSSES
    ),
    "prior": Quantity(
        "improbability of the function, −log₁₀ P(f)",
        r"$-\log_{10}P(f)$",
        "prior",
        "what the net says of test images",
        searched=True,
    ),
    "regret": Quantity("local regret", "local regret", "regret"),
    "kl_regret": Quantity(
        "local regret in a damped KL-ball", "regret, KL-ball", "ball", searched=True
    ),
    "contrast": Quantity(
        "contrastive flatness by sharpness", "contrastive flatness", "contrast", searched=True
    ),
    "fisher_rao": Quantity("Fisher-Rao norm", r"$w^\top F w$", "fisher_rao"),
    "relative_flatness": Quantity(
        "relative flatness of the last layer", "relative flatness", "relative_flatness"
    ),
    "adaptive_sharpness": Quantity(
        "adaptive sharpness", "adaptive sharpness", "adaptive_sharpness", searched=True
    ),
    "pac_bayes": Quantity(
        "PAC-Bayes −σ",
        r"PAC-Bayes $-\sigma$",
        "pac_bayes",
        searched=True,
    ),
    "pac_bayes_magnitude": Quantity(
        "PAC-Bayes −σ relative to weights",
        r"PAC-Bayes $-\sigma$, relative",
        "pac_bayes",
        searched=True,
    ),
    "learning_coefficient": Quantity(
        "local learning coefficient", r"$\hat\lambda$", "learning_coefficient", searched=True
    ),
    "distance": Quantity("distance from initialization", r"$\|w-w_0\|_2$", "norms"),
    "path_norm": Quantity("path norm", "path norm", "norms"),
    "margin": Quantity("smallness of the margin", "$-$margin", "norms"),
}
QUANTITIES = BASELINES | MEASURES
SEARCHED = [name for name, quantity in QUANTITIES.items() if quantity.searched]
# The measure and its table for each part, in a figure that names measures. Parts that are missing
# here have the table `summary` of the measure with their name.
ELSEWHERE = {
    "training": ("norms", "summary"),
    "ball": ("regret", "kl_ball"),
    "valley": ("valley", "directions"),
}
TAKEN = {one.part: ELSEWHERE.get(one.part, (one.part, "summary")) for one in QUANTITIES.values()}
TABLES = {part: f"{measure}_{table}" for part, (measure, table) in TAKEN.items()}
# The table of each part of the measure `survival`, with a row for each moment and scaling.
SURVIVAL = {
    part: f"survival_{'kl_ball' if part == 'ball' else part}"
    for part in ("norms", "sharpness", "hessian", "duality", "prior", "regret", "ball", "contrast")
}


def settled(name: str) -> str:
    """The column that says whether the search for a quantity converged: 1, 0, or NaN."""
    return f"{name}_settled"


def other_baselines(name: str) -> list[str]:
    """The baselines that a quantity is compared with: all except itself."""
    return [other for other in BASELINES if other != name]
