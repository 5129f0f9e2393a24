"""Measures of a net with batch norm: of its last layer, and of all its weights."""

from dataclasses import replace

import pytest
import torch
from solutions import SHAPE, losses_of, make_solution, whole_hessian
from torch import nn

from flatlas.measures import measure, measure_each
from flatlas.nets.modules import ModuleNet

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
