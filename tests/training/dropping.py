"""A user's own nets: with dropout, as a module and as a function; with slashes in its names."""

from torch import nn
from torch.nn import functional


class Dropping(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Flatten(), nn.Linear(6, width), nn.ReLU(), nn.Dropout(0.1))
        self.last = nn.Linear(width, 3)

    def forward(self, images):
        return self.last(functional.dropout(self.inner(images), 0.1, self.training))


class Slashed(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Flatten())
        self.add_module("first/dense", nn.Linear(6, 8))
        self.add_module("first/relu", nn.ReLU())
        self.last = nn.Linear(8, 3)
