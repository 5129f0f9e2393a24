"""The input of a measure: a model's mean loss on the data, and random numbers."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from flatlas.errors import FlatlasError
from flatlas.models.batch_norm import take_statistics
from flatlas.models.batches import (
    WITHOUT_FLOAT64,
    Batch,
    Batches,
    random_state_kept,
    rows_of,
    tensors,
)
from flatlas.models.chosen import Chosen
from flatlas.models.dependence import loss_of, refuse_without_loss, unused
from flatlas.models.losses import SAME, LossFunction, Outputs
from flatlas.models.objective import Objective
from flatlas.models.precision import as_written, full_precision
from flatlas.models.quantized import quantized
from flatlas.models.repetition import has_changed, of_first_pass
from flatlas.models.slope import has_wrong_slope
from flatlas.plan.mistakes import validated
from flatlas.plan.trees import dotted
from flatlas.seeds import stream

BatchNorm = Literal["as it is", "recomputed"]
# The number of examples on which the model's memory and gradient are checked.
FEW = 32
DTYPES = (torch.float64, torch.float32)
DRAWS = (
    "The data shuffle or augment: two passes over them differ. Each pass of a measure began from "
    "the same random state, so all of them saw the same batches."
)
BY_BATCH = (
    "The model's output for an example depends on the other examples of its batch, as with batch "
    "norm without running statistics: numbers depend on how the data are cut into batches."
)
CUTS = (
    "The loss of a batch does not follow from those of its halves, as a mean over examples or a "
    "sum would: numbers depend on how the data are cut into batches. A function must return the "
    "mean over examples. For a sum, give functools.partial(function, reduction='sum') or a module "
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
UNUSED = (
    "The loss does not depend on the chosen parameters {}, which count as flat. If the model uses "
    "them, look for torch.no_grad, detach, or weights that it merges or keeps in evaluation mode; "
    "if not, leave them out by `parameters`."
)
CHANGED = (
    "The model or its loss changes during the measures, as by a counter or a schedule: after them "
    "the loss of a batch at the same weights differs from that before. So the numbers belong to "
    "different models. Keep such a state constant in evaluation mode."
)


@dataclass(frozen=True)
class Problem:
    """The loss on the training data and, if given, on test data, in the same parameters.

    `notes` has a sentence for everything about the data that a reader of results must know.
    """

    training: Objective
    test: Objective | None
    seed: int
    notes: list[str] = field(default_factory=list)

    def generator(self, purpose: str) -> torch.Generator:
        """Random numbers on the model's device; they do not depend on what else is measured."""
        return torch.Generator(self.training.w.device).manual_seed(stream(self.seed, purpose))


class Settings(TypedDict, total=False):
    """The settings that all calls share; `measure` describes them."""

    loss: str | nn.Module | LossFunction
    parameters: Chosen
    device: str | torch.device | None
    dtype: torch.dtype
    batch_norm: BatchNorm
    seed: int


class _Settings(BaseModel):
    """The defaults; a loss and a choice of parameters are checked where they are used."""

    model_config = ConfigDict(extra="forbid")

    loss: Any = "cross_entropy"
    parameters: Any = None
    # By default the GPU that the model is on, or the CPU.
    device: Any = None
    dtype: Any = torch.float64
    batch_norm: BatchNorm = "as it is"
    # The range of numpy's seeds, less one, because the next seed is used, too.
    seed: Annotated[int, Field(ge=0, lt=2**32 - 1)] = 0


