"""The initial weights of a training: drawn, or from the solution of another run."""

from collections.abc import Mapping

import numpy as np
import torch

from flatlas.errors import FlatlasError
from flatlas.layer_names import FEATURES
from flatlas.nets import build_net
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Parameters
from flatlas.plan.training_specs import RunSpec
from flatlas.training.kept_weights import FINAL


def initial_weights(
    spec: RunSpec, net: LayeredNet, found: Mapping[str, np.ndarray] | None
) -> Parameters:
    """Initial weights, a row per realization; `found` has the weights of the run in `spec.start`.

    Fresh layers of each start have their own stream: that of an earlier run in the chain would give
    the same weights again.
    """
    if spec.start is None:
        if not net.trained:
            net.refuse_drawn()
        return net.initial(spec.seeds)
    if FEATURES in spec.start.fresh:
        net.refuse_drawn()
    rows = [spec.start.run.seeds.index(seed) for seed in spec.seeds]
    links = starts(spec)
    purpose = "fresh weights" + (f" of start {links}" if links > 1 else "")
    fresh = _without_file(spec, net).initial(spec.seeds, purpose) if spec.start.fresh else {}
    return {
        name: fresh[name]
        if layer_of(name) in spec.start.fresh
        else torch.from_numpy(_of_run(found, name, len(spec.start.run.seeds), shape)[rows])
        for name, shape in net.shapes.items()
    }


def _without_file(spec: RunSpec, net: LayeredNet) -> LayeredNet:
    """The net, which draws all its weights: those of a file are not fresh."""
    if not net.trained:
        return net
    drawn = spec.net.model_copy(update={"weights": None})
    return build_net(drawn, spec.input_shape, spec.outputs)


def starts(spec: RunSpec) -> int:
    """The number of earlier trainings in the chain that this one continues."""
    return 0 if spec.start is None else 1 + starts(spec.start.run)


def layer_of(parameter: str) -> str:
    """'fc1' of 'fc1.weight', 'features' of 'features.conv1.weight'."""
    return parameter.partition(".")[0]


def _of_run(
    found: Mapping[str, np.ndarray] | None, name: str, members: int, shape: tuple[int, ...]
) -> np.ndarray:
    array = (found or {}).get(f"{FINAL}/{name}")
    if array is None or array.shape != (members, *shape):
        given = "is missing" if array is None else f"has shape {array.shape}"
        raise FlatlasError(
            f"'{FINAL}/{name}' {given} in the weights to start from, but {members} realizations of "
            f"this net need shape {(members, *shape)}. Give the weights of the run in start.run."
        )
    return array
