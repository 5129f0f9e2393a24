"""The random streams of training: one per member and purpose, independent of the stack."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from flatlas.nets.layered import LayeredNet
from flatlas.seeds import stream
from flatlas.training.noise import Noise

# Learners of a member share one shuffle; otherwise each learner has its own stream.
OF_MEMBERS = ("shuffling",)
OF_TORCH = (*OF_MEMBERS, "dropout")


class Streams:
    """Generators by purpose; each learner of a member draws from its own streams."""

    def __init__(self, seeds: Sequence[int], learners: Sequence[int], starts: int = 0) -> None:
        """One generator for each seed and purpose, and for each learner where learners differ.

        `starts` counts the earlier trainings that this one continues. It changes the streams:
        otherwise each training would shuffle its images in the same order.
        """
        later = f" after {starts} starts" if starts else ""
        rows = [(seed, learner) for seed in seeds for learner in learners]
        self.shuffling = [_generator(seed, f"shuffling{later}") for seed in seeds]
        self.dropout = [_generator(seed, f"dropout {learner}{later}") for seed, learner in rows]
        self.langevin = [
            Noise(stream(seed, f"langevin {learner}{later}")) for seed, learner in rows
        ]

    def orders(self, count: int) -> Tensor:
        """A fresh shuffle of `count` images for each member."""
        return torch.stack([torch.randperm(count, generator=g) for g in self.shuffling])

    def masks(self, net: LayeredNet, batch: int, device: str) -> dict[str, Tensor]:
        """Dropout masks by layer, scaled to keep the mean activity.

        A module that draws its own random numbers in training gets a seed for each row instead.
        """
        if net.random_training:
            seeds = [torch.randint(2**62, (), generator=g) for g in self.dropout]
            return {"seed": torch.stack(seeds)}
        masks = {}
        for layer in net.dropped:
            shape, kept = (batch, layer.outputs), 1.0 - layer.dropout
            draws = torch.stack([torch.rand(shape, generator=g) for g in self.dropout])
            masks[layer.name] = ((draws < kept) / kept).to(device)
        return masks

    def uniform(self, row: int, count: int) -> Tensor:
        """The next `count` numbers that `masks` would draw for a row, over its steps and layers."""
        return torch.rand(count, generator=self.dropout[row])

    def state(self) -> dict[str, np.ndarray]:
        """The state of every stream."""
        of_torch = {
            purpose: np.stack([g.get_state().numpy() for g in getattr(self, purpose)])
            for purpose in OF_TORCH
        }
        return {**of_torch, "langevin": np.array([noise.position for noise in self.langevin])}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Restore the state of every stream."""
        for purpose in OF_TORCH:
            for generator, position in zip(getattr(self, purpose), state[purpose], strict=True):
                generator.set_state(torch.from_numpy(position))
        for noise, position in zip(self.langevin, state["langevin"].tolist(), strict=True):
            noise.position = position

    def keep(self, members: Sequence[int], learners: int) -> None:
        """Keep only these members."""
        rows = [member * learners + learner for member in members for learner in range(learners)]
        self.shuffling = [self.shuffling[member] for member in members]
        self.dropout = [self.dropout[row] for row in rows]
        self.langevin = [self.langevin[row] for row in rows]


def _generator(seed: int, purpose: str) -> torch.Generator:
    return torch.Generator().manual_seed(stream(seed, purpose))
