"""The weights that a training began with, as a user has them."""

from collections.abc import Mapping

import torch
from pydantic import InstanceOf
from torch import Tensor, nn

from flatlas.errors import FlatlasError, nearest
from flatlas.models.objective import Objective

Initial = InstanceOf[nn.Module] | Mapping[str, InstanceOf[Tensor]] | None


def initial_weights(of: Objective, initial: nn.Module | Mapping[str, Tensor]) -> Tensor:
    """The same parameters as in w, in one vector."""
    given = initial.state_dict() if isinstance(initial, nn.Module) else initial
    for name, shape in of.shapes.items():
        if name not in given:
            raise FlatlasError(f"initial has no '{name}'.{nearest(name, given)}")
        if given[name].shape != shape:
            raise FlatlasError(
                f"'{name}' has the shape {tuple(given[name].shape)} in initial, but "
                f"{tuple(shape)} in the model: give the same model before training."
            )
    pieces = [given[name].detach().flatten().to(of.w) for name in of.shapes]
    return torch.cat(pieces)
