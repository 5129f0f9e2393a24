"""Small samples, short runs on them, and what two trainings must have in common."""

import numpy as np
import pandas as pd
import pytest

from flatlas.data.samples import Samples
from flatlas.plan.training_specs import RunSpec
from flatlas.training.resume import Resume
from flatlas.training.trainer import train

SHAPE, CLASSES = (1, 2, 3), 3
NAMES = [f"fc{layer}.{kind}" for layer in (1, 2, 3) for kind in ("weight", "bias")]
NET = {"family": "dense", "hidden": (8, 6), "bias": True}
DROPOUT = {"net": NET | {"dropout": 0.1}}
STAGES = ({"channels": 3, "kernel": 2}, {"channels": 4, "kernel": 2})
CONVOLUTIONAL = {
    "net": {"family": "convolutional", "stages": STAGES, "hidden": (8,)},
    "input_shape": (1, 4, 4),
}
NORMED = {
    "net": {"family": "preactivation", "depth": 8, "channels": 2},
    "input_shape": (1, 4, 4),
}


def optimizer(name, **values):
    return {"optimizer": {"name": name, **values}}


def samples(seeds=(0, 1, 2), count=24, shape=SHAPE, classes=CLASSES):
    """A draw for each seed: images of noise, each with a bright pixel at the place of its class."""

    def draw(seed, size):
        rng = np.random.default_rng([seed, size])
        labels = np.arange(size) % classes
        images = 0.5 * rng.random((size, *shape), dtype=np.float32)
        images.reshape(size, -1)[np.arange(size), labels] += 0.5
        return images, labels

    inputs, labels = map(np.stack, zip(*(draw(seed, count) for seed in seeds), strict=True))
    tests, test_labels = map(np.stack, zip(*(draw(seed, 9) for seed in seeds), strict=True))
    clean = np.ones_like(labels, dtype=bool)
    return Samples(tuple(seeds), inputs, labels, clean, tests, test_labels)


def run(**chosen):
    """The spec of a run: SGD on a small dense net with biases, unless something else is chosen."""
    usual = {
        "net": NET,
        "optimizer": {"name": "sgd", "lr": 0.2},
        "batch": 4,
        "stop": {"epochs": 3},
        "samples": {"source": {"kind": "digits"}, "test_size": 1, "seeds": (0,)},
        "input_shape": SHAPE,
        "outputs": CLASSES,
        "seeds": (0, 1, 2),
    }
    return RunSpec.model_validate(usual | chosen)


def quiet(*_, **__):
    """No progress line."""


def trained(spec, data, folder, kernel=None):
    return train(spec, data, Resume(folder), quiet, kernel=kernel)


class SavesEveryEpoch(Resume):
    """Saves at each occasion, however long it takes."""

    def due(self):
        return True


class Stopped(Exception):
    """What stops a training in a test."""


def interrupted(spec, data, resume, epoch, **others):
    """Train to the end of an epoch, and no further."""

    def stop(done, *_, **__):
        if done == epoch:
            raise Stopped

    with pytest.raises(Stopped):
        train(spec, data, resume, stop, **others)


def assert_same(first, second):
    """Two trainings left the same weights, byte by byte, and the same tables."""
    assert set(first.weights) == set(second.weights)
    for name, array in first.weights.items():
        assert array.tobytes() == second.weights[name].tobytes(), name
    pd.testing.assert_frame_equal(first.history, second.history, check_exact=True)
    pd.testing.assert_frame_equal(first.outcomes, second.outcomes, check_exact=True)
    if first.trajectory is not None:
        np.testing.assert_array_equal(first.trajectory.array, second.trajectory.array)
