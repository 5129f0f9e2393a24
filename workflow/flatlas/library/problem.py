"""What a measure is taken of: a model's mean loss on the data, and random numbers to sample by."""

from dataclasses import dataclass

import torch

from flatlas.models.objective import Objective
from flatlas.seeds import stream


@dataclass(frozen=True)
class Problem:
    """The loss on the training data and, where given, on test data, of the same parameters."""

    training: Objective
    test: Objective | None
    seed: int

    def generator(self, purpose: str) -> torch.Generator:
        """Random numbers on the model's device, the same whatever else is measured."""
        return torch.Generator(self.training.w.device).manual_seed(stream(self.seed, purpose))
