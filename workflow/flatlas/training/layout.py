"""The layout of a dense net's weights in the buffers of the compiled kernel."""

from collections.abc import Sequence
from itertools import accumulate

from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Dense, Parameters
from flatlas.training.kernel import PADDED


class Layout:
    """One buffer for each member: layer after layer, row after row.

    The bias is a layer's last row. Zeros fill each row up to whole vectors.
    """

    def __init__(self, net: LayeredNet) -> None:
        """The layout for a net that has only dense layers."""
        self.layers: Sequence[Dense] = net.dense_layers
        sizes = [(layer.inputs + layer.bias) * padded(layer.outputs) for layer in self.layers]
        *self.offsets, self.size = accumulate(sizes, initial=0)

    def views(self, buffer: Tensor) -> Parameters:
        """The parameters (rows, ...) in a buffer (rows, size), without a copy."""
        found: Parameters = {}
        for layer, offset in zip(self.layers, self.offsets, strict=True):
            units, stride = layer.inputs + layer.bias, padded(layer.outputs)
            rows = buffer[:, offset : offset + units * stride]
            filled = rows.view(len(buffer), units, stride)[..., : layer.outputs]
            found[f"{layer.name}.weight"] = filled[:, : layer.inputs]
            if layer.bias:
                found[f"{layer.name}.bias"] = filled[:, layer.inputs]
        return found

    def packed(self, parameters: Parameters) -> Tensor:
        """A buffer that holds these parameters."""
        some = next(iter(parameters.values()))
        buffer = some.new_zeros(len(some), self.size)
        views = self.views(buffer)
        for name, value in parameters.items():
            views[name].copy_(value)
        return buffer


def padded(width: int) -> int:
    """The padded length of a row that holds this many numbers."""
    return -(-width // PADDED) * PADDED
