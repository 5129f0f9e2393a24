"""The components of dual weights and effective gradients along directions, over pairs (§2.2)."""

import torch
from torch import Tensor

# Directions whose moments are computed at a time.
STRIP = 64


def moments(components: Tensor, scale: Tensor) -> dict[str, Tensor]:
    """Means, deviations and correlation over pairs of the components of g and Δw (Eq. 10).

    g_n,k = scale_k Δw_n,k. The covariance of the two is a direction's gap, c_n σ_g σ_w (Eq. 11).
    """
    # One strip of directions at a time stays in the processor's cache.
    strips = components.split(STRIP, dim=1)
    moved = zip(*(_moments_of(strip, scale) for strip in strips), strict=True)
    mu_w, mu_g, sigma_w, sigma_g, gap = (torch.cat(parts) for parts in moved)
    product = sigma_g * sigma_w
    return {
        "sigma_g": sigma_g,
        "sigma_w": sigma_w,
        "correlation": torch.where(product > 0, gap / product, 0.0),
        "mu_g": mu_g,
        "mu_w": mu_w,
        "gap": gap,
        "gap_mu": mu_g * mu_w,
    }


def _moments_of(components: Tensor, scale: Tensor) -> tuple[Tensor, ...]:
    """mu_w, mu_g, sigma_w, sigma_g and the gap of some directions."""
    components = components.contiguous()
    gradients = scale.unsqueeze(1) * components
    mu_w, mu_g = components.mean(0), gradients.mean(0)
    components, gradients = components - mu_w, gradients.sub_(mu_g)
    gap = (gradients * components).mean(0)
    sigma_w = components.square_().mean(0).sqrt()
    sigma_g = gradients.square_().mean(0).sqrt()
    return mu_w, mu_g, sigma_w, sigma_g, gap
