"""Dual weights of convolutions against scipy, torch's own convolutions, and the exact case."""

import numpy as np
import pytest
import scipy.linalg
import torch
from solutions import changed, make_solution, partners_by_search
from torch.nn import functional

from flatlas.measures import convolution_duality, measure
from flatlas.nets.loss import sample_losses

LAYERS = [
    ("convolutional", "conv1"),
    ("two_convolutions", "conv1"),
    ("two_convolutions", "conv2"),
    ("global_pool", "conv1"),
    ("global_pool", "conv2"),
]
# These have no more patches than weights.
EXACT = [("two_convolutions", "conv2"), ("global_pool", "conv2")]


def tables(solution, layer):
    found = measure("convolution_duality", solution, {"layer": layer})
    return found["pairs"], found["summary"].iloc[0]


def convolved(solution, layer, image):
    """The patches that enter the layer, cut out one by one, and torch's pre-activations."""
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
    kernel = solution.parameters[f"{layer}.weight"][0]
    z = functional.conv2d(activity[0], kernel, stride=stage.stride, padding=stage.padding)
    return torch.stack(patches).numpy(), z[0].flatten(1).T.numpy()


def loss(solution, image, label, **weights):
    moved = changed(solution, **weights)
    logits = moved.net.forward(moved.parameters, image[None, None])
    return sample_losses(logits, label[None, None]).item()


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("net", "layer"), LAYERS)
def test_pair_by_pair(net, layer, outputs):
    """With scipy's least squares, and a forward pass of a net with the kernel of each pair.

    Where a layer has no more patches than weights, l(x', w) = l(x, w + Δw) (Eq. 1) for every pair.
    """
    solution = make_solution(net, outputs)
    # Mislabelled images are nobody's partner.
    solution.clean[0, ::4] = False
    pairs, summary = tables(solution, layer)
    kernel = solution.parameters[f"{layer}.weight"]
    rows = []
    for k, partner in enumerate(partners_by_search(solution)):
        x, test_x = solution.inputs[0, partner], solution.test_inputs[0, k]
        label = solution.test_labels[0, k]
        patches, z = convolved(solution, layer, x)
        change = convolved(solution, layer, test_x)[1] - z
        shift = scipy.linalg.lstsq(patches, change, cond=1e-7)[0]
        dual = kernel + torch.tensor(shift.T.copy()).reshape(kernel.shape)
        before = loss(solution, x, label)
        gaps = [loss(solution, test_x, label), loss(solution, x, label, **{layer: dual})]
        residual = np.linalg.norm(patches @ shift - change) / np.linalg.norm(change)
        rows.append([*np.subtract(gaps, before), residual])
    gap, dual_gap, residual = expected = np.array(rows).T
    np.testing.assert_array_equal(pairs["pair"], np.arange(1, 26))
    names = ["loss_gap", "dual_loss_gap", "residual"]
    np.testing.assert_allclose(pairs[names].T, expected, rtol=1e-9, atol=1e-11)
    assert dict(summary) == {
        "pairs": 25,
        "zero_pairs": 0,
        "pairwise_gap": pytest.approx(gap.mean()),
        "dual_gap": pytest.approx(dual_gap.mean()),
        "residual_loss": pytest.approx(np.abs(dual_gap - gap).mean(), abs=1e-12),
        "residual": pytest.approx(residual.mean(), abs=1e-12),
    }
    assert pairs["loss_gap"].abs().min() > 1e-4
    if (net, layer) in EXACT:
        np.testing.assert_allclose(pairs["dual_loss_gap"], pairs["loss_gap"], atol=1e-12)
        assert max(summary["residual_loss"], summary["residual"]) < 1e-12
    else:
        assert pairs["residual"].between(0.01, 1).all()
        assert summary["residual_loss"] > 0.01


@pytest.mark.parametrize("precision", [torch.float64, torch.float32])
def test_the_shift_is_the_smallest_solution_of_least_squares(precision):
    """Patches span four dimensions; round-off in single precision must not count as a fifth."""
    generator = torch.Generator().manual_seed(0)
    left, right, change = (
        torch.randn(3, *shape, generator=generator, dtype=torch.float64)
        for shape in ((20, 4), (4, 9), (20, 2))
    )
    patches = (left @ right).to(precision).double()
    shift = convolution_duality.least_squares(patches, change)
    expected = torch.linalg.pinv(left @ right, rtol=1e-10) @ change
    torch.testing.assert_close(shift, expected, rtol=0, atol=1e-5)


def test_a_test_image_that_was_trained_on_needs_no_shift():
    solution = make_solution("two_convolutions")
    solution.test_inputs[0, :3] = solution.inputs[0, :3]
    for layer in ("conv1", "conv2"):
        pairs, summary = tables(solution, layer)
        assert summary["zero_pairs"] == 3
        assert (pairs[["loss_gap", "dual_loss_gap", "residual"]][:3].abs() < 1e-12).all(axis=None)
        assert (pairs["loss_gap"][3:].abs() > 1e-6).all()


def test_an_image_that_gives_the_layer_only_zeros_has_no_shift():
    """If P = 0, no weights can make up for the difference: the residual is 1."""
    solution = make_solution("convolutional")
    solution.inputs[0] = 0.0
    pairs, summary = tables(solution, "conv1")
    assert summary["zero_pairs"] == 25
    assert (pairs["dual_loss_gap"] == 0).all()
    np.testing.assert_allclose(pairs["residual"], 1.0)


@pytest.mark.parametrize("numbers", [1, 500, 1000])
def test_blocks_of_pairs_change_nothing(monkeypatch, numbers):
    solution = make_solution("convolutional")
    whole, _ = tables(solution, "conv1")
    monkeypatch.setattr(convolution_duality, "NUMBERS", numbers)
    blocks, _ = tables(solution, "conv1")
    np.testing.assert_allclose(blocks, whole, rtol=1e-10, atol=1e-13)
