"""The images of a stack of members on the device: one tensor, and an index for each member."""

import torch
from torch import Tensor

from flatlas.data.samples import Samples


class StackedImages:
    """Training and test images; members that share a draw share its memory."""

    def __init__(self, samples: Samples, device: str) -> None:
        """Move the samples to the device, once."""
        self.inputs = torch.from_numpy(samples.inputs).to(device)
        self.labels = torch.from_numpy(samples.labels).to(device)
        self.clean = torch.from_numpy(samples.clean).to(device)
        self.test_inputs = torch.from_numpy(samples.test_inputs).to(device)
        self.test_labels = torch.from_numpy(samples.test_labels).to(device)
        self.device = device
        self._flat_inputs = self.inputs.flatten(0, 1)
        self._flat_labels = self.labels.flatten()

    @property
    def count(self) -> int:
        """The number of training images of one member."""
        return self.inputs.shape[1]

    def draw_of(self, member: int) -> int:
        """The draw of a member: its own, or the single draw that serves all."""
        return member if len(self.inputs) > 1 else 0

    def minibatch(self, members: list[int], chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Images and labels (row, batch, ...) for indices (row, batch) of these rows' members."""
        first = torch.tensor([self.draw_of(member) * self.count for member in members])
        flat = (chosen + first.unsqueeze(1)).flatten().to(self.device)
        inputs = self._flat_inputs.index_select(0, flat)
        labels = self._flat_labels.index_select(0, flat)
        return inputs.view(*chosen.shape, *self.inputs.shape[2:]), labels.view(chosen.shape)
