"""Contrastive flatness of equal minibatches, and by whole Hessians of each minibatch."""

import numpy as np
import pytest
import torch
from solutions import make_solution, whole_hessian

from flatlas.measures import measure
from flatlas.measures.minibatches import minibatches

OPTIONS = {"batch": 8, "minibatches": 5, "box": 1e-4, "layer": "fc1", "factors": (1.0,)}
KINDS = ["trace", "spectral_norm", "sharpness"]


def summary(solution, **options):
    tables = measure("contrastive_flatness", solution, {**OPTIONS, **options})
    return tables["summary"].set_index("flatness")


def test_minibatches_of_all_images_have_no_contrast():
    found = summary(make_solution("biases"), batch=40)
    assert found.index.tolist() == KINDS
    np.testing.assert_allclose(found["contrast"], 1, rtol=1e-9)
    np.testing.assert_allclose(found["contrast_error"], 0, atol=1e-9)


def test_minibatches_by_their_whole_hessians():
    solution = make_solution("one_hidden")
    found = summary(solution)
    drawn = minibatches(solution, "contrastive flatness", (5, 8))
    whole, *parts = (whole_hessian(solution, images)[2] for images in (slice(None), *drawn))
    for name, of in (("trace", torch.trace), ("spectral_norm", lambda h: torch.linalg.norm(h, 2))):
        ratios = torch.stack([of(part) for part in parts]) / of(whole)
        expected = (ratios.mean().item(), ratios.std().item() / 5**0.5)
        row = found.loc[name, ["contrast", "contrast_error"]]
        assert tuple(row) == pytest.approx(expected, rel=1e-6)
    assert found["converged"].all()


def test_a_sampled_trace_says_how_far_off_it_may_be_and_has_converged():
    """Convolutions have no closed form: the error is that of random probes, not of a search."""
    solution = make_solution("global_pool", images=16)
    found = summary(solution, minibatches=2, batch=16).loc["trace"]
    whole = whole_hessian(solution, slice(None))[2].trace().item()
    assert 0.01 < found["residual"] < 0.5
    assert found["of_mean"] == pytest.approx(whole, rel=4 * found["residual"])
    assert found["converged"]


def test_an_alpha_scaling_changes_flatness_and_not_the_contrast():
    """At 1e-4 nearly all curvature is the first layer's: flatness goes as 1/α², the ratio stays."""
    found = summary(make_solution("biases"), factors=(1e-3, 1e-4)).reset_index()
    table = found.pivot(index="flatness", columns="factor", values=["of_mean", "contrast"])
    for kind in ("trace", "spectral_norm"):
        row = table.loc[kind]
        assert row["of_mean"][1e-4] / row["of_mean"][1e-3] == pytest.approx(100, rel=1e-2)
        assert row["contrast"][1e-4] == pytest.approx(row["contrast"][1e-3], rel=1e-2)
