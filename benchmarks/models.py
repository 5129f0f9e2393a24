"""Models of torch.nn for comparing libraries: a dense net, ResNet-20, a small transformer."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

TOKENS, LENGTH, WIDTH, HEADS = 32, 16, 32, 4


def dense() -> nn.Module:
    """784-40-40-10."""
    sizes = (784, 40, 40, 10)
    layers: list[nn.Module] = [nn.Flatten()]
    for one, other in pairwise(sizes):
        layers += [nn.Linear(one, other), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Residual(nn.Module):
    """Two convolutions beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            *_convolution(inputs, outputs, 3, stride), nn.ReLU(), *_convolution(outputs, outputs, 3)
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(*_convolution(inputs, outputs, 1, stride))

    def forward(self, images: Tensor) -> Tensor:
        return torch.relu(self.path(images) + self.shortcut(images))


def resnet() -> nn.Module:
    """ResNet-20 (He et al. 2016)."""
    layers = [*_convolution(3, 16, 3), nn.ReLU()]
    for inputs, outputs in ((16, 16), (16, 32), (32, 64)):
        layers += [Residual(inputs, outputs, outputs // inputs)]
        layers += [Residual(outputs, outputs, 1) for _ in range(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def _convolution(inputs: int, outputs: int, width: int, stride: int = 1) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, width, stride, width // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


class Layer(nn.Module):
    """Attention and a dense net, each beside a shortcut, after a LayerNorm."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.triple, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.dense = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        triple = self.triple(self.before(tokens)).unflatten(-1, (3, HEADS, -1))
        query, key, value = triple.permute(2, 0, 3, 1, 4)
        seen = (query @ key.transpose(-1, -2) / (WIDTH // HEADS) ** 0.5).softmax(-1) @ value
        tokens = tokens + self.out(seen.transpose(1, 2).flatten(2))
        return tokens + self.dense(self.between(tokens))


class Transformer(nn.Module):
    """Two layers, and class logits from the mean over the sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.position = nn.Parameter(torch.randn(LENGTH, WIDTH) / 10)
        self.layers = nn.Sequential(Layer(), Layer(), nn.LayerNorm(WIDTH))
        self.classes = nn.Linear(WIDTH, 10)

    def forward(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.classes(self.layers(self.embedding(tokens) + self.position).mean(1))
        return out


MODELS: dict[str, Callable[[], nn.Module]] = {
    "dense": dense,
    "resnet": resnet,
    "transformer": Transformer,
}


def drawn(problem: str, examples: int, batch: int, classes: int) -> list[tuple[Tensor, Tensor]]:
    """Batches of noisy patterns, or of sequences in which some tokens are frequent, by class."""
    random = torch.Generator().manual_seed(0)
    labels = torch.arange(examples) % classes
    if problem == "transformer":
        frequent = torch.rand(classes, TOKENS, generator=random) ** 3
        inputs = torch.multinomial(frequent[labels], LENGTH, True, generator=random)
    else:
        shape = (1, 28, 28) if problem == "dense" else (3, 32, 32)
        patterns = torch.randn(classes, *shape, generator=random)
        inputs = patterns[labels] + 3 * torch.randn(examples, *shape, generator=random)
    return list(zip(inputs.split(batch), labels.split(batch), strict=True))


def fitted(model: nn.Module, batches: Any) -> None:
    """Train a model by Adam to a loss below 0.1."""
    adam, loss = torch.optim.Adam(model.parameters(), lr=2e-3), 1.0
    while loss > 0.1:
        for inputs, labels in batches:
            adam.zero_grad()
            value = nn.functional.cross_entropy(model(inputs), labels)
            value.backward()
            adam.step()
            loss = value.item()
    model.eval()


def exact_trace(model: nn.Module, batches: Any) -> float:
    """The Hessian's trace for nets that are piecewise linear in each of their weights.

    It equals the trace of the Gauss-Newton matrix: the mean of |∇ log p|² over examples and,
    weighted by their probabilities, over classes.
    """
    total, examples = 0.0, 0
    parameters = list(model.parameters())
    for inputs, labels in batches:
        examples += len(labels)
        for one in inputs.split(1):
            logs = model(one)[0].double().log_softmax(0)
            for log in logs:
                slope = torch.autograd.grad(log, parameters, retain_graph=True)
                square = sum(part.double().square().sum() for part in slope)
                total += float(log.exp() * square)
    return total / examples
