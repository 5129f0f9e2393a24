"""A solution: the weights of one realization at a moment, with its images, in float64."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from pandas import DataFrame
from torch import Tensor

from flatlas.data.samples import Samples
from flatlas.errors import FlatlasError
from flatlas.nets.layered import LayeredNet
from flatlas.seeds import stream

# Images that pass through the layers at a time.
IMAGES = 1000


@dataclass(frozen=True)
class Solution:
    """One member of a run; every tensor keeps the nets' leading axis of members, of length 1.

    In `learners` that axis is for the learners (§2.5), and `parameters` is their mean, W_a. Without
    learners the two are the same. `inputs` and `labels` are the training data; `clean` marks the
    true labels. If the labels are those of a Boolean function, `functions` has how often random
    nets express each of the run's functions. `trajectory` (steps, weights) is the recording of one
    layer, float32 and on disk; `kernel` is the sampled K between the images of S and then E, if
    any; `second_task` has the images of a task that was not trained on. All tensors are on one
    device; weights and images are float64.
    """

    net: LayeredNet
    seed: int
    parameters: dict[str, Tensor]
    learners: dict[str, Tensor]
    inputs: Tensor
    labels: Tensor
    clean: Tensor
    test_inputs: Tensor
    test_labels: Tensor
    functions: DataFrame | None = None
    trajectory: np.ndarray | None = None
    kernel: np.ndarray | None = None
    second_task: Samples | None = None

    def into(self, layer: str, inputs: Tensor) -> Tensor:
        """The activity a (1, images, n_in) that enters a layer, computed some images at a time.

        For a convolution it is (1, images, channels, height, width).
        """
        blocks = inputs.split(IMAGES, dim=1)
        return torch.cat([self.net.into(self.parameters, block, layer) for block in blocks], dim=1)

    def preactivation(self, layer: str, activity: Tensor) -> Tensor:
        """z = a W (+ b) of a layer."""
        return self.net.layer(layer).preactivation(self.parameters, activity)

    def logits_from(self, layer: str, z: Tensor) -> Tensor:
        """The logits that follow from a layer's pre-activations z."""
        return self.net.logits_from(self.parameters, z, layer)

    def logits(self, inputs: Tensor) -> Tensor:
        """Logits (1, images, outputs), some images at a time."""
        blocks = inputs.split(IMAGES, dim=1)
        return torch.cat([self.net.forward(self.parameters, block) for block in blocks], dim=1)

    def blocks(self, tensor: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Parts of a tensor of all training images (1, images, ...), each with its labels."""
        return zip(tensor.split(size, dim=1), self.labels.split(size, dim=1), strict=True)

    def on(self, images: Tensor) -> "Solution":
        """The same solution with only these training images, by position or by a mask."""
        return replace(
            self,
            inputs=self.inputs[:, images],
            labels=self.labels[:, images],
            clean=self.clean[:, images],
        )

    def generator(self, purpose: str) -> torch.Generator:
        """Random numbers on the solution's device.

        They are the same at every moment of a training: moments then differ only in their weights.
        """
        return torch.Generator(self.inputs.device).manual_seed(stream(self.seed, purpose))


def load_solutions(
    arrays: Mapping[str, np.ndarray],
    moments: Iterable[str],
    member: int,
    samples: Samples,
    net: LayeredNet,
    device: str,
    **extra: Any,
) -> Iterator[Solution]:
    """The solutions of one member, moment by moment, from the run's weights `<moment>/<parameter>`.

    `samples` is the single draw of the member's seed; all its solutions share it, and the `extra`
    fields.
    """
    inputs, test_inputs = (
        torch.as_tensor(images, dtype=torch.float64, device=device)
        for images in (samples.inputs, samples.test_inputs)
    )
    labels, clean, test_labels = (
        torch.as_tensor(array, device=device)
        for array in (samples.labels, samples.clean, samples.test_labels)
    )
    for moment in moments:
        parameters = {
            name: _of_member(arrays, f"{moment}/{name}", member, shape, device).unsqueeze(0)
            for name, shape in net.shapes.items()
        }
        statistics = {
            name: _of_member(arrays, f"{moment}/{name}", member, shape, device)
            for name, shape in net.statistic_shapes.items()
        }
        yield Solution(
            net=net.seeing(statistics),
            seed=samples.seeds[0],
            parameters=parameters,
            learners=_learners(arrays, f"{moment}.learners", member, net, device) or parameters,
            inputs=inputs,
            labels=labels,
            clean=clean,
            test_inputs=test_inputs,
            test_labels=test_labels,
            **extra,
        )


def _learners(
    arrays: Mapping[str, np.ndarray], moment: str, member: int, net: LayeredNet, device: str
) -> dict[str, Tensor]:
    """The weights of a member's learners, `<moment>/<parameter>`; empty if it had none."""
    kept = [array for name, array in arrays.items() if name.startswith(f"{moment}/")]
    if not kept:
        return {}
    m = kept[0].shape[1]
    return {
        name: _of_member(arrays, f"{moment}/{name}", member, (m, *shape), device)
        for name, shape in net.shapes.items()
    }


def _of_member(
    arrays: Mapping[str, np.ndarray], name: str, member: int, shape: tuple[int, ...], device: str
) -> Tensor:
    """One parameter of one member."""
    if name not in arrays or arrays[name].shape[1:] != shape or member >= len(arrays[name]):
        found = f"shape {arrays[name].shape}" if name in arrays else "no array"
        raise FlatlasError(
            f"the weights have {found} for '{name}', but the net needs at least {member + 1} "
            f"members, each of shape {shape}. Give the weights and the net of the same run."
        )
    return torch.as_tensor(arrays[name][member], dtype=torch.float64, device=device)
