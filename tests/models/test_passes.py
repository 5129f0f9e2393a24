"""Data as users have them, each pass over which must give the same batches."""

from collections import UserDict
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, RandomSampler, TensorDataset

import flatlas
from flatlas.models.batches import Batches

X, Y = torch.rand(24, 6, generator=torch.Generator().manual_seed(0)), torch.arange(24) % 3
FEW = {"hessian": {"top": 1, "bottom": 0, "probes": 0}}


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))


def batches(data, dtype=torch.float64):
    return Batches(data, torch.device("cpu"), dtype, seed=0)


def passes(data):
    """The inputs of two passes."""
    taken = batches(data)
    return [torch.cat([batch.arguments[0] for batch in taken]) for _ in range(2)]


class Augmented(Dataset):
    """Noise on each example, from a global generator or from its own."""

    def __init__(self, own=None):
        self.own = own

    def __len__(self):
        return len(X)

    def __getitem__(self, number):
        noise = torch.rand(6) if self.own is None else torch.as_tensor(self.own.random(6)).float()
        return X[number] + noise, Y[number]


@pytest.mark.parametrize("sized", [True, False])
def test_a_sampler_with_its_own_generator_repeats_itself_and_is_left_as_it_was(sized):
    random = torch.Generator().manual_seed(5)
    sampler = RandomSampler(X, generator=random)
    data = TensorDataset(X, Y)
    batched = torch.utils.data.BatchSampler(sampler, 8, drop_last=False)
    loader = (
        DataLoader(data, 8, sampler=sampler) if sized else DataLoader(data, batch_sampler=batched)
    )
    before = random.get_state()
    with pytest.warns(UserWarning, match="shuffle"):
        first, second = (
            flatlas.measure(net(), loader, {"gradient_noise": {"top": 1}}).table.value
            for _ in range(2)
        )
    assert first.tolist() == second.tolist()
    assert torch.equal(random.get_state(), before)


@dataclass
class Given:
    """Inputs in a class that torch does not enter."""

    x: torch.Tensor


def test_data_in_a_dataclass_must_repeat_themselves():
    random = np.random.default_rng(0)
    loader = DataLoader(
        TensorDataset(X, Y), 8, collate_fn=lambda _: (Given(torch.tensor(random.random(6))), Y[:8])
    )
    with pytest.raises(flatlas.FlatlasError, match="two passes over the data differ"):
        batches(loader)
    with pytest.raises(flatlas.FlatlasError, match="batch 0 has NaN, 6 of 6"):
        batches([(Given(torch.full((6,), torch.nan)), Y[:8])])


@pytest.mark.filterwarnings("ignore:The data shuffle")
def test_data_that_do_not_repeat_themselves_are_refused():
    loader = DataLoader(Augmented(np.random.default_rng(0)), 8)
    with pytest.raises(flatlas.FlatlasError, match="list"):
        flatlas.measure(net(), loader, FEW)


class Drawn(Dataset):
    """Examples that each come from a generator with a seed."""

    def __len__(self):
        return len(Y)

    def __getitem__(self, number):
        return torch.rand(6, generator=torch.Generator().manual_seed(number)), Y[number]


class Drawing:
    """All inputs are drawn when an iteration begins."""

    def __iter__(self):
        x = torch.rand(24, 6, generator=torch.Generator().manual_seed(1))
        return iter([(x, Y)])


def test_data_that_are_drawn_are_those_of_the_training():
    """torch draws other numbers in float64, the default dtype while a model is measured."""
    data, of = (DataLoader(Drawn(), 8), Drawing()), {"duality": {"layer": "2"}}
    for given in data:
        for test in data:
            found = numbers(net(), given, of, test=test)
            assert found == numbers(net(), [*given], of, test=[*test])


@pytest.mark.parametrize("workers", [0, 1])
def test_augmented_data_are_the_same_in_each_pass(workers):
    """This holds for persistent workers, too, whose random states go on."""
    loader = DataLoader(
        Augmented(), 8, num_workers=workers, persistent_workers=bool(workers), shuffle=True
    )
    first, second = passes(loader)
    assert torch.equal(first, second)
    assert batches(loader).draws


def test_a_measure_in_a_loop_over_its_loader_does_not_end_the_loop():
    loader = DataLoader(TensorDataset(X, Y), 4, num_workers=1, persistent_workers=True)
    seen = 0
    for number, _ in enumerate(loader):
        seen += 1
        if number == 1:
            flatlas.measure(net(), loader, {"norms": {}})
    assert seen == len(loader)


