"""The local regret of minibatches, R/ε = ‖g₂‖ (1 − cos(g₁, g₂)), and the same in a KL-ball.

With an ε-ball in symmetrized KL divergence, ½ ε² ≥ ½ Δwᵀ F Δw, the formula is the same with norms
and angles of gᵀ F⁻¹ g (the post's homework). F is the Fisher matrix of the net's own predictions;
`hessian/fisher.py` explains how its inverse is damped without depending on the parametrization. If
F has full rank on the images, as in all nets with more weights than images, the undamped KL-ball
lets each prediction move independently. Then gradients of minibatches without a common image are
orthogonal in any net, and 1 − cos is 1.
"""

from collections.abc import Mapping
from typing import Any

from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.regret import Regret
from flatlas.hessian.fisher import fisher_of
from flatlas.hessian.loss import (
    MeanLoss,
    flattened,
    unflattened,
    value_and_gradient,
    without_dark_pixels,
)
from flatlas.hessian.natural import NaturalGradients
from flatlas.measures.clean import on_clean
from flatlas.measures.minibatches import minibatches
from flatlas.measures.solution import Solution
from flatlas.measures.under_scaling import under_scaling
from flatlas.nets.loss import predictions


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` has a row for each α-scaling, `kl_ball` one for each of them and each damping.

    Pairs are independent, and so are the two minibatches of a pair. They are drawn from S, because
    the post's distribution has no wrong labels, and F is computed on the same images. `norm` is
    E √tr ggᵀ, and `root_mean_square` is √tr E ggᵀ. Test error and loss identify the net.
    """
    solution = on_clean(solution)
    shape = options["pairs"], 2, options["batch"]
    drawn = minibatches(solution, "regret", shape).flatten(0, 1)
    summaries, balls = [], []
    for factor, scaled in under_scaling(solution, options):
        loss = MeanLoss(scaled.net, scaled.inputs, scaled.labels)
        loss, w = without_dark_pixels(loss, flattened(scaled.net, scaled.parameters))
        _, found = value_and_gradient(loss.on_minibatches(drawn), w.expand(len(drawn), -1))
        gradients = found.unflatten(0, shape[:2])
        regret = Regret.of(gradients, gradients)
        root_mean_square = regret.norms.square().mean().sqrt().item()
        summaries.append(
            {"factor": factor, **regret.summary(), "root_mean_square": root_mean_square}
            | _net(scaled)
        )
        fisher = fisher_of(loss.net, unflattened(loss.net, w), loss.inputs)
        for damping in options["dampings"]:
            row = _ball(gradients, fisher.solve(found, damping))
            balls.append({"factor": factor, "damping": damping, **row})
    return {"summary": DataFrame(summaries), "kl_ball": DataFrame(balls)}


def _ball(gradients: Tensor, natural: NaturalGradients) -> dict[str, float]:
    """A row with the regret in the KL-ball, and how accurately F was inverted."""
    return {
        **Regret.of(gradients, natural.x.view_as(gradients)).summary(),
        "residual": natural.residual,
        "iterations": natural.iterations,
        "converged": natural.converged,
    }


def _net(solution: Solution) -> dict[str, float]:
    """The loss on S with its gradient, and the errors on S and E."""
    loss = MeanLoss(solution.net, solution.inputs, solution.labels)
    value, g = value_and_gradient(loss, flattened(solution.net, solution.parameters))
    return {
        "loss": value.item(),
        "gradient_norm": g.norm().item(),
        "train_error": _error_rate(solution, solution.inputs, solution.labels),
        "test_error": _error_rate(solution, solution.test_inputs, solution.test_labels),
    }


def _error_rate(solution: Solution, inputs: Tensor, labels: Tensor) -> float:
    return (predictions(solution.logits(inputs)) != labels).double().mean().item()
