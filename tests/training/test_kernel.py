"""The compiled kernel: its gradients, its steps, and how it is built."""

import logging
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from kernels import FLOAT32, FLOAT64, needs_compiler
from short_runs import CONVOLUTIONAL, run

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets import build_net
from flatlas.nets.dense_gradient import dense_gradient
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import FrameworkUniform
from flatlas.plan.kept import keep
from flatlas.training import kernel as building
from flatlas.training.backend import backend_name, choose_kernel
from flatlas.training.compiled import Compiled
from flatlas.training.gradient import autograd_gradient
from flatlas.training.streams import Streams

ROWS, IMAGES, SIDE = 3, 11, 5


def problem(hidden, bias, outputs, batch, dropout=0.0, after=None):
    """Nets in float64, and for each a draw of images with few nonzero pixels and some with none."""
    spec = DenseNet(
        family="dense", hidden=hidden, bias=bias, dropout=dropout, dropout_after=after,
        init=FrameworkUniform(scheme="framework_uniform"),
    )  # fmt: skip
    net = build_net(spec, (1, SIDE, SIDE), outputs)
    parameters = {name: value.double() for name, value in net.initial(range(ROWS)).items()}
    random = np.random.default_rng(0)
    shape = (ROWS, IMAGES, 1, SIDE, SIDE)
    pixels = random.random(shape, np.float32) * (random.random(shape) < 0.3)
    pixels[:, ::4] = 0
    pixels = pixels.astype(np.float32)
    labels = random.integers(0, max(outputs, 2), (ROWS, IMAGES))
    data = Samples(tuple(range(ROWS)), pixels, labels, labels >= 0, pixels[:, :4], labels[:, :4])
    chosen = torch.stack(
        [torch.from_numpy(random.permutation(IMAGES)[:batch]) for _ in range(ROWS)]
    )
    return net, parameters, data, chosen


def minibatch(data, chosen):
    rows = np.arange(ROWS)[:, None]
    images = torch.from_numpy(data.inputs[rows, chosen.numpy()]).double()
    return images, torch.from_numpy(data.labels[rows, chosen.numpy()])


def assert_gradients_are_those_of_autograd(net, parameters, data, chosen):
    """Compare the kernel with autograd under torch's dropout masks; returns these masks."""
    compiled = Compiled(FLOAT64, net, (), data)
    found = compiled.gradient(parameters, range(ROWS), chosen, Streams(range(ROWS), (0,)))
    masks = Streams(range(ROWS), (0,)).masks(net, chosen.shape[1], "cpu")
    expected = autograd_gradient(net, parameters, *minibatch(data, chosen), masks)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, rtol=1e-12, atol=1e-15)
    return masks


@needs_compiler
@pytest.mark.parametrize("batch", [1, 4, 11])
@pytest.mark.parametrize("bias", [False, True], ids=["", "bias"])
@pytest.mark.parametrize("normalized", [False, True], ids=["", "normalized"])
@pytest.mark.parametrize(
    ("hidden", "outputs", "dropout"),
    [
        ((), 3, 0.0),
        ((), 1, 0.0),
        ((1,), 3, 0.0),
        ((7,), 1, 0.0),
        ((30, 33), 10, 0.0),
        ((33, 7), 1, 0.0),
        ((100, 1, 8), 9, 0.0),
        ((40, 40, 40), 2, 0.0),
        ((30, 7), 4, 0.5),
    ],
)
def test_the_gradient_is_that_of_autograd(hidden, outputs, bias, batch, dropout, normalized):
    """Pixels of normalized images may be negative, and few are 0."""
    net, parameters, data, chosen = problem(hidden, bias, outputs, batch, dropout)
    if normalized:
        data = replace(data, inputs=(data.inputs - np.float32(0.3)) / np.float32(0.4))
        assert (data.inputs < 0).any() and (data.inputs != 0).all()
    masks = assert_gradients_are_those_of_autograd(net, parameters, data, chosen)
    assert all((mask == 0).any() for mask in masks.values())


