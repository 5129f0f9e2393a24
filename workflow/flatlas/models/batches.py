"""Data that can be iterated, as batches of inputs and targets on one device."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_map_only
from torch.utils.data import DataLoader

from flatlas.errors import FlatlasError
from flatlas.models.precision import by_default
from flatlas.models.tensors import (
    WITHOUT_FLOAT64,
    described,
    leaves_in,
    row_counts,
    rows_of,
    tensors_in,
)
from flatlas.nets.precision import in_precision

# The batch size of data that are given as two tensors.
EXAMPLES = 256
# The keys that a target may have in a batch that is a dictionary.
TARGETS = ("labels", "label", "targets", "target")


@dataclass(frozen=True)
class Batch:
    """The arguments of the model, the target of its loss, and the number of examples."""

    arguments: tuple[Any, ...]
    named: dict[str, Any]
    target: Any
    examples: int

    @property
    def inputs(self) -> list[Tensor]:
        """The tensors among the arguments of the model."""
        return tensors_in((self.arguments, self.named))

    @property
    def has_infinite(self) -> bool:
        """Whether any number is infinite, as in a mask, or by mistake."""
        return any(bool(one.isinf().any()) for one in (*self.inputs, *tensors_in(self.target)))

    def parts(self, examples: int) -> Iterator["Batch"]:
        """Parts of the batch with this many examples each, without a smaller rest at the end."""
        for begin in range(0, self.examples - examples + 1, examples):
            yield self.of_rows(torch.arange(begin, begin + examples))

    def of_rows(self, numbers: Tensor) -> "Batch":
        """A batch with some of the examples, given by their positions."""
        sizes = {*row_counts((self.arguments, self.named, self.target)), self.examples}
        if len(sizes) > 1:
            raise FlatlasError(
                "the measure cuts batches into their examples, but one has tensors with "
                f"{_listed(sizes)} rows. Allowed: one row for each example in every tensor."
            )
        arguments, named, target = (
            rows_of(one, numbers, self.examples)
            for one in (self.arguments, self.named, self.target)
        )
        return Batch(arguments, named, target, len(numbers))


class Batches:
    """The batches of a data loader, a list, or tensors (inputs, targets), the same at each pass.

    Each pass begins from the same random state, so a loader that shuffles or augments repeats
    itself. `draws` says whether the data depend on that state. Use inside `random_state_kept`.
    Each batch is made under the default device and dtype at the time of the call (`defaults`).
    Another iteration over the same loader is not disturbed.
    """

    def __init__(self, data: Any, device: torch.device, dtype: torch.dtype, seed: int) -> None:
        """Floating-point numbers are converted to `dtype`; integers, such as tokens, are kept."""
        self._data, self._generators = _iterable(data), _generators(data)
        self._device, self._dtype, self._seed = device, dtype, seed
        # torch's generators draw other numbers in another dtype.
        self.defaults = torch.get_default_device(), torch.get_default_dtype()
        self.examples, first = 0, []
        for number, given in enumerate(self._pass(seed)):
            batch = _batch(given, number)
            _refuse_unusable(given, number)
            self.examples += batch.examples
            first.append(_digest(given))
        if not self.examples:
            raise FlatlasError("the data have no example: give at least one batch of them.")
        self._refuse_others(data, first)
        self.draws = first != [_digest(given) for given in self._pass(seed + 1)]

    def __iter__(self) -> Iterator[Batch]:
        """The batches, on the device."""
        for number, given in enumerate(self._pass(self._seed)):
            batch = _batch(tree_map_only(Tensor, self._moved, given), number)
            # The mean over no examples is NaN.
            if batch.examples:
                yield batch

    def _pass(self, seed: int) -> Iterator[Any]:
        """The batches as they are given, from the random state of this seed."""
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        for one in self._generators:
            one.manual_seed(seed)
        with by_default(*self.defaults):
            batches = iter(self._data())
        return map(_plain, self._made(batches))

    def _made(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The batches of an iteration, each made under the user's defaults."""
        while True:
            with by_default(*self.defaults):
                try:
                    given = next(batches)
                except StopIteration:
                    return
            yield given

    def _refuse_others(self, data: Any, first: list[list[bytes]]) -> None:
        """Raise an error if a second pass from the same random state differs from the first."""
        second = [_digest(given) for given in self._pass(self._seed)]
        if len(second) < len(first):
            raise _ended(data)
        if second != first:
            raise FlatlasError(
                "two passes over the data differ, although both began from the same random state: "
                "measures would mix different data. Give them as a list, as in list(loader), or "
                "draw from the random numbers of torch, numpy or Python instead of a generator "
                "that only the data use."
            )

    def _moved(self, leaf: Tensor) -> Tensor:
        if leaf.device.type in WITHOUT_FLOAT64 and leaf.device != self._device:
            leaf = leaf.cpu()
        # A tensor made in inference mode can't be part of a derivative.
        leaf = leaf.clone() if leaf.is_inference() else leaf
        return leaf.to(self._device, in_precision(leaf.dtype, self._dtype))


