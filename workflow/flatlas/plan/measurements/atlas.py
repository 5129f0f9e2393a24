"""Options of the measures that only the study `atlas` takes."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from flatlas.plan.measurements.functions import OfArcCosineKernel
from flatlas.plan.measurements.measurement import Measurement, without_next
from flatlas.plan.net_specs import layer_names
from flatlas.plan.training_specs import RunSpec


class Norms(Measurement):
    """Norms of the weights and of their gradient, the path norm, and the margins on S."""

    measure: Literal["norms"]

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The initial weights have to be known, and they are drawn anew."""
        yield from super().misfits(run)
        if run.start is not None:
            yield "measure", "draws the initial weights anew, but this run starts from another."


class Survival(OfArcCosineKernel):
    """The measures of the atlas on a net as it is, and after two α-scalings of a `layer`.

    α is the `factor` for the layer, and between its inverse and itself for each neuron. The duality
    is that of `dual_layer`; the other options are those of Hessian, sharpness, regret and contrast.
    """

    measure: Literal["survival"]
    layer: str = "fc1"
    factor: Annotated[float, Field(gt=0)] = 5.9
    dual_layer: str = "fc2"
    top: PositiveInt = 50
    box: Annotated[float, Field(gt=0)] = 1e-4
    batch: PositiveInt = 32
    pairs: Annotated[int, Field(ge=2)] = 40
    minibatches: Annotated[int, Field(ge=2)] = 5

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer, and a layer for the duality."""
        yield from super().misfits(run)
        yield from without_next(self.layer, run)
        allowed = layer_names(run.net)["dense"]
        if self.dual_layer not in allowed:
            yield "dual_layer", f"is '{self.dual_layer}'. Allowed: {', '.join(allowed)}."
