"""A solution scaled as a whole, w → c w: loss and Hessian, measured and predicted.

A ReLU net of L layers without biases is homogeneous: its logits are z(cw) = c^L z(w), and their
Jacobian is J(cw) = c^(L−1) J(w). (With one layer there may be biases, which count as weights of an
input that is 1.) If z_a is the largest logit of an image, the odds of another class b are

    o_b = e^(−c^L (z_a − z_b)),

which vanish as c → ∞, exponentially in c^L times the margin z_a − z_b. The curvature of the
cross-entropy in the logits, diag(p) − p pᵀ, is Σ_b o_b (e_a − e_b)(e_a − e_b)ᵀ to first order in
them, and the mean over images of

    c^(2L−2) Σ_b o_b (J_a − J_b)ᵀ (J_a − J_b)

is the limit of the Gauss-Newton part of the Hessian. For a correctly classified image the other
part, Σ (p − y) ∇∇z, goes as c^(L−2) times the same odds, and so is smaller by c^L; it adds nothing
to the trace of a ReLU net. The loss is Σ_b o_b to the same order, plus c^L (z_a − z_y) for a
misclassified image. For such an image the second part of the Hessian keeps growing, so the
prediction of the Hessian is only for nets without misclassified images.

The odds vanish faster than the powers of c grow, so trace, Frobenius and spectral norm all go to 0
as the weights grow. The prediction uses only the weights at c = 1.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.flatness.margin import margin
from flatlas.hessian import DenseHessian
from flatlas.hessian.lanczos import Spectrum
from flatlas.hessian.loss import flattened
from flatlas.hessian.norms import Norms, norms
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` has a row for each c of the `factors`; `<column>_predicted` is the limit c → ∞.

    `least_margin` is the least z_y − z_b at c = 1, negative where an image is `misclassified`.
    """
    solution = on_clean(solution)
    logits = solution.net.forward(solution.parameters, solution.inputs).squeeze(0)
    margins = margin(logits, solution.labels.squeeze(0))
    facts = {
        "least_margin": margins.min().item(),
        "misclassified": int((margins <= 0).sum()),
    }
    rows = [{**_at(solution, logits, factor, options), **facts} for factor in options["factors"]]
    return {"summary": DataFrame(rows)}


def _at(
    solution: Solution, logits: Tensor, factor: float, options: Mapping[str, Any]
) -> dict[str, float | int | bool]:
    net, images = solution.net, (solution.inputs, solution.labels)
    depth = len(net.dense_layers)
    scaled = {name: factor * value for name, value in solution.parameters.items()}
    measured = _norms(solution, DenseHessian.of(net, scaled, *images), options)
    root = partial(limit_root, power=factor**depth)
    limit = DenseHessian.gauss_newton(net, solution.parameters, solution.inputs, root)
    predicted, power = _norms(solution, limit, options), factor ** (2 * depth - 2)
    (w,) = flattened(net, scaled)
    scaled_logits = net.forward(scaled, solution.inputs).squeeze(0)
    return {
        "factor": factor,
        "depth": depth,
        "weight_norm": w.norm().item(),
        "loss": _loss(scaled_logits, solution.labels.squeeze(0)),
        "loss_predicted": _limit_loss(logits, solution.labels.squeeze(0), factor**depth),
        "spectral_norm": measured.spectrum.norm,
        "spectral_norm_predicted": power * predicted.spectrum.norm,
        "trace": measured.trace.value,
        "trace_predicted": power * predicted.trace.value,
        "frobenius": measured.frobenius.value,
        "frobenius_error": measured.frobenius.standard_error,
        "frobenius_predicted": power * predicted.frobenius.value,
        "residual": measured.spectrum.norm_residual,
        "iterations": measured.spectrum.iterations,
        "converged": all(_found(one.spectrum, options) for one in (measured, predicted)),
    }


def _norms(solution: Solution, hessian: DenseHessian, options: Mapping[str, Any]) -> Norms:
    """The norms, with the same probes every time: most of the noise cancels in a ratio of two.

    The search is for the largest eigenvalue; a few more allow it more steps.
    """
    random = solution.generator("norm scaling")
    return norms(hessian, options["top"], options["probes"], random, options["tolerance"])


def _found(spectrum: Spectrum, options: Mapping[str, Any]) -> bool:
    """Whether the search has found the spectral norm; nothing else is needed."""
    return spectrum.norm_residual <= options["tolerance"] * spectrum.norm


def _loss(logits: Tensor, labels: Tensor) -> float:
    """The mean cross-entropy; it stays above 0 even far below the round-off of 1."""
    own = logits.gather(1, labels.unsqueeze(1))
    others = (logits - own).scatter(1, labels.unsqueeze(1), -torch.inf)
    log_odds = others.logsumexp(1)
    return torch.logaddexp(log_odds, torch.zeros_like(log_odds)).mean().item()


def _odds(logits: Tensor, power: float) -> Tensor:
    """o_b (images, outputs), with 0 for the class of the largest logit."""
    largest = logits.argmax(1, keepdim=True)
    odds = (power * (logits - logits.gather(1, largest))).exp()
    return odds.scatter(1, largest, 0.0)


def limit_root(logits: Tensor, power: float) -> Tensor:
    """R (outputs, images, outputs) with RᵀR = Σ_b o_b (e_a − e_b)(e_a − e_b)ᵀ over the images."""
    images, outputs = logits.shape
    one = torch.eye(outputs, dtype=logits.dtype, device=logits.device)
    differences = one[logits.argmax(1)] - one.unsqueeze(1)
    return (_odds(logits, power) / images).sqrt().T.unsqueeze(2) * differences


def _limit_loss(logits: Tensor, labels: Tensor, power: float) -> float:
    own = logits.gather(1, labels.unsqueeze(1)).squeeze(1)
    losses = power * (logits.amax(1) - own) + _odds(logits, power).sum(1)
    return losses.mean().item()
