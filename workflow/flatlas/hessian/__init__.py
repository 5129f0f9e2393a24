"""The Hessian of the mean loss in all parameters of a net, without storing the matrix.

A matrix is given by its `product` with vectors; for dense nets also by trace and norm.
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
    """∇∇L of a stack's only member over these images, in closed form if there is one.

    Without one, products are computed in this `precision`.
    """
    if net.only_dense:
        return DenseHessian.of(net, parameters, inputs, labels)
    return FreeHessian(net, parameters, inputs, labels, precision)
