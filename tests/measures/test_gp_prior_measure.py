"""The prior of a trained net's function, as a measure: which images, which labels, which kernel."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch
from solutions import make_solution

from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.prior import log_prior
from flatlas.measures.gp_prior import measure_stack, restriction

PROBIT = {"link": "probit", "kernel": "arc_cosine"}
SAMPLED = {"link": "probit", "kernel": "monte_carlo"}
HARD = {"link": "heaviside", "kernel": "arc_cosine"}


@pytest.fixture
def solution():
    """S has its true labels, A has not."""
    made = make_solution("he", 1)
    made.clean[0, 3::4] = False
    return made


def row_of(solution, options):
    [tables] = measure_stack([solution], options)
    return tables["summary"].iloc[0]


def test_a_stack_is_measured_as_one_by_one(solution):
    others = [make_solution("he", 1, seed=seed) for seed in (1, 2)]
    stack = [solution, *(replace(solution, parameters=other.parameters) for other in others)]
    together = [tables["summary"].iloc[0] for tables in measure_stack(stack, PROBIT)]
    assert len({row["log10_p"] for row in together}) == 3
    for one, row in zip(stack, together, strict=True):
        assert row.to_dict() == row_of(one, PROBIT).to_dict()


def test_the_function_is_what_the_net_says_on_s_and_e(solution):
    """Neither the labels nor the images with wrong ones matter; σ_w² = 2, σ_b² = 0.25."""
    row = row_of(solution, PROBIT)
    kept = solution.clean[0]
    images = torch.cat([solution.inputs[0, kept], solution.test_inputs[0]])
    f = (solution.net.forward(solution.parameters, images[None])[0, :, 0] > 0).long()
    matrix = ArcCosineKernel(2, 2.0, 0.25)(images.flatten(1)).to_dense()
    [expected] = log_prior(matrix, f[None], "probit", torch.arange(len(f)))
    assert row["log10_p"] == pytest.approx(expected.evidence.log_z / log(10), rel=1e-12)
    assert row["points"] == len(images) == 30 + 25
    wrong = f != torch.cat([solution.labels[0, kept], solution.test_labels[0]])
    assert row["train_error"] == pytest.approx(wrong[:30].double().mean().item())
    assert row["train_size"] == 30
    assert row["test_error"] == pytest.approx(wrong[30:].double().mean().item())


def test_equal_images_in_s_and_e_are_merged_under_a_hard_sign(solution):
    twins = solution.test_inputs.clone()
    twins[0, :5] = solution.inputs[0, :3].repeat(2, 1, 1, 1)[:5]
    double = replace(solution, test_inputs=twins)
    hard, soft = row_of(double, HARD), row_of(double, PROBIT)
    assert (hard["points"], hard["merged"], hard["contradictions"]) == (50, 5, "")
    assert (soft["points"], soft["merged"]) == (55, 0)
    kept = replace(double, test_inputs=twins[:, 5:], test_labels=double.test_labels[:, 5:])
    assert hard["log10_p"] == pytest.approx(row_of(kept, HARD)["log10_p"], rel=1e-9)


def test_a_sampled_kernel_is_used_as_given(solution):
    """The exact kernel in its place gives the exact prior; the identity gives 55 coin tosses."""
    exact = ArcCosineKernel(2, 2.0, 0.25)(restriction(solution).images.flatten(1)).to_dense()
    expected = {row_of(solution, PROBIT)["log10_p"]: exact.numpy(), -55 * log(2, 10): np.eye(55)}
    for log10_p, kernel in expected.items():
        found = row_of(replace(solution, kernel=kernel), SAMPLED)
        assert found["log10_p"] == pytest.approx(log10_p, rel=1e-9)
