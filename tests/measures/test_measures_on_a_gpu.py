"""A measure on a GPU: what the CPU finds, up to rounding, and twice the same bytes."""

from dataclasses import fields, replace

import numpy as np
import pytest
from every_measure import options_of, solution_for
from solutions import make_solution
from torch import Tensor, nn

from flatlas.measures import measure, orthant, regret_slice
from flatlas.nets.modules import ModuleNet
from flatlas.plan.measure_specs import MEASURES

pytestmark = pytest.mark.gpu

# A net with batch norm, as the large ones that request a GPU have it.
NORMED = {
    "hessian": {"top": 3, "probes": 2},
    "sharpness": {"box": 1e-3, "batch": 8, "epochs": 3},
    "gp_prior": {"kernel": "monte_carlo"},
}


def on(device, solution):
    """The same solution on a device."""

    def there(value):
        if isinstance(value, dict):
            return {name: there(one) for name, one in value.items()}
        return value.to(device) if isinstance(value, Tensor) else value

    return replace(solution, **{f.name: there(getattr(solution, f.name)) for f in fields(solution)})


def comparable(table):
    """The sizes of the numbers in order: the solver chooses the eigenvectors' signs.

    With them it chooses which side of a valley is left, and the order of directions without
    curvature. Residuals are round-off.
    """
    numbers = table.select_dtypes(float).filter(regex="^(?!.*residual)")
    if "left" in numbers:
        both = numbers[["left", "right"]].abs()
        numbers = numbers.assign(left=both.min(axis=1), right=both.max(axis=1))
    return {column: np.sort(numbers[column].abs()) for column in numbers}


def assert_the_gpu_agrees(cuda, name, solution, options):
    """Random numbers on a GPU differ: what another seed does not change must be the same."""
    expected, other = (measure(name, replace(solution, seed=s), options) for s in (0, 1))
    found, again = (measure(name, on(cuda, solution), options) for _ in range(2))
    for table, rows in expected.items():
        assert again[table].equals(found[table])
        assert len(found[table]) == len(rows)
        ours, seeded = (comparable(one[table]) for one in (found, other))
        for column, theirs in comparable(rows).items():
            if np.allclose(theirs, seeded[column], rtol=1e-9, equal_nan=True):
                least = 1e-9 * np.nanmax(theirs, initial=0)
                np.testing.assert_allclose(
                    ours[column], theirs, rtol=1e-5, atol=least, err_msg=column
                )


@pytest.mark.parametrize("name", MEASURES)
def test_a_gpu_finds_what_the_cpu_finds(monkeypatch, cuda, name):
    monkeypatch.setattr(orthant, "SAMPLES", 1000)
    monkeypatch.setattr(regret_slice, "POINTS", 3)
    assert_the_gpu_agrees(cuda, name, solution_for(name), options_of(name))


class Recurrent(nn.Module):
    """cuDNN has no derivatives of its layer in evaluation mode."""

    def __init__(self):
        super().__init__()
        self.rows, self.last = nn.GRU(6, 4, batch_first=True), nn.Linear(4, 3)

    def forward(self, images):
        return self.last(self.rows(images[:, 0])[0][:, -1])


def test_a_gpu_finds_it_for_a_recurrent_net(cuda):
    solution = make_solution("one_hidden")
    net = ModuleNet(Recurrent, (1, 6, 6), 3)
    weights = {name: value.double() for name, value in net.initial([0]).items()}
    there = replace(solution, net=net, parameters=weights, learners=weights)
    assert_the_gpu_agrees(cuda, "hessian", there, options_of("hessian", top=3))


@pytest.mark.parametrize("name", NORMED)
def test_a_gpu_finds_it_for_a_net_with_batch_norm(cuda, name):
    outputs = 1 if name == "gp_prior" else 3
    solution = make_solution("residual", outputs, images=12, shape=(1, 8, 8))
    if name == "gp_prior":
        solution = replace(solution, kernel=np.eye(37) + 0.5)
    assert_the_gpu_agrees(cuda, name, solution, options_of(name, **NORMED[name]))