class Once(IterableDataset):
    def __init__(self, given):
        self.given = given

    def __iter__(self):
        return self.given


def test_data_that_end_after_one_pass_are_refused():
    loader = DataLoader(Once(zip(X, Y, strict=True)), 8)
    with pytest.raises(flatlas.FlatlasError, match="ends after one pass"):
        flatlas.measure(net(), loader, FEW, loss=nn.CrossEntropyLoss(reduction="sum"))


def numbers(model, data, measures=FEW, **settings):
    found = flatlas.measure(model, data, measures, **settings).table
    assert found.converged.all()
    return found.value.tolist()


class Waves(nn.Module):
    """A layer of the real and imaginary parts."""

    def __init__(self):
        super().__init__()
        self.inner = net()

    def forward(self, x):
        return self.inner(torch.cat([x.real, x.imag], 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_complex_inputs_keep_both_parts(dtype):
    model = Waves()
    whole = torch.complex(X[:, :3], X[:, 3:])
    found = numbers(model, (whole, Y), dtype=dtype)
    assert found == pytest.approx(numbers(model.inner, (X, Y), dtype=dtype), rel=1e-6)


@pytest.mark.parametrize("measure", ["gradient_noise", "regret"])
def test_a_batch_without_examples_changes_nothing(measure):
    full = [(X[i : i + 6], Y[i : i + 6]) for i in range(0, 24, 6)]
    for empty in ((X[:0], Y[:0]), {"labels": Y[:0], "input": X[:0]}):
        assert numbers(net(), [full[0], empty, *full[1:]], [measure]) == numbers(
            net(), full, [measure]
        )


@pytest.mark.parametrize("target", [Y, Y.tolist()])
def test_single_examples_without_a_batch_are_refused(target):
    with pytest.raises(flatlas.FlatlasError, match="batch 0"):
        flatlas.measure(net(), [*zip(X, target, strict=True)], ["gradient_noise"])


class Masked(nn.Module):
    """Single-head attention among the six numbers of an example, with a mask (6, 6)."""

    def __init__(self):
        super().__init__()
        self.inner = net()

    def forward(self, x, mask):
        scores = x.unsqueeze(2) * x.unsqueeze(1) + mask
        return self.inner((scores.softmax(2) @ x.unsqueeze(2)).squeeze(2))


def test_only_what_cuts_batches_needs_a_row_for_each_example():
    mask = torch.full((6, 6), -torch.inf).triu(1)
    whole = numbers(Masked(), [((X, mask), Y)])
    cut = [((X[:4], mask), Y[:4]), ((X[4:], mask), Y[4:])]
    assert numbers(Masked(), cut) == pytest.approx(whole, rel=1e-6)
    for measures in (["m_sharpness"], {"regret": {"damping": 0.1}}):
        with pytest.raises(flatlas.FlatlasError, match="row for each example"):
            flatlas.measure(Masked(), 2 * cut, measures)


class Recurrent(nn.Module):
    """Time is the first dimension, the examples are the second."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.outer = nn.RNN(2, 4), nn.Linear(4, 3)

    def forward(self, x):
        return self.outer(self.inner(x)[0][-1])


def test_time_may_come_first():
    inputs = X.view(24, 3, 2).transpose(0, 1)
    cut = [(inputs[:, i : i + 9], Y[i : i + 9]) for i in (0, 9, 18)]
    assert numbers(Recurrent(), cut) == pytest.approx(numbers(Recurrent(), [(inputs, Y)]), rel=1e-6)


class Packed(nn.Module):
    """It takes sequences of unequal length."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.outer = nn.GRU(2, 4), nn.Linear(4, 3)

    def forward(self, x):
        return self.outer(self.inner(x)[1][0])


def test_sequences_of_unequal_length_are_one_argument():
    one_by_one = [X.view(24, 3, 2)[i, : i % 3 + 1] for i in range(24)]
    packed = nn.utils.rnn.pack_sequence(one_by_one, enforce_sorted=False)
    expected = numbers(Packed(), [(one[:, None], Y[i : i + 1]) for i, one in enumerate(one_by_one)])
    for inputs in (packed, (packed,)):
        assert numbers(Packed(), [(inputs, Y)]) == pytest.approx(expected, rel=1e-6)


def test_any_mapping_is_a_dictionary():
    expected = numbers(net(), (X, Y))
    for given in (UserDict(input=X, labels=Y), (UserDict(input=X), Y)):
        assert numbers(net(), [given]) == expected
    with pytest.raises(flatlas.FlatlasError, match="NaN"):
        flatlas.measure(net(), [UserDict(input=X * torch.nan, labels=Y)], FEW)
