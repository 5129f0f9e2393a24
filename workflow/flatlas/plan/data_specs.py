"""Specs of the data: where images come from, and which of them a realization sees."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from flatlas.plan.bounds import MOST_CLASSES, AsNumber, Images, PathText, Seed, Side
from flatlas.plan.families import NetSpec
from flatlas.plan.spec import Spec, Switch


class Normalize(Spec):
    """A network's inputs are (pixel / 255 − mean) / std, with one number per channel."""

    mean: tuple[Annotated[float, Field(ge=0, le=1)], ...]
    std: tuple[Annotated[float, Field(ge=1e-6, le=1)], ...]


class Pictures(Spec):
    """The base of every source of images with pixels."""

    kind: str
    normalize: Normalize | None = None

    @model_validator(mode="after")
    def _one_number_a_channel(self) -> Self:
        (channels, _, _), _ = shape_and_classes(self)
        for key, numbers in self.normalize or ():
            if len(numbers) != channels:
                raise ValueError(
                    f"normalize.{key} has length {len(numbers)}, but an image of this source has "
                    f"{channels} channel{'s' * (channels > 1)}: give a number for each"
                )
        return self


class Mnist(Pictures):
    """The handwritten digits, 28 × 28, from torchvision."""

    kind: Literal["mnist"]


class Cifar10(Pictures):
    """CIFAR-10, from torchvision."""

    kind: Literal["cifar10"]


class Cifar100(Pictures):
    """CIFAR-100, from torchvision."""

    kind: Literal["cifar100"]


class Folder(Pictures):
    """Images `<data_root>/<path>/train/<class>/*.bmp|jpeg|jpg|png`, and the same under `test/`."""

    kind: Literal["folder"]
    path: PathText
    classes: Annotated[int, Field(gt=0, le=MOST_CLASSES)]
    channels: Annotated[Literal[1, 3], AsNumber] = 3
    side: Side = 32
    follow_links: Switch = None
    """Allow links to images and folders outside of `path`."""


class Digits(Pictures):
    """scikit-learn's 1,797 digits, 8 × 8; a third of each class is for testing."""

    kind: Literal["digits"]


class Textures(Pictures):
    """Generated colour textures: oriented gratings with noise, one recipe for each class."""

    kind: Literal["textures"]
    classes: Annotated[int, Field(ge=2, le=20)] = 10
    side: Side = 32
    train_per_class: Images = 200
    test_per_class: Images = 100
    seed: Seed = 0


class Boolean(Spec):
    """All 2^n inputs of n `bits`, without labels; for `data.functions`."""

    kind: Literal["boolean"]
    bits: Annotated[int, Field(ge=1, le=10)] = 7


SourceSpec = Annotated[
    Mnist | Cifar10 | Cifar100 | Folder | Digits | Textures | Boolean, Field(discriminator="kind")
]


class SubsetSpec(Spec):
    """The training and test images of a realization.

    `classes` picks and orders the classes (all of them by default); `positive` turns the task into
    a binary one: label 1 for the listed classes, 0 for the rest. `per_class` counts the training
    images of each original class, `test_size` all test images. With `at_most`, a smaller source
    gives all its images. With `split`, every realization has the same draw; without it, each seed
    draws its own. `only` leaves out the images of all other classes but changes no label, so a net
    that knows all classes gets a task with some of them.
    """

    rule: ClassVar[str] = "subset"
    source: SourceSpec
    classes: tuple[NonNegativeInt, ...] | None = None
    only: tuple[NonNegativeInt, ...] | None = None
    positive: tuple[NonNegativeInt, ...] | None = None
    per_class: PositiveInt | None = None
    train_size: PositiveInt | None = None
    test_size: PositiveInt
    at_most: bool | None = None
    split: NonNegativeInt | None = None
    seeds: tuple[NonNegativeInt, ...]

    @property
    def drawn_classes(self) -> tuple[int, ...]:
        """The original classes whose images are drawn."""
        _, classes = shape_and_classes(self.source)
        return self.only or self.classes or tuple(range(classes))


class NoiseSpec(Spec):
    """A fraction of a subset's training labels is replaced by wrong ones, never by the true one."""

    rule: ClassVar[str] = "label_noise"
    subset: SubsetSpec
    fraction: Annotated[float, Field(gt=0, lt=1)]
    seeds: tuple[NonNegativeInt, ...]


class AttackSpec(Spec):
    """`size` more training images, outside the training and test sets, with wrong labels."""

    rule: ClassVar[str] = "attack_set"
    subset: SubsetSpec
    size: PositiveInt
    seeds: tuple[NonNegativeInt, ...]


class FunctionsSpec(Spec):
    """The `count` functions f that random nets express most often, as targets on all inputs.

    The realization with seed r learns the function of rank r + 1. Frequencies are counted over
    `draws` nets with weights from the net's own initialization.
    """

    rule: ClassVar[str] = "functions"
    source: Boolean
    net: NetSpec
    draws: PositiveInt
    count: PositiveInt


def shape_and_classes(source: Pictures | Boolean) -> tuple[tuple[int, int, int], int]:
    """The shape (channels, height, width) and the number of classes of a source."""
    if isinstance(source, Cifar10 | Cifar100):
        return (3, 32, 32), 10 if isinstance(source, Cifar10) else 100
    if isinstance(source, Digits):
        return (1, 8, 8), 10
    if isinstance(source, Textures):
        return (3, source.side, source.side), source.classes
    if isinstance(source, Folder):
        return (source.channels, source.side, source.side), source.classes
    if isinstance(source, Boolean):
        return (1, 1, source.bits), 2
    return (1, 28, 28), 10


def named(source: SourceSpec) -> str:
    """The name of a source in messages."""
    return f"the folder '{source.path}'" if isinstance(source, Folder) else source.kind


SamplesSpec = SubsetSpec | NoiseSpec | AttackSpec | FunctionsSpec


def subset_of(samples: SamplesSpec) -> SubsetSpec | FunctionsSpec:
    """The subset that samples are based on, or the functions on their whole source."""
    return samples.subset if isinstance(samples, NoiseSpec | AttackSpec) else samples
