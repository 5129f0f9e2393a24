"""The Hessian of the mean loss in all parameters of a net, without ever writing it down.

Matrices are what their `product` with vectors is; dense nets also know their trace and norm.
"""

import torch
from torch import Tensor

from flatlas.hessian.dense import DenseHessian
from flatlas.hessian.free import FreeHessian
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters


def hessian_of(
    net: LayeredNet,
    parameters: Parameters,
    inputs: Tensor,
    labels: Tensor,
    precision: torch.dtype = torch.float64,
) -> DenseHessian | FreeHessian:
    """∇∇L of a stack's only member over these images, in closed form where there is one.

    Where there is none, products are made in this `precision`.
    """
    if net.only_dense:
        return DenseHessian.of(net, parameters, inputs, labels)
    return FreeHessian(net, parameters, inputs, labels, precision)
