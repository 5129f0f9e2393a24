"""Statistics of batch norm, recomputed at a model's present weights."""

from collections import Counter
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.batchnorm import _BatchNorm

from flatlas.errors import FlatlasError
from flatlas.models.objective import Objective


@torch.no_grad()
def take_statistics(objective: Objective) -> None:
    """Replace all running means and variances by their means over the batches.

    Each batch is weighted by its examples. If a layer is used twice, both uses count.
    """
    norms = [
        part
        for part in objective.model.modules()
        if isinstance(part, _BatchNorm) and part.running_mean is not None
    ]
    if not norms:
        raise FlatlasError(
            "batch_norm is 'recomputed', but the model has no batch norm with running statistics."
        )
    examples: Counter[_BatchNorm] = Counter()

    def weigh(norm: Any, given: tuple[Tensor, ...], named: dict[str, Tensor]) -> None:
        (seen,) = *given, *named.values()
        examples[norm] += len(seen)
        norm.momentum = len(seen) / examples[norm]

    with ExitStack() as kept:
        for norm in norms:
            norm.reset_running_stats()
            norm.train()
            kept.callback(norm.register_forward_pre_hook(weigh, with_kwargs=True).remove)
        for number, batch in enumerate(objective.batches):
            try:
                objective.outputs({}, batch)
            except FlatlasError as error:
                said = f"batch_norm is 'recomputed', batch {number}: {error}"
                raise FlatlasError(said) from error
    objective.model.eval()