@contextmanager
def opened(model: nn.Module, data: Any, test: Any, settings: Settings) -> Iterator[Problem]:
    """The problem for a copy of the model; random states are restored at the end.

    The loss on all data is computed once, to refuse unusable data before any measure begins.
    """
    given = validated(_Settings, settings, dotted)
    with ExitStack() as kept:
        for one in (data, test):
            kept.enter_context(random_state_kept(one))
        kept.enter_context(full_precision())
        kept.enter_context(as_written())
        where, dtype = _device(given.device, model), given.dtype
        allowed = DTYPES[1:] if where.type in WITHOUT_FLOAT64 else DTYPES
        if dtype not in allowed:
            names = ", ".join(map(str, allowed))
            raise FlatlasError(f"dtype is {dtype}. Allowed on {where.type}: {names}.")
        # A model may create tensors on the default device and in the default dtype, such as the
        # first state of a recurrent layer.
        if torch.get_default_device().type not in ("cpu", where.type):
            kept.enter_context(where)
        kept.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(dtype)
        batches = Batches(data, where, dtype, given.seed)
        loss = loss_of(given.loss, model)
        objective = Objective(model, batches, loss, given.parameters, where, dtype)
        copies = objective.of_copy(), objective.of_copy()
        if given.batch_norm == "recomputed":
            take_statistics(objective)
        refuse_without_loss(objective)
        few = _few(objective)
        before, wrong = of_first_pass(*copies, few), has_wrong_slope(objective, few)
        del copies
        compared, draws = None, batches.draws
        if test is not None:
            tested = Batches(test, where, dtype, given.seed)
            compared = objective.on(tested)
            refuse_without_loss(compared)
            draws = draws or tested.draws
        idle, integers = unused(objective), quantized(objective.model)
        depends = (
            (UNUSED.format(", ".join(idle)), bool(idle)),
            (DRAWS, draws),
            (BY_BATCH, _mixes_examples(objective)),
            (CUTS, not _adds_up(objective)),
            (QUANTIZED.format(", ".join(integers)), bool(integers)),
            (SLOPES, wrong),
        )
        notes = [note for note, holds in depends if holds]
        for note in notes:
            # Level 4 is the user's call: beyond this generator, `contextmanager` and its caller.
            warnings.warn(note, stacklevel=4)
        yield Problem(objective, compared, given.seed, notes)
        if has_changed(objective, few, before):
            notes.append(CHANGED)
            warnings.warn(CHANGED, stacklevel=4)


def _few(objective: Objective) -> Batch:
    """A few examples of the first batch that counts, or all of them if it can't be cut."""
    batch = next(objective.counted(), None) or next(iter(objective.batches))
    if batch.examples <= FEW:
        return batch
    try:
        few = batch.of_rows(torch.arange(FEW))
        can_be_cut = objective.on([few]).value(objective.w).isfinite()
    except FlatlasError:
        return batch
    return few if can_be_cut and objective.loss.counts(few.target) else batch


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
        alone = _reals(objective.outputs(parts, batch.of_rows(half)))
    except FlatlasError:
        return False
    together = _reals(rows_of(objective.outputs(parts, batch), half, batch.examples))
    return any(
        one.shape == other.shape
        and not torch.allclose(one, other, rtol=0, atol=SAME * largest_of(other[other.isfinite()]))
        for one, other in zip(alone, together, strict=False)
    )


def largest_of(numbers: Tensor) -> float:
    """The largest absolute value; NaN if there is one, 0 without numbers."""
    return float(numbers.abs().max()) if numbers.numel() else 0.0


def _reals(outputs: Outputs) -> list[Tensor]:
    """The tensors of real numbers that have rows."""
    reals = (one for one in tensors(outputs) if one.is_floating_point())
    return [one for one in reals if one.ndim and one.numel()]


@torch.no_grad()
def _adds_up(objective: Objective) -> bool:
    """Whether the loss of all data is the same however they are cut into batches."""
    parts = objective.parts(objective.w)
    return objective.loss.is_of_torch or all(
        objective.loss.adds_up(objective.outputs(parts, batch), batch.target, batch.examples)
        for batch in objective.batches
    )


def _device(given: Any, model: nn.Module) -> torch.device:
    if given is None:
        given = _gpu_of(model) or "cpu"
    try:
        found = torch.device(given)
        # The device meta has no numbers.
        torch.zeros((), device=found).item()
    except Exception as error:
        raise FlatlasError(f"device is {given!r}, which can't be used: {error}") from error
    return found


def _gpu_of(model: nn.Module) -> torch.device | None:
    """The GPU that has all parameters of a model, if there is one."""
    devices = [*{one.device for one in model.parameters()}] if isinstance(model, nn.Module) else []
    return devices[0] if len(devices) == 1 and devices[0].type == "cuda" else None
