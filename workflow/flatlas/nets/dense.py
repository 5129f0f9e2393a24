"""Fully connected ReLU nets."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.nets.layered import LayeredNet
from flatlas.nets.layers import Dense, Parameters
from flatlas.nets.refusals import (
    differences,
    read_weights,
    refuse_integers,
    refuse_not_finite,
)
from flatlas.plan.families.dense import DenseNet


def build(spec: DenseNet, input_shape: tuple[int, int, int], outputs: int) -> LayeredNet:
    """A net of fc1, fc2, ... with a ReLU after each except the last."""
    widths = prod(input_shape), *spec.hidden, outputs
    layers = dense_layers(widths, spec.bias, spec.dropout, spec.dropout_after)
    if spec.weights is None:
        return LayeredNet(layers, spec.init)
    return TrainedNet(layers, spec)


class TrainedNet(LayeredNet):
    """A net whose initial weights are those of a file."""

    trained = True

    def __init__(self, layers: list[Dense], spec: DenseNet) -> None:
        """Read the file that the spec names."""
        super().__init__(layers, spec.init)
        self._given = _given(str(spec.weights), self.shapes)

    def initial(self, seeds: Sequence[int], purpose: str = "weights") -> Parameters:
        """The weights of the file, one member for each seed."""
        return {name: torch.stack([one] * len(seeds)) for name, one in self._given.items()}


def _given(file: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """The weights of a state_dict; its layers are taken in the order of their names."""
    subject = f"net.weights: '{file}'"
    state = read_weights(file, subject)
    layers = sorted({name.rpartition(".")[0] for name in state}, key=_natural)
    names = {
        f"{layer}.{kind}": f"fc{number}.{kind}"
        for number, layer in enumerate(layers, start=1)
        for kind in ("weight", "bias")
    }
    in_file = {ours: theirs for theirs, ours in names.items()}
    # Ours is z = a W, torch's z = a Wᵀ.
    wanted = {
        in_file.get(name, name): torch.empty(shape[::-1], device="meta")
        for name, shape in shapes.items()
    }
    why = differences(state, wanted)
    if why:
        raise FlatlasError(
            f"{subject} does not fit: {why}. Give the weights of this net, or set net.hidden and "
            "net.bias to those of the file."
        )
    refuse_integers(state, wanted, subject)
    refuse_not_finite(state.items(), subject)
    return {name: state[in_file[name]].t().contiguous().float() for name in shapes}


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts fc10 after fc2."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def dense_layers(
    widths: tuple[int, ...], bias: bool, dropout: float, after: Sequence[str] | None = None
) -> list[Dense]:
    """The dense layers between these widths, with dropout `after` some or all hidden ones."""
    last = len(widths) - 1
    layers = []
    for number, (n_in, n_out) in enumerate(pairwise(widths), start=1):
        name, hidden = f"fc{number}", number < last
        dropped = hidden and (after is None or name in after)
        layers.append(Dense(name, n_in, n_out, bias, hidden, dropout if dropped else 0.0))
    return layers
