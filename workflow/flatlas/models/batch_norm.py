"""Statistics of batch norm, taken again at a model's present weights."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batches


@torch.no_grad()
def take_statistics(model: nn.Module, batches: Batches) -> None:
    """Replace all running means and variances by their means over these batches."""
    norms = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    if not norms:
        raise FlatlasError("batch_norm is 'recomputed', but the model has no batch norm.")
    for norm in norms:
        norm.reset_running_stats()
        # Without a momentum, torch takes the mean over all batches.
        norm.momentum = None
        norm.train()
    for batch in batches:
        model(*batch.arguments, **batch.named)
    model.eval()
