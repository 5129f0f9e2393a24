"""Lines and planes through the weights, along which to look at the loss."""

from dataclasses import dataclass

import torch
from torch import Tensor

from flatlas.flatness.loss import Loss
from flatlas.hessian.complete import complete_search
from flatlas.hessian.round_off import with_round_off


@dataclass(frozen=True)
class Plane:
    """Directions (dimensions, size) through w, of a line or a plane, and a `path` near it.

    The path (points, dimensions) is a projected trajectory, and `shares` are the shares of its
    variance along each direction. `residuals` are those of eigenvectors, which may not have
    converged.
    """

    directions: Tensor
    path: Tensor | None = None
    shares: Tensor | None = None
    residuals: Tensor | None = None
    converged: bool = True


def filter_normalized(loss: Loss, dimensions: int, generator: torch.Generator) -> Plane:
    """Random directions in which each filter is as long as that of the weights (Li et al. 2018).

    A filter is what leads to one output: a row of a matrix, an output channel of a convolution. Of
    a transposed convolution it is what leads from one input. Biases and other vectors, such as
    those of batch norm, do not move.
    """
    drawn = torch.randn(
        (dimensions, loss.size),
        generator=generator,
        dtype=torch.float64,
        device=generator.device,
    )
    sizes = [shape.numel() for shape in loss.shapes.values()]
    for shape, w, part in zip(
        loss.shapes.values(), loss.w.split(sizes), drawn.split(sizes, 1), strict=True
    ):
        if len(shape) < 2:
            part.zero_()
            continue
        filters, own = part.view(dimensions, shape[0], -1), w.view(shape[0], -1)
        filters *= own.norm(dim=1, keepdim=True) / filters.norm(dim=2, keepdim=True)
    return Plane(drawn)


def leading(
    loss: Loss,
    dimensions: int,
    tolerance: float,
    generator: torch.Generator,
    round_off: float = 0.0,
) -> Plane:
    """The eigenvectors of the largest eigenvalues of the Hessian, each as long as w.

    `round_off` is that of products, relative to the largest eigenvalue.
    """
    found, space = complete_search(
        loss.hessian_product, loss.size, dimensions, generator, tolerance, torch.float64, bottom=0
    )
    found = with_round_off(found, round_off, tolerance)
    vectors = space.leading(dimensions) * loss.w.norm()
    return Plane(vectors, residuals=found.top_residuals, converged=found.converged)


def principal(loss: Loss, trajectory: Tensor, dimensions: int) -> Plane:
    """The unit vectors along which a trajectory (points, size) varies most, and its path.

    The path is the projection of the points onto the plane through w. It begins on the positive
    side of each direction.
    """
    centred = trajectory - trajectory.mean(0)
    _, sizes, vectors = torch.linalg.svd(centred, full_matrices=False)
    directions = vectors[:dimensions]
    path = (trajectory - loss.w) @ directions.T
    signs = torch.where(path[0] < 0, -1.0, 1.0).to(path)
    shares = sizes.square() / sizes.square().sum()
    return Plane(directions * signs.unsqueeze(1), path * signs, shares[:dimensions])
