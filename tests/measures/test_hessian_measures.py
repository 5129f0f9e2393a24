"""Measures of a net's Hessian against automatic differentiation of the whole matrix, on S."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from solutions import SHAPE, losses_of, make_solution, whole_hessian
from torch import nn

from flatlas.hessian import norms
from flatlas.measures import measure, measure_each
from flatlas.nets.modules import ModuleNet

HESSIAN = {"top": 10, "tolerance": 1e-8, "probes": 50}


def attacked(net, outputs=3):
    """A solution with an attack set, and L, w and the whole Hessian over S."""
    solution = make_solution(net, outputs)
    solution.clean[0, ::4] = False
    return solution, *whole_hessian(solution, solution.clean[0])


def summary(solution, **options):
    (row,) = measure("hessian", solution, HESSIAN | options)["summary"].to_dict("records")
    return row


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_dense_net(outputs):
    solution, loss, w, matrix = attacked("biases", outputs)
    tables = measure("hessian", solution, HESSIAN)
    (row,), table = tables["summary"].to_dict("records"), tables["eigenvalues"]
    eigenvalues = torch.linalg.eigvalsh(matrix).flip(0)
    assert table["rank"].tolist() == list(range(1, 11))
    assert table["eigenvalue"].tolist() == pytest.approx(eigenvalues[:10].tolist())
    expected = {
        "spectral_norm": eigenvalues.abs().max().item(),
        "log10_product": eigenvalues[:10].log10().sum().item(),
        "trace": matrix.trace().item(),
        "frobenius": matrix.norm().item(),
        "loss": loss(w).item(),
        "gradient_norm": torch.func.grad(loss)(w).norm().item(),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert row["trace_error"] == row["frobenius_error"] == 0
    assert row["positive"] == 10
    assert row["converged"]
    assert row["residual"] == table["residual"].max() <= 1e-8 * row["spectral_norm"]


def test_without_a_closed_form_trace_and_norm_are_estimates():
    """In single precision the estimates are the same to a ten thousandth."""
    solution, *_, matrix = attacked("convolutional")
    row = summary(solution)
    assert row["spectral_norm"] == pytest.approx(torch.linalg.norm(matrix, 2).item(), rel=1e-9)
    for name, exact in (("trace", matrix.trace()), ("frobenius", matrix.norm())):
        assert 0 < abs(row[name] - exact) < 3 * row[f"{name}_error"] < matrix.norm()
    single = summary(solution, tolerance=1e-4, precision="float32")
    assert single["loss"] == row["loss"]
    for name in ("spectral_norm", "trace", "frobenius"):
        assert single[name] != row[name]
        assert single[name] == pytest.approx(row[name], rel=2e-4)


def test_the_norm_of_very_many_images_is_an_estimate(monkeypatch):
    solution = make_solution("biases")
    exact = summary(solution)
    monkeypatch.setattr(norms, "EXACT", 40 * 3 - 1)
    row = summary(solution)
    assert row["trace"] == exact["trace"]
    assert 0 < abs(row["frobenius"] - exact["frobenius"]) < 3 * row["frobenius_error"]


def test_only_positive_eigenvalues_are_in_the_product():
    """Two images and one output: two directions curve, and the residual term adds its pairs."""
    solution = make_solution("biases", 1, images=2)
    row = summary(solution, top=60)
    eigenvalues = torch.linalg.eigvalsh(whole_hessian(solution)[2])
    positive = eigenvalues[eigenvalues > 1e-13 * eigenvalues.abs().max()]
    assert 2 <= len(positive) < 60
    assert row["positive"] == len(positive)
    assert row["log10_product"] == pytest.approx(positive.log10().sum().item(), rel=1e-6)


DENSITY = {"top": 30, "tolerance": 1e-8, "probes": 40, "steps": 40, "width": 0.02}


def test_the_summary_is_that_of_the_whole_hessian_and_the_density_integrates_to_one():
    solution = make_solution("biases")
    tables = measure("spectral_density", solution, DENSITY)
    (row,), density = tables["summary"].to_dict("records"), tables["density"]
    *_, matrix = whole_hessian(solution)
    eigenvalues = torch.linalg.eigvalsh(matrix)
    assert row["size"] == len(matrix)
    assert row["spectral_norm"] == pytest.approx(eigenvalues.abs().max().item(), rel=1e-9)
    assert row["lowest"] == pytest.approx(eigenvalues.min().item(), rel=1e-6)
    assert row["width"] == pytest.approx(0.02 * row["spectral_norm"])
    for name, exact in (("trace", matrix.trace()), ("frobenius", matrix.norm())):
        assert 0 < abs(row[name] - exact) < 3 * row[f"{name}_error"] < 0.5 * exact
    near = (eigenvalues.abs() <= 0.01 * row["spectral_norm"]).double().mean().item()
    assert abs(row["bulk"] - near) < 3 * row["bulk_error"]
    assert row["edge"] == pytest.approx(6 * eigenvalues.std(correction=0).item(), rel=0.2)
    assert row["outliers"] == (eigenvalues > row["edge"]).sum()
    assert row["converged"]
    area = np.trapezoid(density["density"], density["eigenvalue"])
    assert area == pytest.approx(1, abs=1e-6)


def test_there_may_be_more_outliers_than_eigenvalues_asked_for():
    found = measure("spectral_density", make_solution("biases"), DENSITY | {"top": 1, "probes": 4})
    assert found["summary"]["outliers"].item() == 1
    assert not found["summary"]["converged"].item()


SHARPNESS = {"by": "corners", "box": 1e-3, "epochs": 20}


def module():
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, stride=2),
        nn.BatchNorm2d(3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(12, 3),
    )


@pytest.fixture
def solutions():
    """Two moments of one net with batch norm, each with the statistics of its weights."""
    given = make_solution("one_hidden")
    net = ModuleNet(module, SHAPE, 3)
    made = []
    for seed in (0, 1):
        generator = torch.Generator().manual_seed(seed)
        weights = {
            name: torch.randn((1, *shape), generator=generator, dtype=torch.float64)
            for name, shape in net.shapes.items()
        }
        seeing = net.seeing(net.statistics(weights, given.inputs[0], given.clean[0]))
        made.append(replace(given, net=seeing, parameters=weights, learners=weights))
    return made


def test_the_duality_of_the_last_layer_is_exact(solutions):
    options = {"layer": "fc", "directions": "hessian", "sharp": 4}
    tables = measure("duality", solutions[0], options)
    summary = tables["summary"].iloc[0]
    assert len(tables["directions"]) == 36
    assert summary["sum_rule_residual"] < 1e-10
    weights = torch.cat([one.flatten() for one in solutions[0].parameters.values()])
    assert summary["weight_norm"] == pytest.approx(weights.norm().item())


def test_the_hessian_covers_all_parameters_and_no_statistics(solutions):
    solution = solutions[0]
    eigenvalues = torch.linalg.eigvalsh(whole_hessian(solution)[2])
    found = measure("hessian", solution, {"top": 3, "probes": 2, "tolerance": 1e-8})
    summary = found["summary"].iloc[0]
    assert summary["spectral_norm"] == pytest.approx(eigenvalues.abs().max().item(), rel=1e-8)
    top = found["eigenvalues"]["eigenvalue"].to_numpy()
    assert top == pytest.approx(eigenvalues.flip(0)[:3].numpy(), rel=1e-6)
    assert summary["loss"] == pytest.approx(losses_of(solution).mean().item())


def test_moments_with_separate_statistics_are_measured_one_by_one(solutions):
    together = measure_each("sharpness", solutions, SHARPNESS)
    for solution, tables in zip(solutions, together, strict=True):
        found, alone = tables["summary"], measure("sharpness", solution, SHARPNESS)["summary"]
        assert found["loss"].item() == pytest.approx(losses_of(solution).mean().item())
        assert found["sharpness"].item() == alone["sharpness"].item()
