"""What all measures share."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field

from flatlas.errors import FlatlasError
from flatlas.plan.bounds import MOST_LISTED, Positive
from flatlas.plan.columns import Columns, columns
from flatlas.plan.family import LayerKind
from flatlas.plan.mistakes import listed
from flatlas.plan.moments import Moment, moments
from flatlas.plan.source_sizes import images_to_train_on, images_with_true_labels
from flatlas.plan.spec import Distinct, Spec
from flatlas.plan.training_specs import RunSpec, Training

Few = Field(max_length=MOST_LISTED)
Many = Field(min_length=1, max_length=MOST_LISTED)


def _with_one(factors: tuple[float, ...]) -> tuple[float, ...]:
    if 1.0 not in factors:
        raise ValueError("the factors must include 1, with which the others are compared")
    return factors


Factors = Annotated[tuple[Positive, ...], Many, Distinct, AfterValidator(_with_one)]


# The last columns of a table of valleys. A search finds the two ends of each valley.
BOTH_ENDS = columns(
    converged=(bool, "whether both ends were found"),
    iterations=(int, "evaluations of the loss for the worse end"),
    residual=(
        float,
        "distance of the loss at the worse end from its level, relative to that",
    ),
)


class Measurement(Spec):
    """The base of all measures. `at` lists the moments of a training at which one is taken.

    A moment is an epoch among the run's `checkpoints`; `met+10`, if 10 is among its
    `overtraining`; or `final`: the solution. There are two abbreviations: `all`, and `met`, which
    is `met+0` if the run keeps it and `final` otherwise.

    A measure is a subclass with a tag: `measure: Literal["<name>"]`. The module of that name in
    `flatlas.measures` has its function.
    """

    # The docstring of a measure describes its options. Docstrings of single options would make
    # pydantic parse the source of every measure whenever Snakemake starts.
    model_config = ConfigDict(use_attribute_docstrings=False)

    if TYPE_CHECKING:
        # A field of each subclass: declared here, it would come first in every resolved spec.
        measure: str

    tables: ClassVar[dict[str, Columns]]
    """The tables that a measure writes. Each begins with three more columns: seed, at and epoch."""

    layer_kind: ClassVar[LayerKind | None] = "dense"
    """The kind of layer that its option `layer` must name; None allows every kind."""

    of_any_module: ClassVar[bool] = True
    """Whether the measure works on any torch module with some images.

    If so, it needs no recording, sampled kernel or function, and no layer except the last.
    """

    minibatches_of: ClassVar[Literal["S", "S and attack set"] | None] = None
    """The images from which it draws its minibatches; none has an image twice."""

    matrices: ClassVar[int] = 0
    """How many square float64 matrices over the images of S and E it holds at a time."""

    layer_matrices: ClassVar[int] = 0
    """How many square float64 matrices over the weights of its `layer` it holds at a time."""

    runtime: ClassVar[int] = 60
    """Minutes to request, besides the time of its passes through the images."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a measure without tables."""
        super().__pydantic_init_subclass__(**kwargs)
        if "measure" in cls.model_fields and not hasattr(cls, "tables"):
            raise FlatlasError(
                f"{cls.__name__} declares no tables. Say which it writes, and their columns: "
                'tables = {"summary": columns(trace=(float, "the sum of all λ", "nat/w²"))}.'
            )

    # As many as a run may keep: its checkpoints, its overtraining, and the solution.
    at: Annotated[
        tuple[Literal["all", "met"] | Moment, ...],
        Field(min_length=1, max_length=2 * MOST_LISTED + 1),
        Distinct,
    ] = ("final",)

    @property
    def vectors(self) -> int:
        """How many arrays, each as long as all weights together, it holds at a time."""
        return 10

    @property
    def passes(self) -> int:
        """About how many times all images go through the net and back, for one solution."""
        return 10

    def spelled_out(self, run: RunSpec) -> Self:
        """A copy with moments of the run in place of `all` and `met`."""
        if not {"all", "met"} & set(self.at):
            return self
        if "all" in self.at:
            at = moments(run.checkpoints, run.overtraining)
        else:
            met = "met+0" if 0 in run.overtraining else "final"
            at = tuple(dict.fromkeys(met if one == "met" else one for one in self.at))
        return self.model_copy(update={"at": at})

    def misfits(self, run: RunSpec) -> Iterable[tuple[str, str]]:
        """Each option that does not fit a run: its key, and why. Checked before anything runs."""
        return ()

    def not_kept(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The same for moments at which the run keeps no weights."""
        kept = moments(run.checkpoints, run.overtraining)
        known = set(kept)
        for moment in self.at:
            if moment not in known:
                allowed = listed([*map(str, kept)])
                why = "A run keeps weights at its `checkpoints` and `overtraining`."
                yield "at", f"names '{moment}'. Allowed: {allowed}. {why}"

    def too_large(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """The same for minibatches that would need an image twice."""
        batch: int | None = getattr(self, "batch", None)
        if batch is None or self.minibatches_of is None:
            return
        count = images_with_true_labels if self.minibatches_of == "S" else images_to_train_on
        images = count(run.samples)
        if batch > images:
            has = f"a realization has {images:,} images to draw it from"
            yield "batch", f"is {batch:,}, but {has}. Allowed: at most {images:,}."


def without_next(layer: str, run: Training) -> Iterator[tuple[str, str]]:
    """Refuse the last layer: an α-scaling needs a next layer that undoes it."""
    *others, last = run.net.names("dense")
    if layer == last:
        allowed = ", ".join(others) or "none"
        yield "layer", f"is '{last}', which has no next layer. Allowed: {allowed}."


def skipped(layer: str, run: RunSpec) -> Iterator[tuple[str, str]]:
    """Refuse a convolution that a residual connection skips."""
    skipped_layers = run.net.skipped_layers
    if layer in skipped_layers:
        allowed = [one for one in run.net.names("convolution") if one not in skipped_layers]
        yield (
            "layer",
            f"is '{layer}', which a residual connection skips. Allowed: {', '.join(allowed)}.",
        )


class UnderScaling(Measurement):
    """A measure that is also taken after α-scalings of a `layer`, for the `factors` α."""

    layer: str = "fc1"
    factors: Factors = (1.0,)

    def misfits(self, run: RunSpec) -> Iterator[tuple[str, str]]:
        """An α-scaling needs a next layer."""
        if self.factors != (1.0,):
            yield from without_next(self.layer, run)
