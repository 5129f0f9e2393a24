"""What a reader of a model's numbers must know about the model and its data."""

from collections.abc import Iterator

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.models.batches import Batch
from flatlas.models.dependence import unused
from flatlas.models.losses import SAME, Made, Outputs
from flatlas.models.objective import Objective
from flatlas.models.quantized import quantized
from flatlas.models.tensors import largest, reals, row_counts, rows_of, tensors_in

UNUSED = (
    "The loss does not depend on the chosen parameters {}, which count as flat. If the model uses "
    "them, look for torch.no_grad, detach, or weights that it merges or keeps in evaluation mode; "
    "if not, leave them out by `parameters`."
)
DRAWS = (
    "The data shuffle or augment: two passes over them differ. Each pass of a measure began from "
    "the same random state, so all of them saw the same batches."
)
OTHER = (
    "Measures are taken of a copy of the model in {}, whose outputs differ from those of the model "
    "in its own precision: numbers describe the copy. Look for random numbers that the model draws "
    "from a seed, or an eps that follows from the dtype, as in F.rms_norm. If the model's dtype is "
    "torch.float32, give dtype=torch.float32."
)
BY_BATCH = (
    "The model's output for an example depends on the other examples of its batch, as with batch "
    "norm without running statistics: numbers depend on how the data are cut into batches."
)
CUTS = (
    "The loss of a batch does not follow from those of its halves, as a mean over examples or a "
    "sum would: numbers depend on how the data are cut into batches. A loss must return the mean "
    "over examples. For a sum, give functools.partial(function, reduction='sum') or a module "
    "with that attribute. To ignore labels, use nn.CrossEntropyLoss(ignore_index=...)."
)
QUANTIZED = (
    "The layers {} are quantized: their weights are integers, which are not measured, and no "
    "derivative passes through them."
)
SLOPES = (
    "The gradient is not that of the loss: near the model's weights finite differences along it "
    "give another slope. Look for a straight-through estimator, rounding, detach, a wrong backward "
    "of an autograd.Function, or a part in half precision. Numbers that are computed with "
    "derivatives describe that gradient, not the loss."
)
CURVATURE = (
    "The second derivative is not that of the gradient: near the model's weights finite "
    "differences give another product with the Hessian. Look for an autograd.Function whose "
    "backward uses numbers that its forward computed, other than its inputs and outputs, or for "
    "detach in a gradient. Numbers that are computed with second derivatives, such as eigenvalues, "
    "describe that derivative, not the loss."
)
CHANGED = (
    "The model or its loss changes during the measures, as by a counter or a schedule: after them "
    "the loss of a batch at the same weights differs from that before. So the numbers belong to "
    "different models. Let nothing change in evaluation mode."
)


def notes_on(
    objective: Objective, draws: bool, other: bool, wrong_slope: bool, wrong_curvature: bool
) -> list[str]:
    """The notes that apply.

    `draws`: two passes over the data differ; `other`: the copy computes another function than the
    model; `wrong_slope`: the gradient is not that of the loss; `wrong_curvature`: the second
    derivative is not that of the gradient.
    """
    idle, integers = unused(objective), quantized(objective.model)
    depends = (
        (UNUSED.format(", ".join(idle)), idle),
        (DRAWS, draws),
        (OTHER.format(objective.dtype), other),
        (BY_BATCH, _mixes_examples(objective)),
        (CUTS, not _adds_up(objective)),
        (QUANTIZED.format(", ".join(integers)), integers),
        (SLOPES, wrong_slope),
        (CURVATURE, wrong_curvature),
    )
    return [note for note, holds in depends if holds]


@torch.no_grad()
def _mixes_examples(objective: Objective) -> bool:
    """Whether the model's output for half of a batch depends on the other half.

    The first batch with several examples decides. False if it can't be cut.
    """
    batch = next((batch for batch in objective.batches if batch.examples > 1), None)
    if batch is None:
        return False
    parts, half = objective.parts(objective.w), torch.arange(batch.examples // 2)
    try:
        alone = objective.outputs(parts, batch.of_rows(half))
    except FlatlasError:
        return False
    together = rows_of(objective.outputs(parts, batch), half, batch.examples)
    both = reals(tensors_in(alone)), reals(tensors_in(together))
    return any(
        # An output without rows may be a loss, which depends on all examples.
        one.ndim
        and one.shape == other.shape
        and not torch.allclose(one, other, rtol=0, atol=SAME * largest(other[other.isfinite()]))
        for one, other in zip(*both, strict=False)
    )


@torch.no_grad()
def _adds_up(objective: Objective) -> bool:
    """Whether the loss of all data is the same however they are cut into batches."""
    parts = objective.parts(objective.w)

    def as_halves(batch: Batch) -> bool:
        made = objective.outputs(parts, batch)
        halves = _halves(objective, parts, batch, made)
        return objective.loss.adds_up((made, batch.target, batch.examples), halves)

    return objective.loss.is_of_torch or all(
        as_halves(batch) for batch in objective.batches if batch.examples > 1
    )


def _halves(
    objective: Objective, parts: dict[str, Tensor], batch: Batch, outputs: Outputs
) -> Iterator[Made]:
    """Outputs and targets of both halves; outputs without rows, as a loss, are computed again."""
    can_be_cut = batch.examples in row_counts(outputs)
    for rows in torch.arange(batch.examples).tensor_split(2):
        if can_be_cut:
            its = rows_of((outputs, batch.target), rows, batch.examples)
        else:
            half = batch.of_rows(rows)
            its = objective.outputs(parts, half), half.target
        yield *its, len(rows)
