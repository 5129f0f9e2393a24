"""What a family of networks declares: its options, and what the plan must know without torch."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import model_validator

from flatlas.errors import FlatlasError
from flatlas.layer_names import FEATURES, LAST
from flatlas.plan.initializations import HeNormal, InitSpec, ScaledNormal
from flatlas.plan.spec import Spec
from flatlas.plan.trees import Location

LayerKind = Literal["convolution", "dense", "module"]
LONGEST_SLUG = 100
# (channels, height, width)
Shape = tuple[int, int, int]


class Layer(NamedTuple):
    """A layer that a study can name."""

    name: str
    kind: LayerKind


class LayerSize(NamedTuple):
    """The number of a layer's weights, without biases, and of the image positions that use them."""

    weights: int
    places: int


class NetSize(NamedTuple):
    """A net's number of weights and of multiplications per image, without biases and batch norm."""

    weights: int
    products: int


class Family(Spec, ABC):
    """The base of every family: a subclass adds its options and the three abstract members.

    A subclass with a tag, `family: Literal["<name>"]`, is a family. If it lacks a member, defining
    it is an error. A subclass without a tag is a base that several families share.
    """

    family: str

    @property
    @abstractmethod
    def slug(self) -> str:
        """The readable part of an id, as in 'dense30x30'."""

    @property
    @abstractmethod
    def layers(self) -> tuple[Layer, ...]:
        """The layers, starting at the input. The last is dense and gives the logits."""

    @abstractmethod
    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """The size of every layer with weights, on images of this shape."""

    def weights_of(self, layer: str, input_shape: Shape, outputs: int) -> int:
        """The number of weights of a named layer, without biases."""
        names = [one.name for one in self.layers]
        sizes = [*self.layer_sizes(input_shape, outputs)]
        # Counted from the end: only the first layer of a net (a module's features) has several.
        return sizes[names.index(layer) - len(names)].weights

    def misfits(self, input_shape: Shape) -> Iterable[tuple[Location, str]]:
        """The place of each option that does not fit such images, and why. By default none."""
        return ()

    @property
    def skipped_layers(self) -> tuple[str, ...]:
        """Convolutions that a residual connection skips. By default none."""
        return ()

    @property
    def only_dense(self) -> bool:
        """Whether every layer is dense."""
        return all(layer.kind == "dense" for layer in self.layers)

    def names(self, *kinds: LayerKind) -> list[str]:
        """The names of the layers of these kinds: kind by kind, each starting at the input."""
        return [layer.name for kind in kinds for layer in self.layers if layer.kind == kind]

    def size(self, input_shape: Shape, outputs: int) -> NetSize:
        """The size of the whole net."""
        sizes = [*self.layer_sizes(input_shape, outputs)]
        return NetSize(
            sum(one.weights for one in sizes), sum(one.weights * one.places for one in sizes)
        )

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        """Refuse a family that lacks a member."""
        super().__pydantic_init_subclass__(**options)
        lacking = ", ".join(sorted(cls.__abstractmethods__))
        if lacking and "family" in cls.__annotations__:
            raise FlatlasError(
                f"the net family {cls.__name__} lacks {lacking}: docs/add-a-net.md says what each "
                "of them is."
            )

    @model_validator(mode="after")
    def _ends_with_a_dense_layer(self) -> "Family":
        if not self.layers or self.layers[-1].kind != "dense":
            raise ValueError(f"the last layer of {self.slug} is not dense, but it makes the logits")
        return self


class ModuleFamily(Family):
    """A base for families that are torch modules, of which only the last dense layer is known."""

    batch_norm: ClassVar[bool] = False
    """Whether a batch norm follows or precedes each layer, except the last."""

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Two layers: everything before the last layer, and the last layer."""
        return Layer(FEATURES, "module"), Layer(LAST, "dense")


class LayeredFamily(Family):
    """A base for families that end with dense layers fc1, fc2, ... of widths `hidden`."""

    if TYPE_CHECKING:
        # Each family declares these fields itself, to choose their positions among the options.
        hidden: tuple[int, ...]
        bias: bool
        dropout: float
        init: InitSpec

    @model_validator(mode="after")
    def _options_have_an_effect(self) -> "LayeredFamily":
        if self.dropout and not self.hidden:
            raise ValueError(
                f"dropout is {self.dropout:g}, but acts after hidden layers, and hidden is []. Set "
                "dropout: 0, or add a hidden layer"
            )
        if isinstance(self.init, HeNormal | ScaledNormal) and not self.bias:
            given, default = self.init.bias_std, type(self.init).model_fields["bias_std"].default
            if given not in (0, default):
                raise ValueError(
                    f"init.bias_std is {given:g}, but bias is false. Set init.bias_std: 0, or "
                    "bias: true"
                )
        return self

    @property
    def slug(self) -> str:
        """The hidden widths, as in 'dense30x30'."""
        return joined(self.family, self.hidden)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """A dense layer for each hidden width, and the last."""
        return numbered_layers("fc", "dense", len(self.hidden) + 1)


def numbered_layers(prefix: str, kind: LayerKind, count: int) -> tuple[Layer, ...]:
    """Layers numbered from 1, as in fc1, fc2, fc3."""
    return tuple(Layer(f"{prefix}{number}", kind) for number in range(1, count + 1))


def dense_sizes(widths: Sequence[int]) -> Iterator[LayerSize]:
    """The dense layers between these widths."""
    for inputs, neurons in pairwise(widths):
        yield LayerSize(inputs * neurons, places=1)


def joined(family: str, widths: Sequence[int]) -> str:
    """A slug as in 'dense30x30'. Very many layers are only counted: file names are limited."""
    slug = family + "x".join(map(str, widths))
    return slug if len(slug) <= LONGEST_SLUG else f"{family}-{len(widths)}-layers"
