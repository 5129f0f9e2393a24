"""Measures along a training: the numbers, the loop they are taken in, and the file they leave."""

import os
import signal
import sys
from copy import deepcopy
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import flatlas
from flatlas.library import tracker as module

X, Y = torch.randn(12, 3, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 2
FEW = {"hessian": {"top": 1, "probes": 2}}
NUMBERS = ["eigenvalue_1", "lowest_1", "trace", "frobenius"]


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 2))


def trained(net, loader, tracker=None, steps=6):
    """Three lines of a tracker in a loop."""
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    step = 0
    while step < steps:
        for inputs, labels in loader:
            sgd.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            sgd.step()
            step += 1
            if tracker is not None:
                tracker(step)
    return net


@pytest.mark.filterwarnings("ignore:The data shuffle")
@pytest.mark.parametrize("workers", [0, 1])
def test_a_tracked_training_is_the_same_training(workers):
    """Training and tracker may share a loader that shuffles and has persistent workers."""

    def loader():
        torch.manual_seed(1)
        data = TensorDataset(X, Y)
        return DataLoader(
            data, 4, shuffle=True, num_workers=workers, persistent_workers=bool(workers)
        )

    expected = trained(model(), loader()).state_dict()
    net, data = model(), loader()
    tracker = flatlas.Tracker(net, data, FEW, every=2)
    found = trained(net, data, tracker).state_dict()
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert [*tracker.table.step.unique()] == [2, 4, 6]
    assert [*tracker.table.quantity] == 3 * NUMBERS


def test_each_step_has_the_numbers_of_the_model_at_that_step():
    net = model()
    tracker = flatlas.Tracker(net, (X, Y), FEW, seed=3)
    before = flatlas.measure(net, (X, Y), FEW, seed=3).table
    tracker(0)
    with torch.no_grad():
        net[0].weight *= 2
    after = flatlas.measure(net, (X, Y), FEW, seed=3).table
    tracker(1)
    for step, expected in ((0, before), (1, after)):
        rows = tracker.table[tracker.table.step == step]
        assert rows.value.tolist() == expected.value.tolist()
        assert rows.error.tolist() == expected.error.tolist()


def test_a_layer_that_is_frozen_on_the_way_still_counts():
    net = model()
    tracker = flatlas.Tracker(net, (X, Y), ["norms"])
    before = tracker(0)["norms"].weight_norm
    net[0].requires_grad_(False)
    assert tracker(1)["norms"].weight_norm == before


def test_a_step_may_be_any_kind_of_number(tmp_path):
    tracker = flatlas.Tracker(model(), (X, Y), FEW, every="2", path=tmp_path / "run.csv")
    for step in (np.int64(2), 3, torch.tensor(4), 6):
        tracker(step)
    assert [*tracker.table.step.unique()] == [2, 4, 6]


@pytest.mark.parametrize("step", [0.5, "first", None, float("nan"), float("inf")])
def test_a_step_is_a_whole_number(step):
    """Half an epoch would take the place of the last whole one."""
    tracker = flatlas.Tracker(model(), (X, Y), FEW)
    with pytest.raises(flatlas.FlatlasError, match=r"step is .*whole number"):
        tracker(step)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_continued_training_continues_its_table(tmp_path, kind):
    path = tmp_path / f"run.{kind}"
    first = flatlas.Tracker(model(), (X, Y), FEW, path=path)
    for step in range(4):
        first(step)
    # From a checkpoint at step 2, with other weights.
    other = deepcopy(model())
    nn.init.ones_(other[0].weight)
    second = flatlas.Tracker(other, (X, Y), FEW, path=path)
    pd.testing.assert_frame_equal(second.table, first.table, check_dtype=False)
    second(2)
    assert [*second.table.step.unique()] == [0, 1, 2]
    before, after = first.table, second.table
    assert before[before.step < 2].value.tolist() == after[after.step < 2].value.tolist()
    assert before[before.step == 2].value.tolist() != after[after.step == 2].value.tolist()
    third = flatlas.Tracker(other, (X, Y), FEW, path=path).table
    assert third.value.tolist() == after.value.tolist()


@pytest.mark.parametrize("every", [1, 4])
def test_steps_that_begin_anew_in_each_epoch_are_refused(every):
    """The second epoch would take the place of the first, and with 4 its first row that of 0."""
    tracker = flatlas.Tracker(model(), (X, Y), ["norms"], every=every)
    for step in range(3):
        tracker(step)
    before = tracker.table
    with pytest.raises(flatlas.FlatlasError, match="0 comes after 2"):
        tracker(0)
    pd.testing.assert_frame_equal(tracker.table, before)
    tracker(2)
    tracker(4)
    assert [*tracker.table.step.unique()] == [*range(0, 3, every), 4]


