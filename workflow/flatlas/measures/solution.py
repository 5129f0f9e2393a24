"""A solution: the weights that one realization reached, with the images it saw, in float64."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets.layered import LayeredNet

# Images that go through the convolutions and the layers below at a time.
IMAGES = 1000


@dataclass(frozen=True)
class Solution:
    """One member of a run; every tensor keeps the nets' leading axis of members, of length 1.

    `inputs` and `labels` are what the net was trained on; `clean` marks the labels that are
    true. All tensors lie on one device; weights and images are float64.
    """

    net: LayeredNet
    parameters: dict[str, Tensor]
    inputs: Tensor
    labels: Tensor
    clean: Tensor
    test_inputs: Tensor
    test_labels: Tensor

    def into(self, layer: str, inputs: Tensor) -> Tensor:
        """The activity a (1, images, n_in) that enters a dense layer, some images at a time."""
        blocks = inputs.split(IMAGES, dim=1)
        return torch.cat([self.net.into(self.parameters, block, layer) for block in blocks], dim=1)

    def preactivation(self, layer: str, activity: Tensor) -> Tensor:
        """z = a W (+ b) of a dense layer."""
        return self.net.dense(layer).preactivation(self.parameters, activity)

    def onward(self, layer: str, z: Tensor) -> Tensor:
        """The logits that follow from a dense layer's pre-activations z."""
        return self.net.onward(self.parameters, z, layer)


def load_solution(
    arrays: Mapping[str, np.ndarray],
    member: int,
    samples: Samples,
    net: LayeredNet,
    device: str,
) -> Solution:
    """Member `member` of a run's stacked weights, `final/<parameter>`, and what it was trained on.

    `samples` are those of the member's own seed, a single draw.
    """
    return Solution(
        net=net,
        parameters={
            name: _of_member(arrays, f"final/{name}", member, shape, device)
            for name, shape in net.shapes.items()
        },
        inputs=torch.as_tensor(samples.inputs, dtype=torch.float64, device=device),
        labels=torch.as_tensor(samples.labels, device=device),
        clean=torch.as_tensor(samples.clean, device=device),
        test_inputs=torch.as_tensor(samples.test_inputs, dtype=torch.float64, device=device),
        test_labels=torch.as_tensor(samples.test_labels, device=device),
    )


def is_finite(arrays: Mapping[str, np.ndarray], member: int) -> bool:
    """Whether a member's final weights are numbers: those of a diverged training are not."""
    final = (array[member] for name, array in arrays.items() if name.startswith("final/"))
    return all(np.isfinite(array).all() for array in final)


def _of_member(
    arrays: Mapping[str, np.ndarray], name: str, member: int, shape: tuple[int, ...], device: str
) -> Tensor:
    """One parameter of one member, with a leading axis of length 1."""
    if name not in arrays or arrays[name].shape[1:] != shape or member >= len(arrays[name]):
        found = f"shape {arrays[name].shape}" if name in arrays else "nothing of that name"
        raise FlatlasError(
            f"the weights hold {found} for '{name}', but the net needs {shape} of each member and "
            f"of member {member}: give the weights and the net of one and the same run."
        )
    array = arrays[name][member : member + 1]
    return torch.as_tensor(array, dtype=torch.float64, device=device)
