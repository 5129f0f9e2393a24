"""Measures that the library has, too: the same numbers of the same weights as a module."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from every_measure import options_of
from solutions import make_solution, module_of
from torch import nn

import flatlas
from flatlas.hessian.loss import flattened
from flatlas.measures import measure
from flatlas.nets.rescaling import rescaled


def taken(name, solution, **options):
    (row,) = measure(name, solution, options_of(name, **options))["summary"].to_dict("records")
    return row


def by_library(solution, name, **options):
    images, labels = solution.inputs[0], solution.labels[0]
    loss = nn.CrossEntropyLoss()
    if solution.net.outputs == 1:
        loss, labels = nn.BCEWithLogitsLoss(), labels.double().unsqueeze(1)
    data = (images, labels)
    return flatlas.measure(module_of(solution), data, {name: options}, loss=loss)[name]


OUTPUTS = pytest.mark.parametrize("outputs", [1, 3])


@OUTPUTS
def test_the_fisher_rao_norm_is_the_library_s(outputs):
    solution = make_solution("biases", outputs)
    expected = by_library(solution, "gauss_newton", top=1, probes=2).fisher_rao
    assert taken("fisher_rao", solution)["fisher_rao"] == pytest.approx(expected, rel=1e-10)


def test_the_fisher_rao_norm_of_a_net_with_convolutions_is_that_of_its_jacobian():
    solution = make_solution("two_convolutions")
    (w,) = flattened(solution.net, solution.parameters)

    def logits(w):
        parts = w.split([torch.Size(shape).numel() for shape in solution.net.shapes.values()])
        shapes = solution.net.shapes.items()
        named = {name: p.view(1, *s) for (name, s), p in zip(shapes, parts, strict=True)}
        return solution.net.forward(named, solution.inputs)[0]

    along = torch.autograd.functional.jacobian(logits, w) @ w
    p = logits(w).softmax(1)
    variances = (p * along.square()).sum(1) - (p * along).sum(1).square()
    expected = variances.mean().item()
    assert taken("fisher_rao", solution)["fisher_rao"] == pytest.approx(expected, rel=1e-10)


@OUTPUTS
@pytest.mark.parametrize(("layer", "weight"), [("fc1", 1), ("fc2", 3), ("fc3", 5)])
def test_relative_flatness_is_the_library_s(outputs, layer, weight):
    solution = make_solution("biases", outputs)
    found = by_library(solution, "relative_flatness", weight=f"{weight}.weight", probes=400)
    assert found.exact
    row = taken("relative_flatness", solution, layer=layer)
    assert row["relative_flatness"] == pytest.approx(found.flatness.value, rel=1e-10)


@OUTPUTS
@pytest.mark.parametrize("options", [{}, {"p": 2, "radius": 0.1}, {"adaptive": False}])
def test_adaptive_sharpness_is_the_library_s(outputs, options):
    """The search starts only at the centre, because the random starts of the two differ."""
    solution = make_solution("biases", outputs)
    exact = {"p": "infinity", "radius": 0.01, "starts": 1, "steps": 10, **options}
    row = taken("adaptive_sharpness", solution, **exact)
    found = by_library(solution, "adaptive_sharpness", **exact)
    assert row["converged"] == found.worst.converged
    assert row["adaptive_sharpness"] == pytest.approx(found.worst.rise, rel=1e-8)
    assert row["first_order"] == pytest.approx(found.worst.first_order, rel=1e-8)
    error = np.hypot(row["mean_rise_error"], found.mean.standard_error)
    assert abs(row["mean_rise"] - found.mean.value) < 4 * error


@OUTPUTS
def test_pac_bayes_flatness_is_the_library_s(outputs):
    solution = make_solution("biases", outputs)
    row = taken("pac_bayes_flatness", solution, pairs=30)
    found = by_library(solution, "pac_bayes", pairs=30)
    assert row["converged"] and row["residual"] <= 0.01
    for name, sigma in (("sigma", found.sigma), ("sigma_magnitude", found.magnitude_aware)):
        error = np.hypot(row[f"{name}_error"], sigma.sigma.standard_error)
        assert row[f"{name}_error"] < 0.2 * row[name]
        assert abs(row[name] - sigma.sigma.value) < 4 * error


@pytest.mark.parametrize("factor", [5.0, torch.linspace(0.2, 3, 8).double()])
def test_rescaling_changes_only_the_plain_sigma(factor):
    solution = make_solution("biases")
    scaled = rescaled(solution.net, solution.parameters, "fc1", factor)
    before, after = (
        taken("pac_bayes_flatness", one) for one in (solution, replace(solution, parameters=scaled))
    )
    assert after["sigma_magnitude"] == pytest.approx(before["sigma_magnitude"], rel=1e-6)
    assert abs(after["sigma"] / before["sigma"] - 1) > 0.05


def test_the_learning_coefficient_is_the_library_s():
    solution = make_solution("biases")
    row = taken(
        "learning_coefficient", solution, localization=1e4, chains=4, steps=60, burn_in=20, leaps=2
    )
    found = by_library(solution, "learning_coefficient", localization=1e4, steps=120, burn_in=40)
    error = np.hypot(row["learning_coefficient_error"], found.coefficient.standard_error)
    assert abs(row["learning_coefficient"] - found.coefficient.value) < 4 * error
    assert row["loss"] == pytest.approx(found.loss, rel=1e-10)
    assert row["converged"] == (row["verdict"] == "")
    assert row["iterations"] == 4 * (60 + 20) * 2
