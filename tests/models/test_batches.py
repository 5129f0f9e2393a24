"""Data as users have them, each pass over which must give the same batches."""

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


@pytest.mark.filterwarnings("ignore:The data shuffle")
def test_data_that_do_not_repeat_themselves_are_refused():
    loader = DataLoader(Augmented(np.random.default_rng(0)), 8)
    with pytest.raises(flatlas.FlatlasError, match="list"):
        flatlas.measure(net(), loader, FEW)


@pytest.mark.parametrize("workers", [0, 1])
def test_augmented_data_are_the_same_in_each_pass(workers):
    """Also if workers stay, whose random states go on."""
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
