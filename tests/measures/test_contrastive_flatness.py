"""Contrastive flatness of equal minibatches, and by whole Hessians of each minibatch."""

import numpy as np
import pytest
import torch

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import measure
from flatlas.measures.minibatches import minibatches

OPTIONS = {"batch": 8, "minibatches": 5, "box": 1e-4, "layer": "fc1", "factors": (1.0,)}
KINDS = ["trace", "spectral_norm", "sharpness"]


def summary(solution, **changed):
    tables = measure("contrastive_flatness", solution, {**OPTIONS, **changed})
    return tables["summary"].set_index("flatness")


def test_equal_minibatches_have_no_contrast(make_solution):
    """Each has all the images."""
    found = summary(make_solution("biases", 3), batch=40)
    assert found.index.tolist() == KINDS
    np.testing.assert_allclose(found["contrast"], 1, rtol=1e-9)
    np.testing.assert_allclose(found["contrast_error"], 0, atol=1e-9)


def test_minibatches_by_their_whole_hessians(make_solution):
    solution = make_solution("one_hidden", 3)
    found = summary(solution)
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    drawn = minibatches(solution, "contrastive flatness", (5, 8))
    whole, *parts = (
        torch.autograd.functional.hessian(one, w) for one in (loss, *map(loss.of, drawn))
    )
    for name, of in (("trace", torch.trace), ("spectral_norm", lambda h: torch.linalg.norm(h, 2))):
        values = torch.stack([of(part) for part in parts])
        expected = (values.mean() / of(whole)).item()
        assert found.loc[name, "contrast"] == pytest.approx(expected, rel=1e-6)
        error = (values.std() / 5**0.5 / of(whole)).item()
        assert found.loc[name, "contrast_error"] == pytest.approx(error, rel=1e-6)
    assert found["converged"].all()


def test_by_the_trace_a_partition_has_no_contrast(make_solution):
    """It is linear: the mean over minibatches that hold each image once is that of the mean."""
    solution = make_solution("biases", 3)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    (w,) = flattened(solution.net, solution.parameters)
    parts = torch.arange(40).view(5, 8)
    traces = [torch.autograd.functional.hessian(loss.of(part), w).trace() for part in parts]
    expected = summary(solution, batch=40).loc["trace", "of_mean"]
    assert torch.stack(traces).mean().item() == pytest.approx(expected, rel=1e-9)


def test_an_alpha_scaling_moves_flatness_and_not_the_contrast_by_a_block(make_solution):
    """By 1e-4 nearly all curvature is the first layer's: flatness goes as 1/α², the ratio stays."""
    found = summary(make_solution("biases", 3), factors=(1e-3, 1e-4)).reset_index()
    table = found.pivot(index="flatness", columns="factor", values=["of_mean", "contrast"])
    for kind in ("trace", "spectral_norm"):
        row = table.loc[kind]
        assert row["of_mean"][1e-4] / row["of_mean"][1e-3] == pytest.approx(100, rel=1e-2)
        assert row["contrast"][1e-4] == pytest.approx(row["contrast"][1e-3], rel=1e-2)
