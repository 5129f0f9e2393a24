"""A lower bound on log P(f) with the probit link, computed by GPyTorch: a third estimate.

A hard sign has no such bound: a normal q has weight where f is impossible, so the bound is -∞.
"""

from dataclasses import dataclass
from math import inf

from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import Kernel
from gpytorch.likelihoods import BernoulliLikelihood
from gpytorch.mlls import VariationalELBO
from gpytorch.models import ApproximateGP
from gpytorch.optim import NGD
from gpytorch.variational import NaturalVariationalDistribution, VariationalStrategy
from torch import Tensor

# The maximum is found when a step changes the bound by less than this, relative to the bound.
TOLERANCE = 1e-9
STEPS = 200
# The share of a natural-gradient step that is taken. For normal noise, 1 would be exact.
RATE = 0.8


@dataclass(frozen=True)
class Bound:
    """A lower bound on log P; `residual` is its relative change in the last step."""

    log_p: float
    iterations: int
    residual: float
    converged: bool


class _Posterior(ApproximateGP):
    """q(f) at the images themselves: a normal distribution with free mean and covariance."""

    def __init__(self, kernel: Kernel, inputs: Tensor) -> None:
        # No random start: the result is the same each time.
        values = NaturalVariationalDistribution(len(inputs), mean_init_std=0.0)
        super().__init__(VariationalStrategy(self, inputs, values, learn_inducing_locations=False))
        self.kernel = kernel

    def forward(self, inputs: Tensor) -> MultivariateNormal:
        return MultivariateNormal(inputs.new_zeros(len(inputs)), self.kernel(inputs))


def variational_bound(kernel: Kernel, inputs: Tensor, labels: Tensor) -> Bound:
    """max over q of E_q[log P(labels | f)] - KL(q, prior); rows of pixels, labels 0 and 1."""
    posterior = _Posterior(kernel, inputs).to(inputs)
    likelihood = BernoulliLikelihood().to(inputs.device)
    elbo = VariationalELBO(likelihood, posterior, num_data=len(inputs))
    optimizer = NGD(posterior.variational_parameters(), num_data=len(inputs), lr=RATE)
    iterations, last = 0, -inf
    while True:
        bound = elbo(posterior(inputs), labels.to(inputs))
        log_p = bound.item() * len(inputs)
        residual = abs((log_p - last) / log_p)
        if residual < TOLERANCE or iterations == STEPS:
            return Bound(log_p, iterations, residual, residual < TOLERANCE)
        iterations, last = iterations + 1, log_p
        optimizer.zero_grad()
        (-bound).backward()
        optimizer.step()
