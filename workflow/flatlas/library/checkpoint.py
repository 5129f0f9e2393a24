"""The weights in a user's checkpoint: the same model at another time."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from pydantic import InstanceOf
from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.models.objective import Objective
from flatlas.models.prepared import unwrapped
from flatlas.models.tensors import described, exact, flat

# A model, or its state dictionary, whose values need not all be tensors.
Checkpoint = InstanceOf[nn.Module] | Mapping[str, Any]


def weights_at(checkpoint: Any, objective: Objective, name: str) -> Tensor:
    """The checkpoint's values of the parameters in w, as one vector; errors call it `name`."""
    given = checkpoint
    if isinstance(checkpoint, nn.Module):
        given = unwrapped(checkpoint).state_dict()
    if not isinstance(given, Mapping):
        raise FlatlasError(
            f"{name} is a {type(given).__name__}. Allowed: a model, or its state dictionary."
        )
    for key, shape in objective.shapes.items():
        if key not in given:
            raise FlatlasError(f"{name} has no '{key}'.{nearest(key, given)}")
        if not isinstance(given[key], Tensor):
            raise FlatlasError(f"'{key}' is {described(given[key])} in {name}. Allowed: a tensor.")
        if given[key].shape != shape:
            raise FlatlasError(
                f"'{key}' has the shape {tuple(given[key].shape)} in {name}, but {tuple(shape)} in "
                "the model. Allowed: the same model at another time."
            )
        if not given[key].isfinite().all():
            raise FlatlasError(f"'{key}' has NaN or infinite weights in {name}: leave {name} out.")
    return flat(exact(given[key].detach()).to(objective.w) for key in objective.shapes)


def trajectory_of(checkpoints: Sequence[Any], objective: Objective, dimensions: int) -> Tensor:
    """The weights of all checkpoints (points, size); an error if these are too few."""
    found = [
        weights_at(one, objective, f"point {at} of the trajectory")
        for at, one in enumerate(checkpoints)
    ]
    if len(found) <= dimensions:
        raise FlatlasError(
            f"the trajectory has {len(found)} points. Allowed: at least {dimensions + 1} for its "
            f"{dimensions} principal directions."
        )
    points = torch.stack(found)
    if (points == points[0]).all():
        raise FlatlasError("the trajectory does not move: all its points have the same weights.")
    return points
