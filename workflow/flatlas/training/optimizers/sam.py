"""Sharpness-aware minimization: SAM (Foret et al. 2021) and ASAM (Kwon et al. 2021)."""

from torch import Tensor

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Sam
from flatlas.training.noise import Noise
from flatlas.training.optimizers.sgd import SgdOptimizer
from flatlas.training.penalty import weight_norms

# The squares of a shorter gradient may round to zero, and so may its norm.
SHORTEST = 1e-12


def build(spec: Sam, parameters: Parameters, noise: list[Noise]) -> "SamOptimizer":
    """The optimizer of a spec."""
    return SamOptimizer(spec, parameters)


class SamOptimizer(SgdOptimizer):
    """w <- w - lr * gradient(w + ε); the weights are the only state."""

    def __init__(self, spec: Sam, parameters: Parameters) -> None:
        """Steps change the parameters in place."""
        super().__init__(parameters)
        self.spec = spec

    def ascended(self, gradients: Parameters) -> Parameters:
        """w + ε, where each row of the stack has its own norm; ε = 0 if the gradient is zero."""
        slopes = {name: self._scaled(name, gradients[name]) for name in self.parameters}
        norms = weight_norms(slopes)
        lengths = self.spec.radius / norms.clamp_min(SHORTEST)
        return {
            name: w + lengths.view(-1, *[1] * (w.dim() - 1)) * self._scaled(name, slopes[name])
            for name, w in self.parameters.items()
        }

    def _scaled(self, name: str, value: Tensor) -> Tensor:
        """The value, in ASAM times |w|."""
        return value * self.parameters[name].abs() if self.spec.adaptive else value
