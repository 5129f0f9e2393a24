"""Seven kinds of models for dense matrices, with data and loss; `WEIGHTED` has other losses."""

import torch
from torch import nn
from torchvision.models import squeezenet1_1

from flatlas.models.batches import Batches
from flatlas.models.losses import Loss
from flatlas.models.objective import Objective

WEIGHTED = {
    "weights": nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 5.0])),
    "smoothed": nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 5.0]), label_smoothing=0.2),
    "an ignored label": nn.CrossEntropyLoss(ignore_index=1),
    "a sum": nn.CrossEntropyLoss(reduction="sum"),
    "a function": lambda output, target: nn.functional.cross_entropy(output, target) + 1,
}


class Through(nn.Module):
    """A layer without parameters: a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Transformer(nn.Module):
    """One block with attention, layer norm and tied embeddings, called with named arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, mask):
        x = self.embedding(tokens)
        x = self.norm(x + self.attention(x, x, x, key_padding_mask=mask, need_weights=False)[0])
        return {"logits": self.head(x.mean(1)), "hidden": x}


class Recurrent(nn.Module):
    """An LSTM, of which the last output counts."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 3, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, series):
        return self.head(self.lstm(series)[0][:, -1])


class Residual(nn.Module):
    """A block with batch norm and a skip connection."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)
        self.second = nn.Conv2d(3, 3, 3, padding=1)
        self.head = nn.Linear(3, 2)

    def forward(self, images):
        x = self.first(images)
        x = x + self.second(torch.relu(self.norm(x)))
        return self.head(x.mean((2, 3)))


def objective_of(model, data, loss, chosen=None, dtype=torch.float64):
    """The loss of a model on the CPU."""
    given = Batches(data, torch.device("cpu"), dtype, seed=0)
    return Objective(model, given, Loss(loss), chosen, dtype=dtype)


def batches(inputs, targets, size=4):
    return list(zip(inputs.split(size), targets.split(size), strict=True))


def dense_hessian(model, inputs, targets):
    """That of the mean cross-entropy in all parameters, by torch and in float64."""
    named = {name: one.detach().double() for name, one in model.named_parameters()}

    def loss(w):
        parts = zip(named.items(), w.split([one.numel() for one in named.values()]), strict=True)
        weights = {name: part.view_as(value) for (name, value), part in parts}
        logits = torch.func.functional_call(model, weights, inputs.double())
        return nn.functional.cross_entropy(logits, targets)

    w = torch.cat([one.flatten() for one in named.values()])
    return torch.autograd.functional.hessian(loss, w)


def of_logits(output, target):
    return nn.functional.cross_entropy(output["logits"], target)


def seven():
    """By name: a model, data, loss and the parameters that are measured."""
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Dropout(0.5), nn.Linear(5, 3))
    frozen = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 3))
    frozen[0].requires_grad_(False)
    frozen[4].weight = nn.Parameter(frozen[2].weight[:3].detach().clone())
    frozen[2].bias = nn.Parameter(torch.zeros(5))
    tokens = {"tokens": torch.randint(7, (6, 5)), "mask": torch.zeros(6, 5, dtype=torch.bool)}
    residual = Residual()
    residual(torch.randn(20, 1, 5, 5))
    x, classes = torch.randn(10, 4), torch.arange(10) % 3
    return {
        "MLP with dropout": (mlp, batches(x, classes), "cross_entropy", None),
        "ResNet with batch norm": (
            residual, batches(torch.randn(6, 1, 5, 5), torch.arange(6) % 2), "cross_entropy", None,
        ),
        "transformer": (Transformer(), [{**tokens, "labels": torch.arange(6)}], of_logits, None),
        "LSTM": (
            Recurrent(), batches(torch.randn(6, 4, 2), torch.arange(6) % 2), "cross_entropy", None,
        ),
        "regression": (
            nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)),
            batches(x, torch.randn(10, 2)), "mse", None,
        ),
        "frozen layers": (frozen, batches(x, classes), "cross_entropy", None),
        "from torchvision": (
            squeezenet1_1(num_classes=3),
            batches(torch.randn(4, 3, 24, 24), torch.arange(4) % 3, 2),
            "cross_entropy", "features.3.squeeze.*",
        ),
    }  # fmt: skip
