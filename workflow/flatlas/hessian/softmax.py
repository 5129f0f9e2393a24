"""The root of S, the curvature of the loss in the logits, without cancellation.

For the softmax, S = diag(p) − p pᵀ = Σ_c p_c (e_c − p)(e_c − p)ᵀ: a sum of squares, which stays
exact where p is almost 0 or 1. For a single output, S = p (1 − p). The labels do not matter.
"""

import torch
from torch import Tensor


def root(logits: Tensor, images: int = 1) -> Tensor:
    """R (images, outputs, outputs) with RᵀR = S/n for n `images`, for logits (images, outputs)."""
    if logits.shape[1] == 1:
        return (logits.sigmoid() * (-logits).sigmoid() / images).sqrt().unsqueeze(2)
    p = logits.softmax(1)
    return (p / images).sqrt().unsqueeze(2) * deviations(p)


def root_times(logits: Tensor, jacobian: Tensor) -> Tensor:
    """R J (outputs, images, m) for J = ∂logits/∂z of the same shape, without forming R."""
    logits = logits.T.unsqueeze(-1)
    if len(logits) == 1:
        return (logits.sigmoid() * (-logits).sigmoid()).sqrt() * jacobian
    p = logits.softmax(0)
    return p.sqrt() * (jacobian - (p * jacobian).sum(0))


def deviations(p: Tensor) -> Tensor:
    """The rows e_c − p (images, outputs, outputs) of probabilities (images, outputs).

    A p that is almost 1 is never subtracted from 1: the result is the sum of the others.
    """
    same = torch.eye(p.shape[1], dtype=torch.bool, device=p.device)
    others = p.unsqueeze(1).masked_fill(same, 0.0)
    return torch.diag_embed(others.sum(2)) - others
