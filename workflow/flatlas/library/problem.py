"""What a measure is taken of: a model's mean loss on the data, and random numbers to sample by."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from flatlas.models.batch_norm import take_statistics
from flatlas.models.batches import Batches, random_state_kept
from flatlas.models.losses import Loss, LossFunction
from flatlas.models.objective import Chosen, Objective
from flatlas.seeds import stream

BatchNorm = Literal["as it is", "recomputed"]
DRAWS = (
    "The data shuffle or augment: two passes over them differ. Each pass of a measure began from "
    "the same random state, so all of them saw the same batches."
)


@dataclass(frozen=True)
class Problem:
    """The loss on the training data and, where given, on test data, of the same parameters.

    `notes` has a sentence for everything about the data that a reader of results must know.
    """

    training: Objective
    test: Objective | None
    seed: int
    notes: list[str] = field(default_factory=list)

    def generator(self, purpose: str) -> torch.Generator:
        """Random numbers on the model's device, the same whatever else is measured."""
        return torch.Generator(self.training.w.device).manual_seed(stream(self.seed, purpose))


@contextmanager
def opened(
    model: nn.Module,
    data: Any,
    test: Any,
    loss: str | nn.Module | LossFunction,
    parameters: Chosen,
    device: str | torch.device,
    dtype: torch.dtype,
    batch_norm: BatchNorm,
    seed: int,
) -> Iterator[Problem]:
    """The problem of a copy of the model; random states are restored at the end."""
    with ExitStack() as kept:
        for one in (data, test):
            kept.enter_context(random_state_kept(one))
        function, where = Loss(loss), torch.device(device)
        batches = Batches(data, where, dtype, seed)
        objective = Objective(model, batches, function, parameters, where, dtype)
        if batch_norm == "recomputed":
            take_statistics(objective.model, batches)
        compared = None
        if test is not None:
            compared = objective.on(Batches(test, where, dtype, seed))
        notes = [DRAWS] if batches.draws else []
        for note in notes:
            # Level 4 is the user's call: beyond this generator, `contextmanager` and its caller.
            warnings.warn(note, stacklevel=4)
        yield Problem(objective, compared, seed, notes)
