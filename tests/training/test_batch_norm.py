"""Statistics of batch norm: re-estimated for whatever counts as the solution, and kept with it."""

import numpy as np
import pytest
import torch
from short_runs import run, samples, trained
from torch import nn
from torch.nn import functional

from flatlas.errors import FlatlasError
from flatlas.measures.solution import load_solutions
from flatlas.nets import build_net
from flatlas.nets.modules import ModuleNet

SHAPE = (2, 4, 4)
NORMED = {"net": {"family": "preactivation", "depth": 8, "channels": 2}, "input_shape": SHAPE}
CASES = {
    "plain": {},
    "average": {"average": {"from_epoch": 2}},
    "learners": {"learners": {"kind": "dpsgd", "count": 3}, "batch": 2},
    "adam": {"optimizer": {"name": "adam", "lr": 0.02}},
}


def first_statistics(weights, moment, member, images):
    """Mean and variance of what the stem makes of the images: what the first batch norm sees."""
    stem = torch.from_numpy(weights[f"{moment}/features.stem.weight"][member])
    made = functional.conv2d(torch.from_numpy(images), stem, padding=1)
    return made.mean((0, 2, 3)), made.var((0, 2, 3))


@pytest.mark.parametrize("case", CASES)
def test_statistics_are_those_of_the_solution_on_clean_images(tmp_path, case):
    spec = run(**NORMED, checkpoints=(0, 2), **CASES[case])
    data = samples(shape=SHAPE)
    data.clean[:, ::5] = False
    done = trained(spec, data, tmp_path)
    moments = ["epoch-00000", "epoch-00002", "final"]
    for moment in moments + ["final.last"] * (case == "average"):
        for member in range(3):
            seen = data.inputs[member][data.clean[member]]
            mean, variance = first_statistics(done.weights, moment, member, seen)
            norm = f"{moment}/features.blocks.0.norms.0"
            kept = (done.weights[f"{norm}.{kind}"] for kind in ("running_mean", "running_var"))
            torch.testing.assert_close([torch.from_numpy(one[member]) for one in kept],
                                       [mean, variance], rtol=1e-4, atol=1e-5)  # fmt: skip
    if case == "average":
        last, mean = (done.weights[f"{one}/features.norm.running_mean"] for one in moments[1:])
        assert not np.allclose(last, mean)


@pytest.mark.parametrize("case", CASES)
def test_the_history_is_of_the_solution_that_is_kept(tmp_path, case):
    spec, data = run(**NORMED, **CASES[case]), samples(shape=SHAPE)
    done = trained(spec, data, tmp_path)
    net = build_net(spec.net, spec.input_shape, spec.outputs)
    ends = done.history.groupby("seed").last()
    for member, seed in enumerate(spec.seeds):
        (solution,) = load_solutions(
            done.weights, ["final"], member, data.of(seed), net, device="cpu"
        )
        for inputs, labels, told in (
            (solution.inputs, solution.labels, "train_loss"),
            (solution.test_inputs, solution.test_labels, "test_loss"),
        ):
            logits = solution.net.forward(solution.parameters, inputs)[0]
            loss = functional.cross_entropy(logits, labels[0]).item()
            assert loss == pytest.approx(ends.loc[seed, told], rel=1e-4)


def test_statistics_are_no_weights(tmp_path):
    """They are in no norm, and neither averaged nor pulled towards 0."""
    spec = run(**NORMED, penalty={"coefficient": 0.1}, optimizer={"name": "sgd", "lr": 0.01})
    done = trained(spec, samples(shape=SHAPE), tmp_path)
    names = build_net(spec.net, spec.input_shape, spec.outputs).shapes
    assert {name for name in done.weights if "running" not in name} == {f"final/{n}" for n in names}
    squares = sum((done.weights[f"final/{n}"] ** 2).reshape(3, -1).sum(1) for n in names)
    np.testing.assert_allclose(done.history.weight_norm[-3:], np.sqrt(squares), rtol=1e-5)


def test_one_part_can_stay_as_it_is(tmp_path):
    """A net's features are a layer to the plan: they may be frozen, and `fc` trained alone."""
    spec = run(**NORMED, frozen=("features",), checkpoints=(0,))
    weights = trained(spec, samples(shape=SHAPE), tmp_path).weights
    for name in weights:
        if name.startswith("final/") and "running" not in name:
            same = np.array_equal(weights[name], weights[f"epoch-00000/{name[6:]}"])
            assert same == name.startswith("final/features."), name


def test_one_image_alone_has_no_variance():
    def make():
        return nn.Sequential(nn.Flatten(), nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))

    net = ModuleNet(make, (1, 2, 3), outputs=3)
    weights = net.initial([0])
    assert net.forward(weights, torch.rand(1, 2, 1, 2, 3), {}).shape == (1, 2, 3)
    with pytest.raises(FlatlasError, match="choose a batch that leaves at least two images"):
        net.forward(weights, torch.rand(1, 1, 1, 2, 3), {})
