"""The local measures that compare minibatches."""

from typing import Annotated, ClassVar, Literal

from flatlas.plan.bounds import AtLeastTwo, Count, Images, NonNegative, Positive
from flatlas.plan.columns import LOSS, Column, Columns, Unit, columns, search
from flatlas.plan.measurements.measurement import Many, Measurement, UnderScaling
from flatlas.plan.spec import Distinct

ALPHA = Column(float, "α of the α-scaling")
EPSILON = Column(float, "ε, the radius of the ball", "w")
IN_BALL = search("decrease that the slope predicts beyond the minimum found, over ε ‖g‖")


def _over_pairs(unit: Unit) -> Columns:
    """Means over pairs, with their standard errors."""
    return columns(
        regret=(float, "R/ε = ‖g₂‖ (1 − cos(g₁, g₂)), mean over pairs", unit),
        dissimilarity=(float, "1 − cos(g₁, g₂), mean over pairs"),
        norm=(float, "‖g‖, mean over minibatches", unit),
        regret_error=(float, "standard error of regret", unit),
        dissimilarity_error=(float, "standard error of dissimilarity"),
        norm_error=(float, "standard error of norm", unit),
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
            factor=ALPHA,
            **_over_pairs("nat/w"),
            root_mean_square=(float, "root of the mean ‖g‖² over minibatches", "nat/w"),
            loss=LOSS,
            gradient_norm=(float, "‖∇L‖ on S", "nat/w"),
            train_error=(float, "share of S that is misclassified"),
            test_error=(float, "share of E that is misclassified"),
        ),
        "kl_ball": columns(
            factor=ALPHA,
            damping=(float, "λ; ‖g‖ and cos have gᵀ(F + λ diag F)⁻¹g in place of gᵀg"),
            **_over_pairs("√nat"),
            **search("largest error of the inverse, relative to its gradient"),
        ),
    }
    minibatches_of = "S"

    @property
    def vectors(self) -> int:
        """About eight vectors for each minibatch, in the search for its natural gradient."""
        return 10 + 16 * self.pairs


_TRUE_AND_FORMULA = columns(
    true_regret=(float, "R = f₂(argmin f₁) − min f₂ in the ball", "nat"),
    formula=(float, "ε ‖g₂‖ (1 − cos(g₁, g₂))", "nat"),
    ratio=(float, "true_regret / formula"),
    **IN_BALL,
)


class TrueRegret(Measurement):
    """f₂(argmin f₁) − min f₂ in balls of `radii` ε around θ, for `pairs` of minibatches."""

    measure: Literal["true_regret"]
    batch: Images = 32
    pairs: Count = 20
    radii: Annotated[tuple[Positive, ...], Many, Distinct]

    tables: ClassVar = {
        "summary": columns(epsilon=EPSILON, **_TRUE_AND_FORMULA),
        "pairs": columns(
            epsilon=EPSILON, pair=(int, "number of the pair, from 1"), **_TRUE_AND_FORMULA
        ),
    }
    minibatches_of = "S"

    @property
    def vectors(self) -> int:
        """Eight vectors for each minibatch, as measured."""
        return 10 + 16 * self.pairs


class RegretSlice(Measurement):
    """The losses of two minibatches in the plane of their gradients, and minima in a `radius` ε."""

    measure: Literal["regret_slice"]
    batch: Images = 32
    radius: Positive

    tables: ClassVar = {
        "surface": columns(
            x=(float, "step along g₁, in units of ε"),
            y=(float, "step across g₁ in the plane of both gradients, in units of ε"),
            f1=(float, "loss f₁ of the first minibatch there", "nat"),
            f2=(float, "loss f₂ of the second minibatch there", "nat"),
        ),
        "stars": columns(
            of=(str, "whose minimum in the ball it is: `f1` or `f2`"),
            epsilon=EPSILON,
            x=(float, "where the minimum is, along g₁, in units of ε"),
            y=(float, "the same across g₁"),
            x_formula=(float, "where the gradient alone predicts it, along g₁, in units of ε"),
            y_formula=(float, "the same across g₁"),
            f1=(float, "f₁ at the minimum", "nat"),
            f2=(float, "f₂ at the minimum", "nat"),
            **IN_BALL,
        ),
    }
    minibatches_of = "S"

    @property
    def vectors(self) -> int:
        """One vector for each of the 51 x 51 points of the picture; 2,670 were measured."""
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
            factor=ALPHA,
            flatness=(str, "`trace`, `spectral_norm` or `sharpness`"),
            of_minibatches=(float, "mean over minibatches of that of their loss"),
            of_mean=(float, "that of the loss on S"),
            contrast=(float, "of_minibatches / of_mean"),
            contrast_error=(float, "standard error of the contrast over minibatches"),
            **search("largest relative error of any of these; for `sharpness`, its residual"),
        )
    }
    minibatches_of = "S"

    @property
    def vectors(self) -> int:
        """Lanczos keeps ten vectors for each of five eigenvalues; the ascents need a few more."""
        return 200