@needs_compiler
@pytest.mark.parametrize("after", [("fc1",), ("fc2",), ("fc1", "fc3")])
def test_dropout_may_act_after_some_layers(after):
    masks = assert_gradients_are_those_of_autograd(*problem((30, 7, 9), True, 4, 5, 0.5, after))
    assert tuple(masks) == after


@needs_compiler
@pytest.mark.parametrize("outputs", [1, 10])
def test_a_sure_net_keeps_its_small_losses(outputs):
    """In float32 the probabilities of the other classes are denormal numbers or zero."""
    net, parameters, data, _ = problem((), True, outputs, 4)
    parameters = {name: torch.zeros_like(value).float() for name, value in parameters.items()}
    label = 1 if outputs == 1 else 0
    data.labels[:] = label
    for row, margin in enumerate((5.0, 20.0, 95.0)):
        parameters["fc1.bias"][row, 0] = margin
    compiled = Compiled(FLOAT32, net, (), data)
    others = 1 if outputs == 1 else outputs - 1
    for row, margin in enumerate((5.0, 20.0, 95.0)):
        expected = np.log1p(others * np.exp(-margin))
        found = compiled.evaluate(parameters, range(ROWS))[row]
        assert found.train_loss == pytest.approx(expected, rel=1e-6, abs=1e-37)
        assert found.train_error == 0
    # The kernel flushes denormal numbers to zero only within its calls.
    assert torch.tensor(1e-40).mul(1.0).item() > 0


@needs_compiler
@pytest.mark.parametrize(("outputs", "label"), [(1, 0), (1, 1), (10, 3)])
def test_a_sure_net_keeps_its_small_slopes(outputs, label):
    """In float32, a probability minus 1 would be 0 from a margin of 17 on."""
    net, parameters, data, chosen = problem((), True, outputs, 4)
    parameters = {name: torch.zeros_like(value).float() for name, value in parameters.items()}
    data.labels[:] = label
    margins = torch.tensor([5.0, 20.0, 60.0])
    right = 0 if outputs == 1 else label
    parameters["fc1.bias"][:, right] = -margins if (outputs, label) == (1, 0) else margins
    others = max(outputs - 1, 1) * margins.double().neg().exp()
    expected = others / (1 + others) * (1 if (outputs, label) == (1, 0) else -1)
    compiled = Compiled(FLOAT32, net, (), data)
    by_kernel = compiled.gradient(parameters, range(ROWS), chosen, Streams(range(ROWS), (0,)))
    images, labels = minibatch(data, chosen)
    by_torch = dense_gradient(net, parameters, images.float(), labels, {})
    for slopes in (by_kernel, by_torch):
        found = slopes["fc1.bias"][:, right].double()
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=0)


@needs_compiler
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e38])
def test_a_net_that_overflows_has_no_finite_loss(value):
    net, parameters, data, _ = problem((30, 7), True, 10, 1)
    parameters["fc2.weight"][1] = value
    compiled = Compiled(FLOAT32, net, (), data)
    found = compiled.evaluate({k: v.float() for k, v in parameters.items()}, range(ROWS))
    assert np.isfinite([one.train_loss for one in found]).tolist() == [True, False, True]


@needs_compiler
@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_without_an_output_is_refused(label):
    net, _, data, _ = problem((4,), True, 3, 3)
    data.labels[1, 2] = label
    with pytest.raises(FlatlasError, match="the net has outputs 0 to"):
        Compiled(FLOAT64, net, (), data)


def test_images_in_several_draws_are_stored_once():
    net, _, data, _ = problem((4,), True, 3, 1)
    index = np.random.default_rng(1).integers(0, IMAGES, (ROWS, IMAGES))
    shared = Samples(
        data.seeds, data.inputs[0][index], data.labels[0][index], data.clean,
        data.test_inputs, data.test_labels, index, np.arange(ROWS * 4).reshape(ROWS, 4),
    )  # fmt: skip
    apart = Samples(*(getattr(shared, name) for name in list(vars(shared))[:6]))
    one, other = (Compiled(FLOAT64, net, (), samples) for samples in (shared, apart))
    assert len(one.train.starts) - 1 == len(np.unique(index))
    assert len(other.train.starts) - 1 == ROWS * IMAGES
    parameters = {name: value.double() for name, value in net.initial(range(ROWS)).items()}
    assert one.evaluate(parameters, range(ROWS)) == other.evaluate(parameters, range(ROWS))


