"""Weight decay: its gradient against autograd, and weights that nothing else moves."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from short_runs import run, samples, trained

from flatlas.plan.training_specs import Penalty
from flatlas.training.penalty import add_gradient, weight_norms

TERMS = {
    "squared": lambda w: 0.3 * w.square().sum(),
    "unsquared": lambda w: 0.3 * w.square().sum().sqrt(),
    "half_squared": lambda w: 0.15 * w.square().sum(),
}


def stack():
    generator = torch.Generator().manual_seed(0)
    shapes = {"fc1.weight": (2, 4, 3), "fc1.bias": (2, 3), "conv1.weight": (2, 2, 1, 3, 3)}
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


@pytest.mark.parametrize("form", TERMS)
def test_the_gradient_is_that_of_the_term(form):
    parameters = stack()
    leaves = {name: value.clone().requires_grad_() for name, value in parameters.items()}
    for row, norm in enumerate(weight_norms(parameters)):
        w = torch.cat([leaf[row].flatten() for leaf in leaves.values()])
        TERMS[form](w).backward()
        torch.testing.assert_close(norm, w.detach().norm())
    found = {name: torch.ones_like(value) for name, value in parameters.items()}
    add_gradient(Penalty(form=form, coefficient=0.3), parameters, found)
    for name, leaf in leaves.items():
        torch.testing.assert_close(found[name], 1 + leaf.grad)


def test_the_unsquared_gradient_of_zero_weights_is_zero():
    zeros = {name: torch.zeros_like(value) for name, value in stack().items()}
    found = {name: torch.zeros_like(value) for name, value in zeros.items()}
    add_gradient(Penalty(form="unsquared", coefficient=0.3), zeros, found)
    assert not any(value.any() for value in found.values())


BETA, RATE, STEPS = 0.02, 0.5, 2 * 6  # two epochs of six minibatches


@pytest.mark.parametrize(
    ("form", "norm_after"),
    [
        ("squared", lambda norm: norm * (1 - 2 * RATE * BETA) ** STEPS),
        ("half_squared", lambda norm: norm * (1 - RATE * BETA) ** STEPS),
        ("unsquared", lambda norm: norm - RATE * BETA * STEPS),
    ],
)
def test_on_black_images_only_the_penalty_moves_the_weights(tmp_path, form, norm_after):
    """Without biases the gradient of the loss is zero. After `until_epoch` nothing moves."""
    data = samples()
    spec = run(
        net={"family": "dense", "hidden": (5,)},
        optimizer={"name": "sgd", "lr": RATE},
        penalty={"form": form, "coefficient": BETA, "until_epoch": 2},
    )
    black = replace(data, inputs=np.zeros_like(data.inputs))
    norms = trained(spec, black, tmp_path).history.pivot(index="epoch", columns="seed")
    norms = norms["weight_norm"]
    np.testing.assert_allclose(norms.loc[2], norm_after(norms.loc[0]), rtol=1e-5)
    np.testing.assert_array_equal(norms.loc[3], norms.loc[2])
