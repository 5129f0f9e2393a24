"""Sharpness-aware minimization: SAM (Foret et al. 2021) and ASAM (Kwon et al. 2021)."""

import torch

from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import Sam
from flatlas.training.optimizers.from_torch import FromTorch
from flatlas.training.penalty import weight_norms


def build(spec: Sam, parameters: Parameters, generators: list[torch.Generator]) -> "SamOptimizer":
    """The optimizer of a spec."""
    return SamOptimizer(spec, parameters)


class SamOptimizer(FromTorch):
    """SGD, perhaps with momentum, whose gradients the trainer takes at `ascended`."""

    def __init__(self, spec: Sam, parameters: Parameters) -> None:
        """Steps change the parameters in place."""
        super().__init__(parameters, torch.optim.SGD, momentum=spec.momentum)
        self.spec = spec

    def ascended(self, gradients: Parameters) -> Parameters:
        """w + ε, each row of the stack with its own norm; w where the gradient is zero."""
        moving = self.parameters
        scales = {
            k: w.abs() if self.spec.adaptive else torch.ones_like(w) for k, w in moving.items()
        }
        slopes = {name: scale * gradients[name] for name, scale in scales.items()}
        norms = weight_norms(slopes)
        lengths = self.spec.radius / norms.clamp_min(torch.finfo(norms.dtype).tiny)
        return {
            name: w + lengths.view(-1, *[1] * (w.dim() - 1)) * scales[name] * slopes[name]
            for name, w in moving.items()
        }
