"""Norms, and what survives an α-scaling."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from flatlas.plan.bounds import AtLeastTwo, Count, Images, Positive
from flatlas.plan.columns import LOSS, columns
from flatlas.plan.measurements.curvature import Hessian, Sharpness
from flatlas.plan.measurements.duality import Duality
from flatlas.plan.measurements.functions import GpPrior, OfArcCosineKernel
from flatlas.plan.measurements.measurement import Measurement, without_next
from flatlas.plan.measurements.regrets import ContrastiveFlatness, Regret
from flatlas.plan.training_specs import RunSpec


class Norms(Measurement):
    """Norms of weights and gradient, path norm, and margins on S."""

    measure: Literal["norms"]

    tables: ClassVar = {
        "summary": columns(
            weight_norm=(float, "‖w‖ of all weights and biases", "w"),
            distance=(float, "‖w − w(0)‖ from the initial weights; NaN if they are unknown", "w"),
            path_norm=(float, "root of the sum over paths of the products of squared weights"),
            margin_least=(float, "smallest margin on S: logit of the right class − largest other"),
            margin_tenth=(float, "margin that a tenth of S falls below"),
            margin_mean=(float, "mean margin on S"),
            normalized_margin_least=(float, "margin_least / path_norm"),
            normalized_margin_tenth=(float, "margin_tenth / path_norm"),
            normalized_margin_mean=(float, "margin_mean / path_norm"),
            gradient_norm=(float, "‖∇L‖ on S", "nat/w"),
            train_loss=LOSS,
            train_error=(float, "share of S that is misclassified"),
            test_loss=(float, "mean loss on E", "nat"),
            test_error=(float, "share of E that is misclassified"),
        )
    }

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The initial weights must be known."""
        yield from _started_elsewhere(run)


def _started_elsewhere(run: RunSpec) -> Iterator[tuple[str, str]]:
    """Refuse a run that starts from another: the distance is from initial weights drawn again."""
    if run.start is not None:
        yield "measure", "draws the initial weights again, but this run starts from another."


class Survival(OfArcCosineKernel):
    """The atlas' measures, before and after two α-scalings of a `layer`.

    The first multiplies the layer by `factor`; the second each neuron by its own α, from 1/`factor`
    to `factor`. The duality is of `dual_layer`; other options belong to the measures.
    """

    measure: Literal["survival"]
    layer: str = "fc1"
    factor: Positive = 5.9
    dual_layer: str = "fc2"
    top: Count = 50
    box: Positive = 1e-4
    batch: Images = 32
    pairs: AtLeastTwo = 40
    minibatches: AtLeastTwo = 5

    tables: ClassVar = {
        name: table
        | columns(scaling=(str, "`none`, `layer` (times `factor`) or `neurons` (each its own)"))
        for name, table in {
            "norms": Norms.tables["summary"],
            "sharpness": Sharpness.tables["summary"],
            "hessian": Hessian.tables["summary"],
            "duality": Duality.tables["summary"],
            "prior": GpPrior.tables["summary"],
            "regret": Regret.tables["summary"],
            "kl_ball": Regret.tables["kl_ball"],
            "contrast": ContrastiveFlatness.tables["summary"],
        }.items()
    }
    matrices = GpPrior.matrices
    runtime = GpPrior.runtime
    of_any_module = False
    minibatches_of = "S"

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """An α-scaling needs a next layer, the duality a dense layer, and the norms w(0)."""
        yield from super().misfits(run)
        yield from _started_elsewhere(run)
        yield from without_next(self.layer, run)
        allowed = run.net.names("dense")
        if self.dual_layer not in allowed:
            yield "dual_layer", f"is '{self.dual_layer}'. Allowed: {', '.join(allowed)}."
