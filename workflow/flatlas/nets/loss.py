"""The loss of each sample: cross-entropy, binary for nets with one output."""

from torch import Tensor
from torch.nn import functional


def sample_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Losses (members, batch) for logits (members, batch, outputs) and labels (members, batch)."""
    if logits.shape[-1] == 1:
        return functional.binary_cross_entropy_with_logits(
            logits.squeeze(-1), labels.to(logits.dtype), reduction="none"
        )
    # With the classes in the middle torch works along the batch, which is much faster.
    return functional.cross_entropy(logits.transpose(1, 2), labels, reduction="none")


def predictions(logits: Tensor) -> Tensor:
    """The label that the net gives to each sample."""
    if logits.shape[-1] == 1:
        return (logits.squeeze(-1) > 0).long()
    return logits.argmax(-1)