def test_two_trackers_cannot_write_one_file(tmp_path):
    path = tmp_path / "run.csv"
    first, second = (flatlas.Tracker(model(), (X, Y), FEW, path=path) for _ in range(2))
    first(0)
    with pytest.raises(flatlas.FlatlasError, match="another path"):
        second(0)
    first(1)
    assert [*pd.read_csv(path).step.unique()] == [0, 1]
    # A file that is gone is written again.
    path.unlink()
    first(2)
    assert [*pd.read_csv(path).step.unique()] == [0, 1, 2]


def test_a_kill_in_the_middle_of_a_write_leaves_the_table_before_it(forked, tmp_path):
    path, write = tmp_path / "run.parquet", pd.DataFrame.to_parquet

    def half(table, path, **options):
        if len(table) < 12:
            return write(table, path, **options)
        with open(path, "wb") as file:
            file.write(b"PAR1, and then no more")
        os.kill(os.getpid(), signal.SIGKILL)

    def until_killed():
        pd.DataFrame.to_parquet = half
        tracker = flatlas.Tracker(model(), (X, Y), FEW, path=path)
        for step in range(9):
            tracker(step)

    assert forked(until_killed) == -signal.SIGKILL
    table = pd.read_parquet(path)
    assert [*table.step] == [0] * 4 + [1] * 4
    tracker = flatlas.Tracker(model(), (X, Y), FEW, path=path)
    tracker(2)
    assert [*pd.read_parquet(path).step.unique()] == [0, 1, 2]
    # What was half written is gone.
    assert [*tmp_path.iterdir()] == [path]


def test_mistakes_are_refused_before_the_training(tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    for options, said in (
        ({"every": 0}, "every is 0"),
        ({"path": tmp_path / "run.txt"}, r"ends with \.parquet or \.csv"),
        ({"path": tmp_path / "mine.csv"}, "not a table of a tracker"),
        ({"path": tmp_path / "broken.parquet"}, "not a table of a tracker"),
        ({"path": tmp_path / "mine.csv" / "run.csv"}, "can't be written"),
        ({"loss": "crossentropy"}, "Did you mean 'cross_entropy'"),
        ({"data": (X, Y + 1)}, "batch 0"),
    ):
        with pytest.raises(flatlas.FlatlasError, match=said):
            flatlas.Tracker(model(), **{"data": (X, Y), "measures": FEW, **options})
    with pytest.raises(flatlas.FlatlasError, match="Did you mean 'hessian'"):
        flatlas.Tracker(model(), (X, Y), ["hesian"])
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(flatlas.FlatlasError, match="pip install pyarrow"):
        flatlas.Tracker(model(), (X, Y), FEW, path=tmp_path / "run.parquet")


def test_a_lightning_callback_measures_each_step_once_and_on_one_process(monkeypatch):
    """By Lightning's interface: gradients that are accumulated repeat a global step."""
    if find_spec("lightning") is None:
        fake = ModuleType("lightning.pytorch")
        fake.Callback = object
        monkeypatch.setitem(sys.modules, "lightning", ModuleType("lightning"))
        monkeypatch.setitem(sys.modules, "lightning.pytorch", fake)
    net = model()
    tracker = flatlas.Tracker(net, (X, Y), FEW)
    callback = tracker.lightning()
    callback.on_train_start(SimpleNamespace(global_step=0, is_global_zero=True), net)
    for step in (0, 1, 1, 2):
        trainer = SimpleNamespace(global_step=step, is_global_zero=True)
        callback.on_train_batch_end(trainer, net, None, None, 0)
    callback.on_train_batch_end(SimpleNamespace(global_step=3, is_global_zero=False), net, 0, 0, 0)
    assert [*tracker.table.step] == [0] * 4 + [1] * 4 + [2] * 4


def test_without_lightning_a_sentence_says_so(monkeypatch):
    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(flatlas.FlatlasError, match="pip install lightning"):
        flatlas.Tracker(model(), (X, Y), FEW).lightning()


def test_lightning_itself_calls_it():
    lightning = pytest.importorskip("lightning.pytorch")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = model()

        def training_step(self, batch, _):
            return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    module = Module()
    tracker = flatlas.Tracker(module.net, (X, Y), FEW, every=2)
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, callbacks=[tracker.lightning()],
    )  # fmt: skip
    trainer.fit(module, DataLoader(TensorDataset(X, Y), 4))
    assert [*tracker.table.step.unique()] == [0, 2, 4, 6]
