"""K, the covariance of a random net's output over images (App. D): in closed form or sampled."""

from collections.abc import Sequence
from typing import Any

import torch
from gpytorch.kernels import Kernel
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.nets.initialization import variances
from flatlas.nets.layered import LayeredNet
from flatlas.plan.initializations import HeNormal, ScaledNormal
from flatlas.seeds import generator

# Nets whose weights are drawn at a time, and images that pass through them: with 64 channels they
# take 400 MiB.
NETS, IMAGES = 8, 100
# Random nets of a sampled kernel, for each image (App. D).
NETS_PER_IMAGE = 0.1
TINY = torch.finfo(torch.float64).tiny


class ArcCosineKernel(Kernel):
    """K of a fully connected ReLU net whose `depth` hidden layers are infinitely wide.

    K⁰ = σ_b² + σ_w² x·x′/d, and each hidden layer takes K to σ_b² + σ_w² E[relu(u) relu(u′)] with
    (u, u′) ~ N(0, K): the arc-cosine kernel of degree 1 (Cho and Saul, 2009). Weights are of
    variance σ_w²/n_in, biases of variance σ_b². Images are rows of pixels.
    """

    has_lengthscale = False

    def __init__(self, depth: int, weight_variance: float, bias_variance: float) -> None:
        """Take the variances σ_w² and σ_b², which all layers share."""
        super().__init__()
        self.depth = depth
        self.weight_variance = weight_variance
        self.bias_variance = bias_variance

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """K between the rows of x1 and those of x2, or only between corresponding rows."""
        variance1, variance2 = self._first(x1.square().mean(-1)), self._first(x2.square().mean(-1))
        if diag:
            covariance = self._first((x1 * x2).mean(-1))
        else:
            covariance = self._first(x1 @ x2.mT / x1.shape[-1])
            variance1, variance2 = variance1.unsqueeze(-1), variance2.unsqueeze(-2)
        for _ in range(self.depth):
            covariance = self._next(covariance, (variance1 * variance2).sqrt())
            # On the diagonal the moment is half of a normal variable's variance.
            variance1, variance2 = self._first(variance1 / 2), self._first(variance2 / 2)
        if not diag and torch.equal(x1, x2):
            # Make K exactly symmetric with an exact diagonal, despite rounding.
            covariance = covariance.tril(-1)
            covariance = covariance + covariance.mT + torch.diag_embed(variance1.squeeze(-1))
        return covariance

    def _first(self, moment: Tensor) -> Tensor:
        return self.bias_variance + self.weight_variance * moment

    def _next(self, covariance: Tensor, norm: Tensor) -> Tensor:
        """|u||u′| (sin θ + (π − θ) cos θ) / 2π is the moment of two ReLUs at the angle θ.

        In place if possible: for 10,000 images each matrix takes 800 MB.
        """
        cosine = (covariance / norm.clamp_min(TINY)).clamp_(-1, 1)
        angle = cosine.acos()
        moment = (torch.pi - angle).mul_(cosine).add_(angle.sin_())
        return self._first(moment.mul_(norm).div_(2 * torch.pi))


def arc_cosine_kernel(net: LayeredNet) -> ArcCosineKernel:
    """The kernel for the depth and initialization of a fully connected net."""
    if not net.only_dense or not isinstance(net.init, HeNormal | ScaledNormal):
        raise FlatlasError(
            "the arc-cosine kernel is that of a fully connected net with the same variances at any "
            "width (init.scheme 'he_normal' or 'scaled_normal'): use the kernel 'monte_carlo'."
        )
    return ArcCosineKernel(len(net.dense_layers) - 1, *last_layer_variances(net))


def last_layer_variances(net: LayeredNet) -> tuple[float, float]:
    """σ_w² = n_in Var(w) and σ_b² = Var(b) of the last dense layer at initialization."""
    last = net.dense_layers[-1]
    weight, bias = variances(net.init, last.fans)
    return weight, bias if last.bias else 0.0


def sampled_kernel(net: LayeredNet, images: Tensor, seed: int) -> Tensor:
    """K of any net with a last dense layer, from as many random nets as in the paper."""
    count = max(1, round(NETS_PER_IMAGE * len(images)))
    seeds = generator(seed, "monte carlo kernel").integers(2**63, size=count)
    return monte_carlo_kernel(net, images, seeds.tolist())


def monte_carlo_kernel(net: LayeredNet, images: Tensor, seeds: Sequence[int]) -> Tensor:
    """K = σ_w²/n_L · mean over m of X_m X_mᵀ + σ_b² (Eq. 7), for images (n, channels, h, w).

    X_m are the inputs of the last layer of a random net, and σ_w² and σ_b² those of that layer.
    """
    net.refuse_drawn()
    last, total = net.dense_layers[-1], images.new_zeros(len(images), len(images))
    for start in range(0, len(seeds), NETS):
        some = seeds[start : start + NETS]
        parameters = {key: value.to(images) for key, value in net.initial(some).items()}
        blocks = [
            net.into(parameters, block.expand(len(some), *block.shape), last.name)
            for block in images.split(IMAGES)
        ]
        rows = torch.cat(blocks, dim=1).transpose(0, 1).flatten(1)
        total.addmm_(rows, rows.T)
    weight_variance, bias_variance = last_layer_variances(net)
    total.mul_(weight_variance / (last.inputs * len(seeds))).add_(bias_variance)
    return total
