"""PAC-Bayes flatness: how large Gaussian perturbations of the weights may be, and a bound."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from flatlas.flatness.pac_bayes import Bound, Perturbations, Tolerated, bound, tolerated
from flatlas.library.checkpoint import Checkpoint, weights_at
from flatlas.library.classes import margins
from flatlas.library.defined import Undefined, where_defined
from flatlas.library.found import Quantity
from flatlas.library.problem import Problem
from flatlas.models.objective import Objective
from flatlas.plan.bounds import AtLeastTwo, Positive
from flatlas.plan.measurements.flatness import PacBayesFlatness

# The workflow's defaults.
DECLARED = PacBayesFlatness(measure="pac_bayes_flatness")


@dataclass(frozen=True)
class PacBayes:
    """The standard deviations σ at which the mean loss at w + σu, or at w + σ|w|u, has risen.

    They are `sigma` and `magnitude_aware`. `bound` is the bound on the classification error, with
    the `prior` at zero or at the initial weights; None without class labels, or if w lacks
    parameters of the model and there is no `initial`.
    """

    sigma: Tolerated
    magnitude_aware: Tolerated
    bound: Bound | None
    prior: Literal["zero", "initial"]

    def quantities(self) -> Mapping[str, Quantity]:
        """Both σ, and the bound with the prior's centre in its name."""
        both = {"sigma": self.sigma, "sigma_magnitude_aware": self.magnitude_aware}
        found = {name: Quantity.of(one.sigma, one.converged) for name, one in both.items()}
        if self.bound is not None:
            name = f"error_bound_from_{self.prior}"
            found[name] = Quantity.of(self.bound.error, self.sigma.converged)
        return found


def measure(
    problem: Problem,
    *,
    rise: Positive = DECLARED.rise,
    # A standard error takes two pairs.
    pairs: AtLeastTwo = DECLARED.pairs,
    tolerance: Positive = DECLARED.tolerance,
    initial: Checkpoint | None = None,
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95,
) -> PacBayes:
    """σ for a `rise` of the loss on the training data, with `pairs` of opposite perturbations.

    The rise at σ may differ from the wanted one by a relative `tolerance`. The bound on the
    classification error holds with the given `confidence` if the prior is independent of the data:
    its centre is `initial`, a state_dict or a model, by default zero. Parameters that are not
    chosen must equal those of `initial`; without it all must be chosen, or the bound is left out.
    Statistics of batch norm count as given.
    """
    objective = problem.training
    start = None if initial is None else weights_at(initial, objective, "initial")
    ones, random = torch.ones_like(objective.w), problem.generator("pac_bayes")
    plain = Perturbations(ones, pairs, random)
    found = tolerated(objective, plain, rise, tolerance)
    examples = sum(batch.examples for batch in objective.batches)

    def error(w: Tensor) -> float:
        return _error(objective, w)

    def bounded() -> Bound:
        _refuse_other_weights(objective, initial)
        prior = torch.zeros_like(objective.w) if start is None else start
        return bound(error, objective.w, prior, found.sigma.value, plain, examples, confidence)

    return PacBayes(
        sigma=found,
        magnitude_aware=tolerated(
            objective, Perturbations(objective.w.abs(), pairs, random), rise, tolerance
        ),
        # Initial weights serve only the bound, so giving them requests it.
        bound=where_defined(None if initial is None else True, bounded),
        prior="zero" if initial is None else "initial",
    )


def check(problem: Problem, *, initial: Checkpoint | None, **_: Any) -> None:
    """Raise an error if the bound from `initial` is undefined, or is that of another model."""
    if initial is not None:
        weights_at(initial, problem.training, "initial")
        _refuse_other_weights(problem.training, initial)
        _error(problem.training, problem.training.w)


def _refuse_other_weights(objective: Objective, initial: Checkpoint | None) -> None:
    """Raise an error if training may have changed weights that w and the divergence lack."""
    for name in dict(objective.model.named_parameters()).keys() - objective.shapes.keys():
        alone = objective.of_parameter(name)
        if initial is None:
            raise Undefined(f"the bound needs all parameters, but '{name}' is not chosen.")
        if not torch.equal(
            weights_at(initial, alone, "initial").to(objective.dtype), alone.w.to(objective.dtype)
        ):
            raise Undefined(
                f"the bound needs all parameters that differ from initial, but '{name}' is not "
                "chosen."
            )


def _error(objective: Objective, w: Tensor) -> float:
    """The share of examples in the wrong class; a tie is wrong, and so is NaN."""
    won, examples = margins(objective, w), sum(batch.examples for batch in objective.batches)
    if len(won) != examples:
        raise Undefined(
            f"the bound needs one class label for each example, but {examples} examples have "
            f"{len(won)} labels."
        )
    return (~(won > 0)).double().mean().item()
