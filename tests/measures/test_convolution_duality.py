"""Dual weights of convolutions against scipy, torch's own convolutions, and the exact case."""

import numpy as np
import pytest
import scipy.linalg
import torch
from torch.nn import functional

from flatlas.errors import FlatlasError
from flatlas.measures import convolution_duality as room
from flatlas.measures import measure
from flatlas.nets.loss import sample_losses

LAYERS = [
    ("convolutional", "conv1"),
    ("two_convolutions", "conv1"),
    ("two_convolutions", "conv2"),
    ("global_pool", "conv1"),
    ("global_pool", "conv2"),
]
# Those that have no more patches than weights to make up for them.
EXACT = [("two_convolutions", "conv2"), ("global_pool", "conv2")]


def tables(solution, layer):
    found = measure("convolution_duality", solution, {"layer": layer})
    return found["pairs"], found["summary"].iloc[0]


def pairs_of(solution):
    """Positions (test image, its partner), by a search."""
    train, test = solution.inputs[0].flatten(1), solution.test_inputs[0].flatten(1)
    for k, label in enumerate(solution.test_labels[0]):
        distance = (train - test[k]).norm(dim=1)
        distance[(solution.labels[0] != label) | ~solution.clean[0]] = np.inf
        yield k, int(distance.argmin())


def loss(solution, image, label, **changed):
    parameters = {**solution.parameters, **changed}
    logits = solution.net.forward(parameters, image[None, None])
    return sample_losses(logits, label[None, None]).item()


def convolved(solution, layer, image):
    """The patches that enter the layer, cut out by hand, and torch's pre-activations of them."""
    activity = image[None, None]
    stages = {stage.name: stage for stage in solution.net.convolutions}
    for name in sorted(stages):
        if name == layer:
            break
        activity = stages[name].forward(solution.parameters, activity)
    stage = stages[layer]
    padded = functional.pad(activity[0, 0], (stage.padding,) * 4)
    steps = range(0, padded.shape[1] - stage.kernel + 1, stage.stride)
    patches = [
        padded[:, top : top + stage.kernel, left : left + stage.kernel].flatten()
        for top in steps
        for left in steps
    ]
    z = functional.conv2d(
        activity[0],
        solution.parameters[f"{layer}.weight"][0],
        stride=stage.stride,
        padding=stage.padding,
    )
    return torch.stack(patches).numpy(), z[0].flatten(1).T.numpy()


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_pair_by_pair(make_solution, net, layer, outputs):
    """With scipy's least squares, and a whole forward pass of a net with the pair's own kernel."""
    solution = make_solution(net, outputs)
    pairs, summary = tables(solution, layer)
    kernel = solution.parameters[f"{layer}.weight"]
    expected = {"loss_gap": [], "dual_loss_gap": [], "residual": []}
    for k, partner in pairs_of(solution):
        x, test_x, label = solution.inputs[0, partner], solution.test_inputs[0, k], None
        label = solution.test_labels[0, k]
        patches, z = convolved(solution, layer, x)
        _, test_z = convolved(solution, layer, test_x)
        shift = scipy.linalg.lstsq(patches, test_z - z, cond=1e-7)[0]
        dual = kernel + torch.tensor(shift.T.copy()).reshape(kernel.shape)
        before = loss(solution, x, label)
        expected["loss_gap"].append(loss(solution, test_x, label) - before)
        changed = {f"{layer}.weight": dual}
        expected["dual_loss_gap"].append(loss(solution, x, label, **changed) - before)
        missed = np.linalg.norm(patches @ shift - (test_z - z))
        expected["residual"].append(missed / np.linalg.norm(test_z - z))
    expected = {name: np.array(column) for name, column in expected.items()}
    np.testing.assert_array_equal(pairs["pair"], np.arange(1, 26))
    for name, column in expected.items():
        np.testing.assert_allclose(pairs[name], column, rtol=1e-9, atol=1e-11, err_msg=name)
    missed = np.abs(expected["dual_loss_gap"] - expected["loss_gap"]).mean()
    assert dict(summary) == {
        "pairs": 25,
        "zero_pairs": 0,
        "pairwise_gap": pytest.approx(expected["loss_gap"].mean()),
        "dual_gap": pytest.approx(expected["dual_loss_gap"].mean()),
        "residual_loss": pytest.approx(missed, abs=1e-12),
        "residual": pytest.approx(expected["residual"].mean(), abs=1e-12),
    }


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_the_duality_is_exact_where_there_are_no_more_patches_than_weights(
    make_solution, net, layer, outputs
):
    """l(x', w) = l(x, w + Δw) (Eq. 1) of every pair there, and of none elsewhere."""
    pairs, summary = tables(make_solution(net, outputs), layer)
    assert pairs["loss_gap"].abs().min() > 1e-4
    if (net, layer) in EXACT:
        np.testing.assert_allclose(pairs["dual_loss_gap"], pairs["loss_gap"], atol=1e-12)
        assert summary["residual_loss"] < 1e-12
        assert summary["residual"] < 1e-12
    else:
        assert pairs["residual"].between(0.01, 1).all()
        assert summary["residual_loss"] > 0.01


