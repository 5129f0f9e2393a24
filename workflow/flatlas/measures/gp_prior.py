"""log P(f), the prior probability of the function that a net has found (§2.2, App. D)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.gaussian_process.duplicates import first_of_equals
from flatlas.gaussian_process.kernels import arc_cosine_kernel
from flatlas.gaussian_process.prior import LogPrior, log_prior
from flatlas.measures.clean import on_clean
from flatlas.measures.solution import Solution
from flatlas.nets.loss import predictions


@dataclass(frozen=True)
class Restriction:
    """The images that define a function: S, the clean training images, then E, test images."""

    images: Tensor
    labels: Tensor
    training: int


def measure_stack(
    solutions: Sequence[Solution], options: Mapping[str, Any]
) -> list[dict[str, DataFrame]]:
    """`summary` is one row with log10 P(f) and how it was found; solutions of one seed share K.

    f is what the net predicts on S and E, right or wrong. With the hard sign, equal images are
    merged into `points` different ones; if the net gives equal images different labels, P(f) = 0.
    """
    seen = restriction(solutions[0], options.get("test_images"))
    functions = torch.stack([function(solution, seen) for solution in solutions])
    priors = log_prior(
        kernel_matrix(solutions[0], seen, options["kernel"]),
        functions,
        options["link"],
        first_of_equals(seen.images),
    )
    wrong = (functions != seen.labels).double()
    return [
        {"summary": DataFrame([{**_row(prior), **_errors(errors, seen.training)}])}
        for prior, errors in zip(priors, wrong, strict=True)
    ]


def restriction(solution: Solution, test_images: int | None = None) -> Restriction:
    """S and E of a solution, or S and the first `test_images` of E."""
    trained = on_clean(solution)
    return Restriction(
        torch.cat([trained.inputs[0], solution.test_inputs[0][:test_images]]),
        torch.cat([trained.labels[0], solution.test_labels[0][:test_images]]),
        training=trained.labels.shape[1],
    )


def function(solution: Solution, seen: Restriction) -> Tensor:
    """f: the thresholded outputs of a net with one output."""
    net = solution.net
    if net.outputs != 1:
        raise FlatlasError(
            f"the prior is defined for functions with two values, but the net has {net.outputs} "
            "outputs: give it one output and a binary task."
        )
    return predictions(solution.logits(seen.images.unsqueeze(0))).squeeze(0)


def kernel_matrix(solution: Solution, seen: Restriction, kernel: str) -> Tensor:
    """K for the net's architecture and initialization, in closed form or sampled."""
    if kernel == "arc_cosine":
        exact: Tensor = arc_cosine_kernel(solution.net)(seen.images.flatten(1)).to_dense()
        return exact
    sampled = solution.kernel
    if sampled is None or len(sampled) != len(seen.images):
        found = "none was sampled" if sampled is None else f"the sampled one has {len(sampled)}"
        raise FlatlasError(
            f"the kernel 'monte_carlo' must cover the {len(seen.images)} images of S and E, but "
            f"{found}: give the kernel of the subset that the net was trained on."
        )
    return torch.tensor(sampled, device=seen.images.device)


def _row(prior: LogPrior) -> dict[str, float | str]:
    """`contradictions` are pairs of images, by their positions in S and then E: '3=17, 4=20'."""
    evidence = prior.evidence
    return {
        "log10_p": evidence.log_z / log(10),
        "points": prior.points,
        "merged": prior.merged,
        "contradictions": ", ".join(f"{one}={other}" for one, other in prior.contradictions),
        "sweeps": evidence.sweeps,
        "residual": evidence.residual,
        "converged": evidence.converged,
        "jitter": evidence.jitter,
        "damping": evidence.damping,
    }


def _errors(wrong: Tensor, training: int) -> dict[str, float]:
    """|S|, and the errors on S and on E."""
    return {
        "train_size": training,
        "train_error": wrong[:training].mean().item(),
        "test_error": wrong[training:].mean().item(),
    }
