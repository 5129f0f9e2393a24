"""The input of a measure: a model's mean loss on the data, and random numbers."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import nn

from flatlas.errors import FlatlasError
from flatlas.library.notes import CHANGED, notes_on
from flatlas.models.batch_norm import take_statistics
from flatlas.models.batches import Batch, Batches, random_state_kept
from flatlas.models.chosen import Chosen
from flatlas.models.dependence import loss_of, refuse_without_loss
from flatlas.models.losses import LossFunction
from flatlas.models.objective import Objective
from flatlas.models.own_precision import is_other_function
from flatlas.models.precision import as_written, by_default, full_precision
from flatlas.models.repetition import has_changed, of_first_pass
from flatlas.models.slope import has_wrong_curvature, has_wrong_slope
from flatlas.models.tensors import WITHOUT_FLOAT64
from flatlas.plan.mistakes import validated
from flatlas.plan.trees import dotted
from flatlas.seeds import stream

BatchNorm = Literal["as it is", "recomputed"]
# The number of examples on which the model's memory and gradient are checked.
FEW = 32
DTYPES = (torch.float64, torch.float32)


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
    # numpy's range of seeds without the last one, because the next seed is used, too.
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
        _refuse_dtype(dtype, where)
        batches = Batches(data, where, dtype, given.seed)
        tested = None if test is None else Batches(test, where, dtype, given.seed)
        kept.enter_context(by_default(_of_new_tensors(where), dtype))
        loss = loss_of(given.loss, model)
        objective = Objective(model, batches, loss, given.parameters, where, dtype)
        copies = objective.of_copy(), objective.of_copy()
        if given.batch_norm == "recomputed":
            take_statistics(objective)
        refuse_without_loss(objective)
        few = _few(objective)
        before, wrong = of_first_pass(*copies, few), has_wrong_slope(objective, few)
        wrong_curvature = not wrong and has_wrong_curvature(objective, few)
        del copies
        compared, draws = None, batches.draws
        if tested is not None:
            compared = objective.on(tested)
            refuse_without_loss(compared)
            draws = draws or tested.draws
        # Statistics that were recomputed make the copy another function on purpose.
        other = given.batch_norm == "as it is" and is_other_function(
            objective, model, few, batches.defaults
        )
        notes = notes_on(objective, draws, other, wrong, wrong_curvature)
        for note in notes:
            # Level 4 is the user's call; below it are this generator, `contextmanager`, its caller.
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


def _refuse_dtype(dtype: Any, device: torch.device) -> None:
    allowed = DTYPES[1:] if device.type in WITHOUT_FLOAT64 else DTYPES
    if dtype not in allowed:
        names = ", ".join(map(str, allowed))
        raise FlatlasError(f"dtype is {dtype!r}. Allowed on {device.type}: {names}.")


def _of_new_tensors(device: torch.device) -> torch.device:
    """Where a model makes tensors such as the first state of a recurrent layer."""
    default = torch.get_default_device()
    return default if default.type in ("cpu", device.type) else device


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
