"""What the options of all measures share."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from flatlas.plan.moments import Moment, moments
from flatlas.plan.net_specs import ConvolutionalNet, layer_names
from flatlas.plan.spec import Distinct, Spec
from flatlas.plan.training_specs import RunSpec, Training

Many = Field(min_length=1)


def _with_one(factors: tuple[float, ...]) -> tuple[float, ...]:
    if 1.0 not in factors:
        raise ValueError("the factor 1, against which the others are held, has to be among them")
    return factors


Factors = Annotated[
    tuple[Annotated[float, Field(gt=0)], ...], Many, Distinct, AfterValidator(_with_one)
]


class Measurement(Spec):
    """What all measures share: the moments of a training `at` which they are taken.

    A moment is an epoch among the run's `checkpoints`; `met+10`, where 10 is among its
    `overtraining`; or `final`: the solution. Two words are spelled out by the plan: `all`, and
    `met`, which is `met+0` where a run keeps it, and elsewhere `final`.
    """

    at: Annotated[tuple[Literal["all", "met"] | Moment, ...], Many, Distinct] = ("final",)

    @property
    def vectors(self) -> int:
        """How many arrays it holds at a time that are as long as all weights together."""
        return 10

    @property
    def passes(self) -> int:
        """How often it takes all images through the net and back, for one solution; about."""
        return 10

    def spelled_out(self, run: RunSpec) -> Self:
        """The same with moments of the run in place of `all` and `met`."""
        if not {"all", "met"} & set(self.at):
            return self
        if "all" in self.at:
            at = moments(run.checkpoints, run.overtraining)
        else:
            met = "met+0" if 0 in run.overtraining else "final"
            at = tuple(dict.fromkeys(met if one == "met" else one for one in self.at))
        return self.model_copy(update={"at": at})

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """Each option that can't be met by a run: its key, and why. Told before anything runs."""
        kept = moments(run.checkpoints, run.overtraining)
        for moment in self.at:
            if moment not in kept:
                allowed = ", ".join(map(str, kept))
                why = "A run keeps what its checkpoints and its overtraining say."
                yield "at", f"names '{moment}'. Allowed: {allowed}. {why}"


def without_next(layer: str, run: Training) -> Iterator[tuple[str, str]]:
    """An α-scaling is taken back by the next layer."""
    *others, last = layer_names(run.net)["dense"]
    if layer == last:
        yield (
            "layer",
            f"is '{last}', which has no next layer. Allowed: {', '.join(others) or 'none'}.",
        )


def skipped(layer: str, run: RunSpec) -> Iterator[tuple[str, str]]:
    """Past a residual stage the images go in another way too."""
    stages = run.net.stages if isinstance(run.net, ConvolutionalNet) else ()
    convolutions = dict(zip(layer_names(run.net)["convolution"], stages, strict=True))
    if layer in convolutions and convolutions[layer].skip:
        allowed = [name for name, stage in convolutions.items() if not stage.skip]
        yield "layer", f"is '{layer}', past which the images skip. Allowed: {', '.join(allowed)}."


class UnderScaling(Measurement):
    """What measures share that are also taken after an α-scaling of a `layer`: its `factors` α."""

    layer: str = "fc1"
    factors: Factors = (1.0,)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """There has to be a next layer, if anything is scaled."""
        yield from super().misfits(run)
        if self.factors != (1.0,):
            yield from without_next(self.layer, run)
