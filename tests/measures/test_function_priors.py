"""The prior of a trained net's function: counted, by EP, and by three estimates."""

from dataclasses import replace
from math import log, log10

import numpy as np
import pandas as pd
import pytest
import torch
from solutions import make_solution

from flatlas.gaussian_process.kernels import ArcCosineKernel
from flatlas.gaussian_process.prior import log_prior
from flatlas.measures import measure, orthant
from flatlas.measures.gp_prior import measure_stack, restriction


@pytest.mark.parametrize("learnt", [True, False])
def test_the_expressed_function_is_looked_up(learnt):
    """Its bits are the signs of the logits; the labels may belong to another function."""
    solution = make_solution("biases", outputs=1, images=16)
    w = {name: value[0].numpy() for name, value in solution.parameters.items()}
    a = solution.inputs[0].flatten(1).numpy()
    for layer in ("fc1", "fc2"):
        a = np.maximum(a @ w[f"{layer}.weight"] + w[f"{layer}.bias"], 0)
    expressed = (a @ w["fc3.weight"] + w["fc3.bias"])[:, 0] > 0
    assert 0 < expressed.sum() < 16
    target = expressed ^ (False if learnt else np.arange(16) == 3)
    name, target_name = (
        f"{int(''.join(map(str, bits.astype(int))), 2):04x}" for bits in (expressed, target)
    )
    table = pd.DataFrame({"function": ["0000", target_name], "count": [50, 100], "draws": 2000})
    table = table.assign(probability=table["count"] / 2000, standard_error=0.01)
    given = replace(solution, labels=torch.tensor(target[None]).long(), functions=table)
    (row,) = measure("boolean_prior", given, {})["summary"].to_dict("records")
    found = [row[name] for name in ("count", "probability", "log10_p")]
    assert (row["function"], row["is_target"]) == (name, learnt)
    if learnt:
        assert found == pytest.approx([100, 0.05, log10(0.05)])
        assert (row["draws"], row["standard_error"]) == (2000, 0.01)
    else:
        assert np.isnan(found).all()


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


def test_the_function_may_be_on_the_first_images_of_e_only(solution):
    few = replace(
        solution,
        test_inputs=solution.test_inputs[:, :3],
        test_labels=solution.test_labels[:, :3],
    )
    expected = row_of(few, PROBIT)
    pd.testing.assert_series_equal(row_of(solution, {**PROBIT, "test_images": 3}), expected)
    assert expected["log10_p"] != row_of(solution, PROBIT)["log10_p"]


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
    """Given the exact kernel, the prior is the exact one; given the identity, 55 coin tosses."""
    exact = ArcCosineKernel(2, 2.0, 0.25)(restriction(solution).images.flatten(1)).to_dense()
    expected = {row_of(solution, PROBIT)["log10_p"]: exact.numpy(), -55 * log(2, 10): np.eye(55)}
    for log10_p, kernel in expected.items():
        found = row_of(replace(solution, kernel=kernel), SAMPLED)
        assert found["log10_p"] == pytest.approx(log10_p, rel=1e-9)


SIZES = [1, 10, 40]


@pytest.fixture
def with_equal_images(monkeypatch):
    """The third image is equal to the first one."""
    monkeypatch.setattr(orthant, "SAMPLES", 20_000)
    made = make_solution("he", 1)
    made.inputs[0, 2] = made.inputs[0, 0]
    return made


def estimates(with_equal_images, *sizes, link="probit"):
    return measure("orthant", with_equal_images, {"link": link, "sizes": sizes})["summary"]


@pytest.mark.parametrize("link", ["heaviside", "probit"])
def test_the_estimates_agree(with_equal_images, link):
    table = estimates(with_equal_images, *SIZES, link=link)
    assert table["size"].tolist() == SIZES
    assert table["converged_ep"].all() and table["converged_tilting"].all()
    for row in table.itertuples():
        assert row.standard_error < 0.02
        slack = 4 * row.standard_error + 1e-9
        # A single sign is a coin toss, which EP and tilting know exactly.
        error = 1e-9 if row.size == 1 else 0.1
        assert row.log10_p_ep == pytest.approx(row.log10_p_tilting, abs=slack + error)
        if link == "probit":
            assert row.log10_p_variational <= row.log10_p_tilting + slack
    assert table["log10_p_ep"][0] == pytest.approx(-log(2) / log(10), rel=1e-9)
    assert table["converged_variational"].all() == (link == "probit")
    assert table["log10_p_variational"].isna().all() == (link == "heaviside")


def test_the_estimate_of_all_different_images_is_the_prior(with_equal_images):
    """`gp_prior` merges the equal images."""
    table = estimates(with_equal_images, 64, link="heaviside")
    [expected] = measure_stack([with_equal_images], {"link": "heaviside", "kernel": "arc_cosine"})
    assert table["log10_p_ep"].item() == pytest.approx(
        expected["summary"]["log10_p"].item(), rel=1e-9
    )


def test_few_images_are_from_both_s_and_e_and_drawn_by_the_seed(with_equal_images):
    others = [
        replace(with_equal_images, inputs=with_equal_images.inputs * 0.1),
        replace(with_equal_images, test_inputs=with_equal_images.test_inputs * 0.1),
        replace(with_equal_images, seed=5),
    ]
    values = [estimates(one, 20)["log10_p_ep"].item() for one in (with_equal_images, *others)]
    assert len(set(values)) == 4