def test_no_smaller_shift_comes_as_near():
    """Patches that span few dimensions leave Δw free: it has no part that no patch sees."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    patches, change = normal(3, 20, 4) @ normal(3, 4, 9), normal(3, 20, 2)
    # Round-off of single precision is no fifth dimension.
    rounded = patches.float().double()
    for near in (patches, rounded):
        shift = room.least_squares(near, change)
        for k in range(3):
            _, values, right = np.linalg.svd(patches[k].numpy())
            assert (values[:4] > 1e-2 * values[0]).all()
            assert np.abs(right[4:] @ shift[k].numpy()).max() < 1e-5
            np.testing.assert_allclose(
                patches[k].T @ (patches[k] @ shift[k]), patches[k].T @ change[k], atol=1e-4
            )


def test_a_test_image_that_was_trained_on_needs_no_shift(make_solution):
    solution = make_solution("two_convolutions")
    solution.test_inputs[0, :3] = solution.inputs[0, :3]
    for layer in ("conv1", "conv2"):
        pairs, summary = tables(solution, layer)
        assert summary["zero_pairs"] == 3
        assert (pairs[["loss_gap", "dual_loss_gap", "residual"]][:3].abs() < 1e-12).all(axis=None)
        assert (pairs["loss_gap"][3:].abs() > 1e-6).all()


def test_an_image_of_which_the_layer_sees_nothing_has_no_shift(make_solution):
    """P = 0: no weights can make up for the difference, all of it is missed."""
    solution = make_solution("convolutional")
    solution.inputs[0] = 0.0
    pairs, summary = tables(solution, "conv1")
    assert summary["zero_pairs"] == 25
    assert (pairs["dual_loss_gap"] == 0).all()
    np.testing.assert_allclose(pairs["residual"], 1.0)


def test_a_mislabelled_image_is_nobodys_partner(make_solution):
    solution = make_solution("convolutional")
    solution.inputs[0, :25] = solution.test_inputs[0]
    solution.clean[0, :25] = False
    _, summary = tables(solution, "conv1")
    assert summary["zero_pairs"] == 0


@pytest.mark.parametrize("numbers", [1, 500, 1000])
def test_blocks_of_pairs_change_nothing(make_solution, monkeypatch, numbers):
    solution = make_solution("convolutional")
    whole, _ = tables(solution, "conv1")
    monkeypatch.setattr(room, "NUMBERS", numbers)
    blocks, _ = tables(solution, "conv1")
    np.testing.assert_allclose(blocks, whole, rtol=1e-10, atol=1e-13)


def test_a_dense_layer_is_refused(make_solution):
    with pytest.raises(FlatlasError, match=r"'fc1' is no convolution.*Convolutions: conv1, conv2"):
        tables(make_solution("two_convolutions"), "fc1")
