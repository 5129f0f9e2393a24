"""LeNets and other small convolutional nets, including residual ones."""

from flatlas.errors import FlatlasError
from flatlas.nets.dense import dense_layers
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Convolution
from flatlas.plan.families.convolutional import ConvolutionalNet


def build(spec: ConvolutionalNet, input_shape: tuple[int, int, int], outputs: int) -> LayeredNet:
    """A net of conv1, conv2, ..., followed by fc1, fc2, ..."""
    channels, side, width = input_shape
    if width != side:
        raise FlatlasError(
            f"net.family 'convolutional' needs square images, not {side} x {width}. Use 'dense'."
        )
    stages = []
    for number, stage in enumerate(spec.stages, start=1):
        convolution = Convolution(
            f"conv{number}",
            channels,
            stage.channels,
            stage.kernel,
            stage.padding,
            stage.stride,
            stage.pool,
            spec.bias,
            stage.skip,
        )
        if stage.skip and (channels, side) != (stage.channels, convolution.convolved_side(side)):
            raise FlatlasError(
                f"net.stages.{number - 1} can't skip: {channels} channels of side {side} can't be "
                f"added to {stage.channels} of side {convolution.convolved_side(side)}. Choose "
                "channels, kernel, padding and stride that keep both."
            )
        side, before = convolution.side(side), side
        if side < 1:
            raise FlatlasError(
                f"net.stages.{number - 1} leaves no pixel of an image of side {before}. "
                "Use fewer stages, less pooling, a smaller kernel, or padding."
            )
        channels = stage.channels
        stages.append(convolution)
    features = channels if spec.global_pool else channels * side**2
    dense = dense_layers((features, *spec.hidden, outputs), spec.bias, spec.dropout)
    return LayeredNet([*stages, *dense], spec.init, spec.global_pool)
