"""Batch-norm statistics: estimated again for each solution, and kept with it."""

import numpy as np
import pytest
import torch
from short_runs import NORMED, run, samples, trained
from torch import nn
from torch.nn import functional

from flatlas.errors import FlatlasError
from flatlas.measures.solution import load_solutions
from flatlas.nets import build_net
from flatlas.nets.modules import ModuleNet

SHAPE = NORMED["input_shape"]
CASES = {
    "plain": {},
    "average": {"average": {"from_epoch": 2}},
    "learners": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    "adam": {"optimizer": {"name": "adam", "lr": 0.02}},
}


@pytest.fixture(scope="module", params=CASES)
def done(request, tmp_path_factory):
    """A run, its samples with some wrong labels, and its results."""
    spec = run(**NORMED, checkpoints=(0, 2), **CASES[request.param])
    data = samples(shape=SHAPE)
    data.clean[:, ::5] = False
    return spec, data, trained(spec, data, tmp_path_factory.mktemp("normed"))


def test_statistics_are_those_of_the_solution_on_clean_images(done):
    """The first batch norm sees what the stem makes of the images."""
    spec, data, results = done
    moments = ["epoch-00000", "epoch-00002", "final"] + ["final.last"] * bool(spec.average)
    for moment in moments:
        for member in range(3):
            seen = torch.from_numpy(data.inputs[member][data.clean[member]])
            stem = torch.from_numpy(results.weights[f"{moment}/features.stem.weight"][member])
            stemmed = functional.conv2d(seen, stem, padding=1)
            expected = {"mean": stemmed.mean((0, 2, 3)), "var": stemmed.var((0, 2, 3))}
            for kind, value in expected.items():
                name = f"{moment}/features.blocks.0.norms.0.running_{kind}"
                kept = torch.from_numpy(results.weights[name][member])
                torch.testing.assert_close(kept, value, rtol=1e-4, atol=1e-5)
    if spec.average:
        last, mean = (
            results.weights[f"{moment}/features.norm.running_mean"]
            for moment in ("final.last", "final")
        )
        assert not np.allclose(last, mean)


def test_the_history_is_of_the_solution_that_is_kept(done):
    spec, data, results = done
    net = build_net(spec.net, spec.input_shape, spec.outputs)
    ends = results.history.groupby("seed").last()
    for member, seed in enumerate(spec.seeds):
        (kept,) = load_solutions(results.weights, ["final"], member, data.of(seed), net, "cpu")
        train = kept.net.forward(kept.parameters, kept.inputs)[0][kept.clean[0]]
        test = kept.net.forward(kept.parameters, kept.test_inputs)[0]
        losses = [
            functional.cross_entropy(train, kept.labels[kept.clean]).item(),
            functional.cross_entropy(test, kept.test_labels[0]).item(),
        ]
        recorded = ends.loc[seed, ["train_loss", "test_loss"]].tolist()
        assert losses == pytest.approx(recorded, rel=1e-4)


def test_statistics_are_in_no_norm_and_in_no_penalty(tmp_path):
    spec = run(**NORMED, penalty={"coefficient": 0.1}, optimizer={"name": "sgd", "lr": 0.01})
    done = trained(spec, samples(shape=SHAPE), tmp_path)
    names = build_net(spec.net, spec.input_shape, spec.outputs).shapes
    assert {name for name in done.weights if "running" not in name} == {f"final/{n}" for n in names}
    squares = sum((done.weights[f"final/{n}"] ** 2).reshape(3, -1).sum(1) for n in names)
    np.testing.assert_allclose(done.history.weight_norm[-3:], np.sqrt(squares), rtol=1e-5)


def test_features_can_be_frozen_as_one_layer(tmp_path):
    spec = run(**NORMED, frozen=("features",), checkpoints=(0,))
    weights = trained(spec, samples(shape=SHAPE), tmp_path).weights
    for name in build_net(spec.net, spec.input_shape, spec.outputs).shapes:
        same = np.array_equal(weights[f"final/{name}"], weights[f"epoch-00000/{name}"])
        assert same == name.startswith("features."), name


def test_one_image_alone_has_no_variance():
    def make():
        return nn.Sequential(nn.Flatten(), nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))

    net = ModuleNet(make, (1, 2, 3), outputs=3)
    weights = net.initial([0])
    assert net.forward(weights, torch.rand(1, 2, 1, 2, 3), {}).shape == (1, 2, 3)
    with pytest.raises(FlatlasError, match="at least two images"):
        net.forward(weights, torch.rand(1, 1, 1, 2, 3), {})
