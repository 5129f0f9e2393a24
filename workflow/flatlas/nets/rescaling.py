"""The α-scaling of a net (Dinh et al. 2017): other weights, the same function."""

from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters


def rescaled(
    net: LayeredNet, parameters: Parameters, layer: str, factor: float | Tensor
) -> Parameters:
    """αW_l, αb_l and W_{l+1}/α: a positive factor commutes with ReLU.

    `factor` is α, or an α for each of the layer's neurons (n_out).
    """
    above = net.after(layer)
    if not above:
        raise FlatlasError(
            f"layer '{layer}' is the last one, so no next layer can undo its factor. "
            f"Allowed: {', '.join(one.name for one in net.dense_layers[:-1])}."
        )
    back = factor.unsqueeze(-1) if isinstance(factor, Tensor) else factor
    scaled = dict(parameters)
    for name in net.dense(layer).shapes:
        scaled[name] = parameters[name] * factor
    next_weight = f"{above[0].name}.weight"
    scaled[next_weight] = parameters[next_weight] / back
    return scaled
