"""Statistics of batch norm, recomputed at a model's present weights."""

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from flatlas.errors import FlatlasError
from flatlas.models.objective import Objective


@torch.no_grad()
def take_statistics(objective: Objective) -> None:
    """Replace all running means and variances by their means over the batches.

    A batch counts as often as it has examples.
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
    for norm in norms:
        norm.reset_running_stats()
        norm.train()
    examples = 0
    for number, batch in enumerate(objective.batches):
        examples += batch.examples
        for norm in norms:
            norm.momentum = batch.examples / examples
        try:
            objective.outputs({}, batch)
        except FlatlasError as error:
            raise FlatlasError(f"batch_norm is 'recomputed', batch {number}: {error}") from error
    objective.model.eval()
