"""Random minibatches of a net's training images, for measures of their noise."""

import numpy as np
import torch
from torch import Tensor

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution
from flatlas.seeds import generator


def minibatches(solution: Solution, purpose: str, shape: tuple[int, ...]) -> Tensor:
    """Positions of images (..., batch), drawn without replacement in each minibatch."""
    *counts, batch = shape
    refuse_too_large(batch, solution)
    # The same draw at every moment of a training: moments then differ only in their weights.
    random = generator(solution.seed, purpose)
    images = solution.labels.shape[1]
    drawn = [random.choice(images, batch, replace=False) for _ in range(int(np.prod(counts)))]
    return torch.as_tensor(np.stack(drawn), device=solution.labels.device).view(shape)


def refuse_too_large(batch: int, solution: Solution) -> None:
    """Raise an error if a minibatch would need an image twice."""
    images = solution.labels.shape[1]
    if batch > images:
        raise FlatlasError(
            f"minibatches of {batch} images can't be drawn from the {images} training images: "
            f"batch may be {images} at most."
        )
