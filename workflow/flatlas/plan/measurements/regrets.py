"""The local measures of two minibatches and more."""

from typing import Annotated, ClassVar, Literal

from flatlas.plan.bounds import AtLeastTwo, Count, Images, NonNegative, Positive
from flatlas.plan.measurements.measurement import (
    SEARCH,
    Many,
    Measurement,
    UnderScaling,
    columns,
)
from flatlas.plan.spec import Distinct

# Means over pairs, with their standard errors.
OVER_PAIRS = columns(
    regret=float,
    dissimilarity=float,
    norm=float,
    regret_error=float,
    dissimilarity_error=float,
    norm_error=float,
)


class Regret(UnderScaling):
    """The local regret ‖g₂‖ (1 − cos(g₁, g₂)) of `pairs` of minibatches from S.

    Also in a KL-ball with the Fisher matrix F + λ diag F, for the `dampings` λ.
    """

    measure: Literal["regret"]
    batch: Images = 32
    pairs: AtLeastTwo = 100
    dampings: Annotated[tuple[NonNegative, ...], Many, Distinct] = (0.0, 100.0)

    tables: ClassVar = {
        "summary": columns(
            factor=float,
            **OVER_PAIRS,
            root_mean_square=float,
            loss=float,
            gradient_norm=float,
            train_error=float,
            test_error=float,
        ),
        "kl_ball": columns(factor=float, damping=float, **OVER_PAIRS, **SEARCH),
    }

    @property
    def vectors(self) -> int:
        """About eight for each minibatch, in the search for its natural gradient."""
        return 10 + 16 * self.pairs


_TRUE_AND_FORMULA = columns(
    true_regret=float,
    formula=float,
    ratio=float,
    **SEARCH,
)


class TrueRegret(Measurement):
    """f₂(argmin f₁) − min f₂ in balls of `radii` ε around θ, for `pairs` of minibatches."""

    measure: Literal["true_regret"]
    batch: Images = 32
    pairs: Count = 20
    radii: Annotated[tuple[Positive, ...], Many, Distinct]

    tables: ClassVar = {
        "summary": columns(epsilon=float, **_TRUE_AND_FORMULA),
        "pairs": columns(epsilon=float, pair=int, **_TRUE_AND_FORMULA),
    }

    @property
    def vectors(self) -> int:
        """Eight for each minibatch, as measured."""
        return 10 + 16 * self.pairs


class RegretSlice(Measurement):
    """The losses of two minibatches in the plane of their gradients, and minima in a `radius` ε."""

    measure: Literal["regret_slice"]
    batch: Images = 32
    radius: Positive

    tables: ClassVar = {
        "surface": columns(x=float, y=float, f1=float, f2=float),
        "stars": columns(
            of=str,
            epsilon=float,
            x=float,
            y=float,
            x_formula=float,
            y_formula=float,
            f1=float,
            f2=float,
            **SEARCH,
        ),
    }

    @property
    def vectors(self) -> int:
        """One for each of the 51 x 51 points of the picture; 2,670 were measured."""
        return 2670


class ContrastiveFlatness(UnderScaling):
    """The mean flatness of the losses of `minibatches`, divided by that of the loss on S.

    Flatness: the Hessian's trace, its spectral norm, and the sharpness in a `box`.
    """

    measure: Literal["contrastive_flatness"]
    batch: Images = 32
    minibatches: AtLeastTwo = 20
    box: Positive

    tables: ClassVar = {
        "summary": columns(
            factor=float,
            flatness=str,
            of_minibatches=float,
            of_mean=float,
            contrast=float,
            contrast_error=float,
            **SEARCH,
        )
    }

    @property
    def vectors(self) -> int:
        """Lanczos keeps ten for each of five eigenvalues, and the ascents have some."""
        return 200