@contextmanager
def random_state_kept(data: Any) -> Iterator[None]:
    """Restore the random states of torch, numpy, Python, a data loader and its sampler."""
    of_data = [(one, one.get_state()) for one in _generators(data)]
    of_numpy, of_python = np.random.get_state(), random.getstate()
    try:
        accelerator = torch.accelerator.current_accelerator()
        kind = "cuda" if accelerator is None else accelerator.type
        # Named, because torch below 2.15 may otherwise keep only CUDA's states, and warns if there
        # are many devices.
        devices = range(torch.accelerator.device_count())
        with torch.random.fork_rng(devices, device_type=kind):
            yield
    finally:
        np.random.set_state(of_numpy)
        random.setstate(of_python)
        for one, before in of_data:
            one.set_state(before)


def _iterable(data: Any) -> Callable[[], Iterable[Any]]:
    if isinstance(data, tuple) and len(data) == 2 and all(isinstance(d, Tensor) for d in data):
        inputs, targets = data
        if len(inputs) != len(targets):
            raise FlatlasError(
                f"the data are {len(inputs)} inputs, but {len(targets)} targets: give one target "
                "for each input."
            )
        return lambda: zip(inputs.split(EXAMPLES), targets.split(EXAMPLES), strict=True)
    if isinstance(data, Iterator):
        raise _ended(data)
    if not isinstance(data, Iterable) or isinstance(data, str | Tensor | Mapping):
        raise FlatlasError(
            f"the data are a {type(data).__name__}. Allowed: a DataLoader, a list of batches "
            "(inputs, targets), or two tensors (inputs, targets)."
        )
    if isinstance(data, DataLoader):
        # Persistent workers belong to one iteration at a time, and their random states go on.
        data = copy(data)
        vars(data).update(persistent_workers=False, _iterator=None)
    return lambda: data


def _ended(data: Any) -> FlatlasError:
    return FlatlasError(
        f"the data are a {type(data).__name__}, which ends after one pass. Allowed: what can be "
        "iterated again, such as a DataLoader of a data set with a length, a list of batches, or "
        "tensors (inputs, targets)."
    )


def _generators(data: Any) -> list[torch.Generator]:
    """The random generators of a data loader and its samplers."""
    samplers = (getattr(data, "sampler", None), getattr(data, "batch_sampler", None))
    inner = getattr(samplers[1], "sampler", None)
    found = (getattr(one, "generator", None) for one in (data, *samplers, inner))
    return [one for one in found if isinstance(one, torch.Generator)]


def _plain(given: Any) -> Any:
    """A copy with dictionaries in place of other mappings, which tree_map does not enter."""
    return tree_map_only(Mapping, lambda one: _plain(dict(one)), given)


