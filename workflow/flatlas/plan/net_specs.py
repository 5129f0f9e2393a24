"""Specs of the nets; the data set the widths of input and output (see `RunSpec`)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, NonNegativeInt, PositiveInt, model_validator

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
LayerKind = Literal["convolution", "dense", "module"]


class DenseNet(Spec):
    """A fully connected ReLU net; its dense layers are called fc1, fc2, ..."""

    family: Literal["dense"]
    hidden: tuple[PositiveInt, ...]
    bias: bool = False
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")


class ConvolutionStage(Spec):
    """A convolution, a ReLU and, if `pool` is above 1, max-pooling of that width.

    With `skip` the stage's input is added to the convolution's output: a residual net.
    """

    channels: PositiveInt
    """Channels of the output."""
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
    layers; there is always at least one.
    """

    family: Literal["convolutional"]
    stages: tuple[ConvolutionStage, ...] = Field(min_length=1)
    hidden: tuple[PositiveInt, ...] = ()
    global_pool: bool = False
    bias: bool = True
    dropout: Probability = 0.0
    init: InitSpec = XavierUniform(scheme="xavier_uniform")


class Preactivation(Spec):
    """A residual net with pre-activation and batch norm: PreResNet, or WideResNet.

    Its `depth` is 6n + 2 with n `basic` blocks in each of three stages, and 9n + 2 with n of
    `bottleneck`; by the count used for wide nets, 6n + 4. The first stage has `channels` times
    `widen` channels.
    """

    family: Literal["preactivation"]
    depth: Annotated[int, Field(ge=8)]
    block: Literal["basic", "bottleneck"] = "basic"
    widen: PositiveInt = 1
    channels: PositiveInt = 16

    @model_validator(mode="after")
    def _depth_is_of_whole_blocks(self) -> "Preactivation":
        step, outside = (6, (2, 4)) if self.block == "basic" else (9, (2,))
        if self.depth % step not in outside:
            forms = " or ".join(f"{step}n + {one}" for one in outside)
            raise ValueError(f"a net of {self.block} blocks has a depth of {forms}")
        return self


class Resnet(Spec):
    """A residual net with batch norm, for images of some 32 pixels a side.

    `blocks` lists the blocks of each stage. The first stage has `channels` channels, each later
    one twice as many as the one before. [2, 2, 2, 2] `basic` blocks with 64 channels are
    ResNet-18, [3, 4, 6, 3] `bottleneck` blocks ResNet-50.
    """

    family: Literal["resnet"]
    blocks: tuple[PositiveInt, ...] = Field(min_length=1)
    block: Literal["basic", "bottleneck"] = "basic"
    channels: PositiveInt = 64


class Densenet(Spec):
    """A densely connected net with batch norm, for images of some 32 pixels a side.

    `blocks` lists the layers of each block; each layer adds `growth` channels to the `channels`
    of the stem. [6, 12, 24, 16] with 32 and 64 are DenseNet-121.
    """

    family: Literal["densenet"]
    blocks: tuple[PositiveInt, ...] = Field(min_length=1)
    growth: PositiveInt = 32
    channels: PositiveInt = 64


def _where_and_what(module: str) -> str:
    where, _, what = module.partition(":")
    if not all(part.isidentifier() for part in [*where.split("."), what]):
        raise ValueError(f"'{module}' has to be written as 'my_nets:Tiny'")
    return module


def _safetensors(file: str) -> str:
    if not file.endswith(".safetensors"):
        raise ValueError(f"'{file}' has to be a .safetensors file: reading one runs no code")
    return file


class Own(Spec):
    """A user's own torch module: what a class or function makes of `arguments`.

    `module` says where it is, as in `my_nets:Tiny`: in my_nets.py in the folder in which Snakemake
    works. It ends with an nn.Linear.
    """

    family: Literal["own"]
    module: Annotated[str, AfterValidator(_where_and_what)]
    arguments: dict[str, JsonValue] = Field(default={})
    weights: Annotated[str, AfterValidator(_safetensors)] | None = None
    """A file with its `state_dict`, which it begins with in place of weights that it draws."""


ModuleSpec = Preactivation | Resnet | Densenet | Own
NetSpec = Annotated[DenseNet | ConvolutionalNet | ModuleSpec, Field(discriminator="family")]


def layer_names(net: DenseNet | ConvolutionalNet | ModuleSpec) -> dict[LayerKind, list[str]]:
    """The names of a net's layers. Dense ones: one after each hidden width, and the last.

    Of a torch module only the last is a layer to us; all before it goes by one name.
    """
    if isinstance(net, ModuleSpec):
        return {"convolution": [], "dense": ["fc"], "module": ["features"]}
    stages = net.stages if isinstance(net, ConvolutionalNet) else ()
    return {
        "convolution": [f"conv{number}" for number in range(1, len(stages) + 1)],
        "dense": [f"fc{number}" for number in range(1, len(net.hidden) + 2)],
        "module": [],
    }