def chosen_kernel(pixels=0.2, team=None, device="cpu", **other):
    spec = run(input_shape=(1, 20, 20), **other)
    random = np.random.default_rng(0)
    images = (random.random((3, 4, 1, 20, 20)) < pixels).astype(np.float32)
    labels = np.zeros((3, 4), dtype=np.int64)
    samples = Samples((0, 1, 2), images, labels, labels == 0, images, labels)
    return choose_kernel(spec, samples, device, team)


@needs_compiler
def test_the_kernel_is_chosen_for_dense_nets_on_the_cpu_and_sparse_images():
    assert chosen_kernel() is not None
    assert chosen_kernel(pixels=0.9) is None
    assert chosen_kernel(device="cuda") is None
    assert chosen_kernel(team=object()) is None
    assert chosen_kernel(net=CONVOLUTIONAL["net"]) is None
    assert chosen_kernel(net={"family": "dense", "hidden": (600, 600)}) is None


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """An empty cache, and no kernel found before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    building.find_kernel.cache_clear()
    yield tmp_path
    building.find_kernel.cache_clear()


def test_without_a_compiler_torch_trains(fresh, monkeypatch, caplog):
    monkeypatch.setenv("PATH", str(fresh))
    with caplog.at_level(logging.INFO, "flatlas"):
        assert chosen_kernel() is None
    assert "there is no C compiler" in caplog.text
    assert backend_name(None) == "torch"
    assert not list(fresh.iterdir())


def test_a_compiler_that_fails_leaves_nothing_and_torch_trains(fresh, monkeypatch, caplog):
    broken = fresh / "broken-cc"
    broken.write_text(
        '#!/bin/sh\nif test "$1" = --version; then echo "broken 1"; exit; fi\n'
        'echo "no headers" >&2\nexit 1\n'
    )
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert chosen_kernel() is None
    assert "no headers" in caplog.text
    assert not list((fresh / "flatlas").iterdir())


@needs_compiler
def test_a_folder_that_others_may_write_to_is_not_used(fresh, caplog):
    (fresh / "flatlas").mkdir()
    (fresh / "flatlas").chmod(0o777)
    assert chosen_kernel() is None
    assert f"chmod 700 {fresh / 'flatlas'}" in caplog.text


@needs_compiler
@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_with_a_cache_that_cannot_be_written_torch_trains(fresh, caplog):
    fresh.chmod(0o500)
    assert chosen_kernel() is None
    assert "Permission denied" in caplog.text


@needs_compiler
def test_without_a_home_folder_torch_trains(fresh, monkeypatch, caplog):
    def lost():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lost)
    assert chosen_kernel() is None
    assert "home directory" in caplog.text


@needs_compiler
def test_the_kernel_is_compiled_once_for_each_source_and_compiler(fresh, monkeypatch):
    """Into a folder of the user alone, which the plan made under a umask that lets others write."""
    before = os.umask(0o002)
    try:
        keep("plans/one", {}, at_most=1)
    finally:
        os.umask(before)
    folder = fresh / "flatlas"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    def times():
        building.find_kernel.cache_clear()
        assert backend_name(chosen_kernel()).startswith("compiled by")
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.so")}

    first = times()
    assert len(first) == 1 and times() == first
    changed = fresh / "kernel.c"
    changed.write_text(building.SOURCE.read_text() + "\n/* changed */\n")
    monkeypatch.setattr(building, "SOURCE", changed)
    second = times()
    monkeypatch.setenv("CC", "cc -O2")
    assert len(times()) == 3
    assert second.items() > first.items()
