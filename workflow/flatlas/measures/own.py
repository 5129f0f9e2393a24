"""The measures as a library: for a trained torch module, without a plan or Snakemake."""

from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.measures import measure
from flatlas.measures.duration import announce
from flatlas.measures.refusals import (
    refuse_beyond_memory,
    refuse_images,
    refuse_labels,
    refuse_other_shape,
)
from flatlas.measures.solution import Solution
from flatlas.models.copies import copied
from flatlas.nets.modules import ModuleNet
from flatlas.nets.precision import keep_eps
from flatlas.nets.refusals import refuse_without_values
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.mistakes import validated
from flatlas.plan.trees import dotted


def solution_of(
    module: nn.Module, images: Tensor, labels: Tensor, test_images: Tensor, test_labels: Tensor
) -> Solution:
    """A `Solution` from a module that ends with an nn.Linear, and its images.

    Images are (count, channels, height, width). Everything is evaluated in float64 on the images'
    device, in evaluation mode, with batch-norm statistics recomputed from `images`. A measure draws
    its random numbers with seed 0.
    """
    if not isinstance(module, nn.Module):
        raise FlatlasError(f"module is of type {type(module).__name__}. Allowed: an nn.Module.")
    refuse_without_values([*module.named_parameters(), *module.named_buffers()], "module")
    refuse_images(images, "images")
    refuse_images(test_images, "test_images")
    refuse_other_shape(test_images, images)
    dense = [part for part in module.modules() if isinstance(part, nn.Linear)]
    if not dense:
        raise FlatlasError(
            f"module, a {type(module).__name__}, has no nn.Linear, but its last layer must be one. "
            "Wrap it in an nn.Sequential that ends with the dense layer of its outputs."
        )
    channels, height, width = images.shape[1:]
    shape = (channels, height, width)
    outputs = dense[-1].out_features
    refuse_labels(labels, "labels", images, outputs)
    refuse_labels(test_labels, "test_labels", test_images, outputs)
    seed = 0
    net = ModuleNet(lambda: _in_float64(module), shape, outputs, trained=True)
    inputs = images.detach().double().unsqueeze(0)
    parameters = {name: value.to(inputs) for name, value in net.initial([seed]).items()}
    clean = torch.ones(1, len(images), dtype=torch.bool, device=images.device)
    return Solution(
        net=net.seeing(net.statistics(parameters, inputs[0], clean[0])),
        seed=seed,
        parameters=parameters,
        learners=parameters,
        inputs=inputs,
        labels=labels.to(images.device, torch.long).unsqueeze(0),
        clean=clean,
        test_inputs=test_images.detach().to(inputs).unsqueeze(0),
        test_labels=test_labels.to(images.device, torch.long).unsqueeze(0),
    )


def _in_float64(module: nn.Module) -> nn.Module:
    """A copy in float64 on the CPU, with the eps of its own precision."""
    made = copied(module, "module")
    keep_eps(made)
    return made.cpu().double()


def take(
    name: str, solution: Solution, *, memory_gb: float | None = None, **options: Any
) -> dict[str, DataFrame]:
    """The tables of one measure; its options are the same as in a study, without `at`.

    A measure that may need more memory than the machine has is refused. The estimate is an upper
    bound; `memory_gb` is the limit to use in place of the machine's memory.
    """
    if not isinstance(solution, Solution):
        raise FlatlasError(
            f"take(name, solution): solution is of type {type(solution).__name__}. Allowed: the "
            "result of solution_of(module, images, labels, test_images, test_labels)."
        )
    known = [one for one, declared in MEASURES.items() if declared.of_any_module]
    if name not in known:
        what = "needs more than a module and its images" if name in MEASURES else "is not a measure"
        near = nearest(str(name), known)
        raise FlatlasError(f"'{name}' {what}. Allowed: {', '.join(known)}.{near}")
    if "at" in options:
        raise FlatlasError(
            f"take('{name}'): 'at' selects moments of a training, but a solution is one net. "
            "Leave 'at' out."
        )
    asked = {"measure": name, **options}
    where = f"take('{name}')"
    chosen = validated(MEASURES[name], asked, lambda at: f"{where}: {dotted(at)}" if at else where)
    refuse_beyond_memory(chosen, solution, memory_gb)
    with torch.enable_grad():
        announce(chosen, solution)
        return measure(name, solution, chosen.resolved())
