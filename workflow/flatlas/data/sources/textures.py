"""Generated colour textures: gratings with a class-specific orientation, frequency and colours.

Every class has a recipe, and every image varies it. No single feature reveals the class, and a
small net trained on a hundred images of each class still makes some errors.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flatlas.data.images import Images
from flatlas.plan.data_specs import Textures
from flatlas.seeds import generator

# Orientation, frequency and hues lie on grids of this length, the most classes that a spec may
# have: the similarity of two classes then does not depend on the number of classes.
PLACES = 20
SLOWEST, FASTEST = 2.0, 6.0  # waves across an image
ORIENTATION_JITTER = 0.22  # standard deviation, in radians
FREQUENCY_JITTER = 0.15  # standard deviation, relative to the frequency
HUE_JITTER = 0.1  # standard deviation, in turns of the colour wheel
NOISE = 0.18  # standard deviation of a pixel, relative to the range


@dataclass(frozen=True)
class Recipe:
    """The recipe shared by the images of a class: a grating between two hues."""

    orientation: float
    frequency: float
    hues: np.ndarray


def load(spec: Textures, root: Path) -> Images:
    """The textures of all classes, generated without files."""
    train = [_draw(spec, label, "train", spec.train_per_class) for label in range(spec.classes)]
    test = [_draw(spec, label, "test", spec.test_per_class) for label in range(spec.classes)]
    labels = np.arange(spec.classes)
    return Images(
        train_images=np.concatenate(train),
        train_labels=np.repeat(labels, spec.train_per_class),
        test_images=np.concatenate(test),
        test_labels=np.repeat(labels, spec.test_per_class),
    )


def _recipe(spec: Textures, label: int) -> Recipe:
    """The recipe of a class: at most one class takes each place on each grid."""
    rng = generator(spec.seed, "texture recipes")
    orientation, frequency, hue, other_hue = (
        rng.permutation(PLACES)[label] / PLACES for _ in range(4)
    )
    return Recipe(
        orientation=np.pi * orientation,
        frequency=SLOWEST * (FASTEST / SLOWEST) ** frequency,
        hues=np.array([hue, other_hue]),
    )


def _draw(spec: Textures, label: int, part: str, count: int) -> np.ndarray:
    """Images of a class, as uint8 (image, channel, row, column)."""
    recipe = _recipe(spec, label)
    rng = generator(spec.seed, f"textures {part} {label}")
    waves = _waves(recipe, spec.side, count, rng)[:, None]
    hues = recipe.hues + HUE_JITTER * rng.standard_normal((count, 2))
    first, second = (_colour(hue)[:, :, None, None] for hue in hues.T)
    images = first + (second - first) * waves
    images += NOISE * rng.standard_normal(images.shape)
    return np.rint(255 * images.clip(0, 1)).astype(np.uint8)


def _waves(recipe: Recipe, side: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Gratings in [0, 1] as (image, row, column), each with its own phase and contrast."""
    jitter = rng.standard_normal((2, count, 1, 1))
    orientation = recipe.orientation + ORIENTATION_JITTER * jitter[0]
    frequency = recipe.frequency * np.exp(FREQUENCY_JITTER * jitter[1])
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 1))
    contrast = rng.uniform(0.3, 1, (count, 1, 1))
    row, column = np.mgrid[:side, :side] / side
    across = column * np.cos(orientation) + row * np.sin(orientation)
    return (1 + contrast * np.sin(2 * np.pi * frequency * across + phase)) / 2


def _colour(hue: np.ndarray) -> np.ndarray:
    """Red, green and blue in [0, 1], as (image, channel), for places on the colour wheel."""
    return (1 + np.cos(2 * np.pi * (hue[:, None] - np.arange(3) / 3))) / 2
