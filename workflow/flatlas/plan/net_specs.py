"""Specs of the nets; how wide their two ends are, the data say (see `RunSpec`)."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from flatlas.plan.spec import Spec


class XavierUniform(Spec):
    """w ~ U(-s sqrt 6 / sqrt(n_in + n_out), +...); biases 0."""

    scheme: Literal["xavier_uniform"]
    scale: Annotated[float, Field(gt=0)] = 1.0


class HeNormal(Spec):
    """w ~ N(0, 2 / n_in); biases ~ N(0, bias_std²)."""

    scheme: Literal["he_normal"]
    bias_std: Annotated[float, Field(ge=0)] = 1.0


class ScaledNormal(Spec):
    """w ~ N(0, weight_std² / n_in); biases ~ N(0, bias_std²)."""

    scheme: Literal["scaled_normal"]
    weight_std: Annotated[float, Field(gt=0)] = 1.0
    bias_std: Annotated[float, Field(ge=0)] = 0.1


class FrameworkUniform(Spec):
    """PyTorch's default, w and b ~ U(-1/sqrt n_in, +...), times a scale."""

    scheme: Literal["framework_uniform"]
    scale: Annotated[float, Field(gt=0)] = 1.0


InitSpec = Annotated[
    XavierUniform | HeNormal | ScaledNormal | FrameworkUniform, Field(discriminator="scheme")
]
Probability = Annotated[float, Field(ge=0, lt=1)]
LayerKind = Literal["convolution", "dense"]


class DenseNet(Spec):
    """A fully connected ReLU net; its dense layers are called fc1, fc2, ..."""

    family: Literal["dense"]
    hidden: tuple[PositiveInt, ...]
    bias: bool = False
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")


class ConvolutionStage(Spec):
    """A convolution, a ReLU and, where `pool` is above 1, a max-pooling of that width.

    With `skip` the stage's images are added to what the convolution makes of them: a residual net.
    """

    channels: PositiveInt
    """How many it makes."""
    kernel: PositiveInt
    """Width of the convolution."""
    padding: NonNegativeInt = 0
    """Zeros around the image."""
    stride: PositiveInt = 1
    """Step of the convolution."""
    pool: PositiveInt = 1
    skip: bool = False


class ConvolutionalNet(Spec):
    """Convolution stages conv1, conv2, ... and then dense layers fc1, fc2, ...

    With `global_pool` the last stage's channels are averaged over the image before the dense
    layers, of which there is always one.
    """

    family: Literal["convolutional"]
    stages: tuple[ConvolutionStage, ...] = Field(min_length=1)
    hidden: tuple[PositiveInt, ...] = ()
    global_pool: bool = False
    bias: bool = True
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")


def layer_names(net: DenseNet | ConvolutionalNet) -> dict[LayerKind, list[str]]:
    """The names of a net's layers. Dense ones: one after each hidden width, and the last."""
    stages = net.stages if isinstance(net, ConvolutionalNet) else ()
    return {
        "convolution": [f"conv{number}" for number in range(1, len(stages) + 1)],
        "dense": [f"fc{number}" for number in range(1, len(net.hidden) + 2)],
    }


NetSpec = Annotated[DenseNet | ConvolutionalNet, Field(discriminator="family")]
