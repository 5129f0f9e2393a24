"""The margin of a classifier."""

import torch
from torch import Tensor


def margin(logits: Tensor, labels: Tensor) -> Tensor:
    """How far the output of the right class exceeds the largest other one, for each image.

    With one output, the margin is that output with the sign of the label.
    """
    if logits.shape[-1] == 1:
        return logits.squeeze(-1) * (2 * labels - 1)
    right = logits.gather(-1, labels.unsqueeze(-1))
    others = logits.scatter(-1, labels.unsqueeze(-1), -torch.inf)
    return right.squeeze(-1) - others.amax(-1)
