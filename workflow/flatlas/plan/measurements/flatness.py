"""Measures of flatness for networks of the workflow; the library has them, too."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from flatlas.plan.bounds import AsNumber, AtLeastTwo, Count, Positive, UpToOne
from flatlas.plan.columns import LOSS, columns, search
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.training_specs import RunSpec


class FisherRao(Measurement):
    """The squared Fisher-Rao norm wᵀ F w of all weights, with the Fisher matrix F on S; exact."""

    measure: Literal["fisher_rao"]

    tables: ClassVar = {
        "summary": columns(
            fisher_rao=(float, "wᵀ F w, with F of the network's own predictions", "nat")
        )
    }


class RelativeFlatness(Measurement):
    """The relative flatness of a `layer`, of the last one if none is given; larger is sharper.

    It is Σ over outputs s, s' of ⟨w_s, w_s'⟩ tr H_ss'. w_s are the weights into output s, H_ss' is
    the block of w_s and w_s' in the Hessian of the loss on S; exact.
    """

    measure: Literal["relative_flatness"]
    layer: str | None = None

    tables: ClassVar = {
        "summary": columns(
            layer=(str, "the layer"),
            relative_flatness=(float, "Σ over s, s' of ⟨w_s, w_s'⟩ tr H_ss'", "nat"),
        )
    }

    def spelled_out(self, run: RunSpec) -> Self:
        """A copy with the last layer's name in place of none."""
        layer = self.layer or run.net.names("dense")[-1]
        return super().spelled_out(run).model_copy(update={"layer": layer})


class AdaptiveSharpness(Measurement):
    """The largest rise of L, on S, at w + c ⊙ u with ‖u‖_`p` ≤ `radius`, and the mean rise.

    c is |w|, or 1 if not `adaptive`. The mean is over Gaussian u with the standard deviation
    `radius`, from `pairs` of opposite ones. The search begins at w and at `starts` − 1 random
    points; it ends when the slope predicts a further rise of at most `tolerance`, relative to the
    rise so far, or after `steps`.
    """

    measure: Literal["adaptive_sharpness"]
    # With a smaller radius, in MNIST nets at zero error, most of the rise comes from the gradient,
    # not from curvature.
    radius: Positive = 0.01
    p: Annotated[Literal[2, "infinity"], AsNumber] = "infinity"
    adaptive: bool = True
    pairs: AtLeastTwo = 10
    tolerance: UpToOne = 0.01
    steps: Count = 100
    starts: Count = 4

    tables: ClassVar = {
        "summary": columns(
            adaptive_sharpness=(float, "largest rise that was found, a lower bound", "nat"),
            adaptive_sharpness_error=(
                float,
                "lead over the second-best start or, if more, the further rise by the slope",
                "nat",
            ),
            first_order=(float, "the largest rise if the loss were linear", "nat"),
            mean_rise=(float, "mean rise over random u", "nat"),
            mean_rise_error=(float, "standard error of the mean rise", "nat"),
            loss=LOSS,
            **search("rise that the slope predicts beyond the largest one, relative to that"),
        )
    }

    @property
    def passes(self) -> int:
        """Far below `steps`: as measured, searches converge after 10 steps from each start."""
        return self.starts * min(self.steps, 20) + 2 * self.pairs


class PacBayesFlatness(Measurement):
    """The largest σ for which w + σu, or w + σ|w| ⊙ u, raises the mean loss on S by a `rise`.

    u is Gaussian; all σ use the same `pairs` of opposite u. The rise may differ from the wanted one
    by a relative `tolerance`.
    """

    measure: Literal["pac_bayes_flatness"]
    rise: Positive = 0.1
    pairs: AtLeastTwo = 10
    tolerance: UpToOne = 0.01

    tables: ClassVar = {
        "summary": columns(
            sigma=(float, "σ of w + σu", "w"),
            sigma_error=(float, "standard error of it; infinite if there is no such σ", "w"),
            sigma_magnitude=(float, "σ of w + σ|w| ⊙ u"),
            sigma_magnitude_error=(float, "standard error of it; infinite if there is none"),
            **search("distance of the rise from the wanted one, relative to that; the larger one"),
        )
    }

    @property
    def passes(self) -> int:
        """As measured: the search for each of the two σ tries ten values, without gradients."""
        return 20 * self.pairs


class LearningCoefficient(Measurement):
    """The local learning coefficient of L on S, from `chains` that begin at w.

    A direction with curvature h counts as ½ nβh / (nβh + γ), where n is the number of images, β =
    1/log n and γ is the `localization`. Each of the `steps`, which follow the `burn_in`, takes
    `leaps` gradients.
    """

    measure: Literal["learning_coefficient"]
    localization: Positive = 100.0
    # Chains of this length are healthy on MNIST nets of 33,000 weights. With one leap, R-hat needs
    # ten times as many steps.
    chains: AtLeastTwo = 4
    steps: Annotated[int, Field(ge=4, le=10**6)] = 60
    burn_in: Count = 30
    leaps: Count = 4

    tables: ClassVar = {
        "summary": columns(
            learning_coefficient=(float, "λ̂ = nβ (E L − L), the mean over chains"),
            learning_coefficient_error=(float, "standard error of it, from halves of chains"),
            drift=(float, "λ̂ in the second half of the chains − λ̂ in the first"),
            drift_error=(float, "standard error of the drift"),
            accepted=(float, "share of the steps that were accepted"),
            verdict=(str, "a sentence for each way in which the chains are not healthy"),
            loss=LOSS,
            **search("R-hat of the chains' halves − 1")
            | columns(
                iterations=(int, "gradients of L"),
                converged=(bool, "whether the chains are healthy: the verdict is empty"),
            ),
        )
    }

    @property
    def passes(self) -> int:
        """One pass for each gradient."""
        return self.chains * (self.steps + self.burn_in) * self.leaps
