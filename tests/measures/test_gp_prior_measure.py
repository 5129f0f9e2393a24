"""The prior of a trained net's function, as a measure: which images, which labels, which kernel."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.orthant import orthant_probability
from flatlas.gaussian_process.prior import log_prior
from flatlas.measures.gp_prior import measure_stack, restriction
from flatlas.nets import build_net
from flatlas.plan.families.dense import DenseNet
from flatlas.plan.initializations import HeNormal

PROBIT = {"link": "probit", "kernel": "arc_cosine"}
SAMPLED = {"link": "probit", "kernel": "monte_carlo"}
HARD = {"link": "heaviside", "kernel": "arc_cosine"}
COLUMNS = [
    *("log10_p", "points", "merged", "contradictions"),
    *("sweeps", "residual", "converged", "jitter", "damping"),
    *("train_size", "train_error", "test_error"),
]


@pytest.fixture
def make_stack(make_solution):
    """Solutions of a net with biases, started by He's rule; S has its true labels, A has not."""
    spec = DenseNet(
        family="dense",
        hidden=(8, 5),
        bias=True,
        init=HeNormal(scheme="he_normal", bias_std=0.5),
    )

    def made(count=1):
        first = make_solution("biases", 1)
        clean = torch.arange(40).remainder(4).ne(3).unsqueeze(0)
        first = replace(first, net=build_net(spec, (1, 6, 6), 1), clean=clean)
        others = [make_solution("biases", 1, seed=seed) for seed in range(1, count)]
        return [first, *(replace(first, parameters=other.parameters) for other in others)]

    return made


def row_of(solution, options):
    [tables] = measure_stack([solution], options)
    [(_, row)] = tables["summary"].iterrows()
    return row


def outputs(solution, inputs):
    return solution.net.forward(solution.parameters, inputs)[0, :, 0]


def test_a_stack_is_measured_as_one_by_one(make_stack):
    stack = make_stack(3)
    together = measure_stack(stack, PROBIT)
    assert len({table["summary"]["log10_p"].item() for table in together}) == 3
    for solution, tables in zip(stack, together, strict=True):
        assert list(tables["summary"]) == COLUMNS
        assert tables["summary"].iloc[0].to_dict() == row_of(solution, PROBIT).to_dict()


def test_the_function_is_what_the_net_says_on_s_and_e(make_stack):
    """Not the labels, and nothing of the images with wrong ones; σ_w² = 2, σ_b² = 0.25."""
    [solution] = make_stack()
    row = row_of(solution, PROBIT)
    kept = solution.clean[0]
    images = torch.cat([solution.inputs[0, kept], solution.test_inputs[0]])
    f = (outputs(solution, images.unsqueeze(0)) > 0).long()
    matrix = ArcCosineKernel(2, 2.0, 0.25)(images.flatten(1)).to_dense()
    [expected] = log_prior(matrix, f[None], "probit", torch.arange(len(f)))
    assert row["log10_p"] == pytest.approx(expected.evidence.log_z / log(10), rel=1e-12)
    assert row["points"] == len(images) == 30 + 25
    wrong = f != torch.cat([solution.labels[0, kept], solution.test_labels[0]])
    assert row["train_error"] == pytest.approx(wrong[:30].double().mean().item())
    assert row["train_size"] == 30
    assert row["test_error"] == pytest.approx(wrong[30:].double().mean().item())


def test_the_probability_itself(make_stack):
    """On few points, against minimax tilting."""
    [solution] = make_stack()
    few = replace(
        solution,
        clean=solution.clean & (torch.arange(40) < 8),
        test_inputs=solution.test_inputs[:, :4],
        test_labels=solution.test_labels[:, :4],
    )
    images = torch.cat([few.inputs[0, few.clean[0]], few.test_inputs[0]])
    signs = outputs(few, images.unsqueeze(0)).sign().numpy()
    matrix = ArcCosineKernel(2, 2.0, 0.25)(images.flatten(1)).to_dense().numpy()
    exact = orthant_probability(matrix, signs, 50_000, np.random.default_rng(0))
    found = row_of(few, HARD)
    assert found["log10_p"] == pytest.approx(exact.log_p / log(10), abs=0.03)


def test_images_in_s_and_e_alike_are_merged_under_a_hard_sign(make_stack):
    [solution] = make_stack()
    twins = solution.test_inputs.clone()
    twins[0, :5] = solution.inputs[0, :3].repeat(2, 1, 1, 1)[:5]
    double = replace(solution, test_inputs=twins)
    hard, soft = row_of(double, HARD), row_of(double, PROBIT)
    assert (hard["points"], hard["merged"], hard["contradictions"]) == (50, 5, "")
    assert (soft["points"], soft["merged"]) == (55, 0)
    kept = replace(double, test_inputs=twins[:, 5:], test_labels=double.test_labels[:, 5:])
    assert hard["log10_p"] == pytest.approx(row_of(kept, HARD)["log10_p"], rel=1e-9)


def test_a_sampled_kernel_is_taken_as_it_is(make_stack):
    """EP does not care where K comes from: the exact one in its place gives the same."""
    [solution] = make_stack()
    seen = restriction(solution)
    exact = ArcCosineKernel(2, 2.0, 0.25)(seen.images.flatten(1)).to_dense()
    given = replace(solution, kernel=exact.numpy())
    assert row_of(given, SAMPLED)["log10_p"] == pytest.approx(
        row_of(solution, PROBIT)["log10_p"], rel=1e-12
    )
    assert row_of(replace(given, kernel=np.eye(55)), SAMPLED)["log10_p"] == pytest.approx(
        -55 * log(2) / log(10), rel=1e-9
    )


def test_what_cannot_be_measured_is_told(make_stack, make_solution):
    [solution] = make_stack()
    with pytest.raises(FlatlasError, match=r"two values.*3 outputs"):
        measure_stack([make_solution("biases", 3)], PROBIT)
    with pytest.raises(FlatlasError, match="monte_carlo"):
        measure_stack([make_solution("biases", 1)], PROBIT)
    with pytest.raises(FlatlasError, match=r"S and E are 55 images.*there is none"):
        measure_stack([solution], SAMPLED)
    with pytest.raises(FlatlasError, match="there is one of 54 images"):
        measure_stack([replace(solution, kernel=np.eye(54))], SAMPLED)
