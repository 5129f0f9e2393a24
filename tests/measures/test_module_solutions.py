"""Measures of a net with batch norm: of its last layer, and of all its weights."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from flatlas.hessian.loss import MeanLoss, flattened
from flatlas.measures import measure, measure_each
from flatlas.nets.modules import ModuleNet

SHAPE, OUTPUTS = (1, 6, 6), 3
SHARPNESS = {"by": "corners", "box": 1e-3, "epochs": 20}


def module():
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, stride=2),
        nn.BatchNorm2d(3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(12, OUTPUTS),
    )


@pytest.fixture
def solutions(make_solution):
    """Two moments of one net with batch norm, each with the statistics of its own weights."""
    given = make_solution("one_hidden")
    net = ModuleNet(module, SHAPE, OUTPUTS)
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


def test_the_hessian_is_in_all_parameters_and_no_statistics(solutions):
    solution = solutions[0]
    (w,) = flattened(solution.net, solution.parameters)
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    whole = torch.autograd.functional.hessian(loss, w)
    eigenvalues = torch.linalg.eigvalsh(whole)
    found = measure("hessian", solution, {"top": 3, "probes": 2, "tolerance": 1e-8})
    summary = found["summary"].iloc[0]
    assert summary["spectral_norm"] == pytest.approx(eigenvalues.abs().max().item(), rel=1e-8)
    top = found["eigenvalues"]["eigenvalue"].to_numpy()
    assert top == pytest.approx(eigenvalues.flip(0)[:3].numpy(), rel=1e-6)
    assert summary["loss"] == pytest.approx(loss(w).item())


def test_moments_with_their_own_statistics_are_measured_each_by_itself(solutions):
    together = list(measure_each("sharpness", solutions, SHARPNESS))
    for solution, tables in zip(solutions, together, strict=True):
        alone = measure("sharpness", solution, SHARPNESS)["summary"]
        (w,) = flattened(solution.net, solution.parameters)
        loss = MeanLoss(solution.net, solution.inputs, solution.labels)(w).item()
        assert tables["summary"]["loss"].item() == pytest.approx(loss)
        assert tables["summary"]["sharpness"].item() == alone["sharpness"].item()
