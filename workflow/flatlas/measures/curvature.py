"""The curvature of the training loss in the weights of one dense layer, exactly.

Only ReLUs and dense layers come between the layer's pre-activations z = a W and the logits. So the
logits are piecewise linear in z, with a Jacobian J that depends on the ReLU pattern. For one image
the Hessian with respect to W is therefore a_i a_i′ C_jj′ with C = Jᵀ S J, where S is the curvature
of the loss in the logits (diag(p) − p pᵀ for the softmax). The Fisher matrix has the same form,
with C = δ δᵀ and δ = ∂l/∂z.

Both a aᵀ and C are symmetric and small, so the mean over images is one matrix product of their
upper halves, with a column for each image. In a wide layer a aᵀ is large: there the mean is
computed for one pair (j, j′) at a time, as Aᵀ diag(C_jj′) A over many images at once.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from flatlas.flatness.duality import add_curvature
from flatlas.hessian.softmax import root_times
from flatlas.measures.solution import IMAGES, Solution
from flatlas.nets.loss import sample_losses

# The most numbers in the halves of a block of images: 16 MiB, the fastest size for the caches.
NUMBERS = 2**21
# A layer is wide if the halves of fewer images than this fill NUMBERS.
FEW = 64

Root = Callable[[Solution, str, Tensor, Tensor], Tensor]


def hessian(solution: Solution, layer: str, activity: Tensor) -> Tensor:
    """The Hessian ∇∇L of the mean training loss, for the layer's flattened weights.

    `activity` (1, images, n_in) is the layer's input for all training images.
    """
    return _mean_over_images(solution, layer, activity, hessian_root)


def fisher(solution: Solution, layer: str, activity: Tensor) -> Tensor:
    """The empirical Fisher matrix ⟨∇l_k ∇l_kᵀ⟩ (§2.3), for the layer's flattened weights."""
    return _mean_over_images(solution, layer, activity, loss_slope)


def gradient(solution: Solution, layer: str, activity: Tensor) -> Tensor:
    """The gradient ∇L of the mean training loss, for the layer's flattened weights.

    Unlike the Hessian, it also works for convolutions.
    """
    weight = solution.parameters[f"{layer}.weight"].clone().requires_grad_()
    parameters = {**solution.parameters, f"{layer}.weight": weight}
    total = torch.zeros_like(weight)
    for a, labels in solution.blocks(activity, IMAGES):
        z = solution.net.layer(layer).preactivation(parameters, a)
        losses = sample_losses(solution.logits_from(layer, z), labels)
        total += torch.autograd.grad(losses.sum(), weight)[0]
    return total.flatten() / activity.shape[1]


def _mean_over_images(solution: Solution, layer: str, activity: Tensor, root: Root) -> Tensor:
    n_in, n_out = solution.net.dense(layer).fans
    shape = (n_in * (n_in + 1) // 2, n_out * (n_out + 1) // 2)
    images = NUMBERS // sum(shape)
    if images < FEW:
        return _by_outputs(solution, layer, activity, root)
    halves = activity.new_zeros(shape)
    for a, labels in solution.blocks(activity, images):
        z = solution.preactivation(layer, a).requires_grad_()
        halves += _products(a.squeeze(0)) @ _upper_half(root(solution, layer, z, labels))
    return _whole(halves / activity.shape[1], n_in, n_out)


def _by_outputs(solution: Solution, layer: str, activity: Tensor, root: Root) -> Tensor:
    """The mean over images for a wide layer, by one matrix product for each pair of outputs."""
    n_in, n_out = solution.net.dense(layer).fans
    total = activity.new_zeros(n_in, n_out, n_in, n_out)
    for a, labels in solution.blocks(activity, IMAGES):
        z = solution.preactivation(layer, a).requires_grad_()
        roots = root(solution, layer, z, labels)
        # With the images last, each pair of outputs is contiguous.
        curved = torch.einsum("rkj,rkl->jlk", roots, roots)
        add_curvature(total, a[0], curved.permute(2, 0, 1))
    return total.reshape(n_in * n_out, n_in * n_out) / activity.shape[1]


def hessian_root(solution: Solution, layer: str, z: Tensor, labels: Tensor) -> Tensor:
    """R (outputs, images, n_out) with Rᵀ R = Jᵀ S J; the labels do not matter."""
    logits = solution.logits_from(layer, z)
    return root_times(logits.detach().squeeze(0), _jacobian(logits, z))


def _jacobian(logits: Tensor, z: Tensor) -> Tensor:
    """J = ∂logits/∂z (outputs, images, n_out)."""
    outputs = logits.shape[-1]
    each = torch.eye(outputs, dtype=logits.dtype, device=logits.device)
    ones = each[:, None, None, :].expand(outputs, *logits.shape)
    (jacobian,) = torch.autograd.grad(logits, z, ones, is_grads_batched=True)
    return jacobian.squeeze(1)


def loss_slope(solution: Solution, layer: str, z: Tensor, labels: Tensor) -> Tensor:
    """δ = ∂l/∂z (1, images, n_out)."""
    losses = sample_losses(solution.logits_from(layer, z), labels)
    (delta,) = torch.autograd.grad(losses.sum(), z)
    return delta


def _products(vectors: Tensor) -> Tensor:
    """The upper half of a aᵀ, with diagonal, as a column for each row a of (images, m)."""
    rows = vectors.T.contiguous()
    return torch.cat([rows[i] * rows[i:] for i in range(len(rows))])


def _upper_half(roots: Tensor) -> Tensor:
    """The upper half of Rᵀ R, with diagonal, as a row for each image of R (r, images, m)."""
    size = roots.shape[2]
    images = roots.transpose(0, 1).contiguous()
    rows, columns = torch.triu_indices(size, size, device=roots.device)
    return (images.mT @ images).flatten(1).index_select(1, rows * size + columns)


def _whole(halves: Tensor, n_in: int, n_out: int) -> Tensor:
    """The matrix H[(i, j), (i′, j′)] from its entries for i ≤ i′ and j ≤ j′."""
    across, down = _position(n_in, halves.device), _position(n_out, halves.device)
    matrix = halves[across[:, None, :, None], down[None, :, None, :]]
    return matrix.reshape(n_in * n_out, n_in * n_out)


def _position(size: int, device: torch.device) -> Tensor:
    """The position of each entry of a symmetric matrix in its upper half."""
    rows, columns = torch.triu_indices(size, size, device=device)
    position = torch.empty(size, size, dtype=torch.long, device=device)
    position[rows, columns] = position[columns, rows] = torch.arange(len(rows), device=device)
    return position