def _batch(given: Any, number: int) -> Batch:
    if isinstance(given, Mapping):
        known = [name for name in TARGETS if name in given]
        if len(known) != 1:
            raise FlatlasError(
                f"batch {number} is a dictionary of {', '.join(map(str, given))}. Allowed: one "
                f"with its target as one of {', '.join(TARGETS)}; the rest goes to the model."
            )
        inputs: Any = {name: value for name, value in given.items() if name != known[0]}
        target = given[known[0]]
    elif isinstance(given, tuple | list) and len(given) == 2:
        inputs, target = given
    else:
        raise FlatlasError(
            f"batch {number} is {described(given)}. Allowed: (inputs, target), where inputs are a "
            "tensor, a tuple or a dictionary of them; or a dictionary with its target."
        )
    examples = _examples(inputs, target, number)
    if isinstance(inputs, Mapping):
        return Batch((), dict(inputs), target, examples)
    # A PackedSequence, torch's class for sequences of unequal length, is a tuple, but one argument.
    several = isinstance(inputs, tuple | list) and not isinstance(inputs, PackedSequence)
    arguments = tuple(inputs) if several else (inputs,)
    return Batch(arguments, {}, target, examples)


def _examples(inputs: Any, target: Any, number: int) -> int:
    """The number of rows of the target, or of the inputs if the target has none."""
    alone = isinstance(target, Tensor) and not target.ndim
    if alone or isinstance(target, int | float | np.generic) or _are_vectors(inputs, target):
        said = described(target) if isinstance(target, Tensor) else target
        raise FlatlasError(
            f"batch {number} has the target {said}, of a single example. Give batches, as a "
            "DataLoader makes them: a target with one row for each example."
        )
    # Inputs may have their examples in another dimension, or in none, as a mask: it is enough if
    # the model takes them.
    sizes = row_counts(target) or row_counts(inputs)
    if len(set(sizes)) > 1:
        raise FlatlasError(
            f"batch {number} has {'targets' if row_counts(target) else 'inputs'} with "
            f"{_listed(set(sizes))} rows: give one row for each example."
        )
    return sizes[0] if sizes else 1


def _are_vectors(inputs: Any, target: Any) -> bool:
    """Whether both are vectors, of different lengths, as in one example of a regression."""
    both = inputs, target
    if not all(isinstance(one, Tensor) and one.is_floating_point() for one in both):
        return False
    return inputs.ndim == target.ndim == 1 and len(inputs) != len(target)


def _listed(sizes: set[int]) -> str:
    return " and ".join(map(str, sorted(sizes)))


def _refuse_unusable(given: Any, number: int) -> None:
    for leaf in leaves_in(given):
        if isinstance(leaf, np.ndarray):
            raise FlatlasError(
                f"batch {number} has a numpy array of shape {leaf.shape}. Allowed: tensors, as "
                "torch.from_numpy makes them."
            )
        if isinstance(leaf, Tensor):
            _refuse_without_numbers(leaf, number)


def _refuse_without_numbers(one: Tensor, number: int) -> None:
    if one.is_nested:
        raise FlatlasError(
            f"batch {number} has a nested tensor. Allowed: dense tensors, as to_padded_tensor "
            "makes them."
        )
    if one.layout is not torch.strided:
        raise FlatlasError(
            f"batch {number} has a tensor with layout {one.layout}. Allowed: dense tensors, "
            "as to_dense makes them."
        )
    if one.is_meta:
        raise FlatlasError(
            f"batch {number} has a tensor on the device meta, which has no numbers. Allowed: "
            "tensors on any other device."
        )
    if one.isnan().any():
        raise FlatlasError(
            f"batch {number} has NaN, {int(one.isnan().sum())} of {one.numel()} numbers in a "
            f"tensor of shape {tuple(one.shape)}. Leave out these examples."
        )


def _digest(given: Any) -> list[bytes]:
    """A hash of the numbers of each tensor."""
    tensors = (one for one in leaves_in(given) if isinstance(one, Tensor))
    rows = (one.detach().cpu().resolve_conj().flatten().contiguous() for one in tensors)
    # A single number counts as contiguous whatever its stride, which `view` does not take.
    rows = (row.as_strided(row.shape, (1,)) for row in rows)
    return [blake2b(row.view(torch.uint8).numpy().data).digest() for row in rows]
