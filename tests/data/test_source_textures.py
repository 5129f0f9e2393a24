"""Generated textures."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from flatlas.data.sources import textures
from flatlas.plan.data_specs import Textures


def load(**changed):
    return textures.load(Textures(kind="textures", **changed), Path())


@pytest.fixture(scope="module")
def usual():
    return load(train_per_class=5)


def test_counts_and_shape():
    images = load(classes=3, side=16, train_per_class=7, test_per_class=4)
    assert images.train_images.shape == (21, 3, 16, 16)
    assert images.test_images.shape == (12, 3, 16, 16)
    assert np.bincount(images.train_labels).tolist() == [7, 7, 7]
    assert np.bincount(images.test_labels).tolist() == [4, 4, 4]


def test_the_seed_decides_every_byte(usual):
    again, other = load(train_per_class=5), load(train_per_class=5, seed=1)
    for name, array in vars(usual).items():
        np.testing.assert_array_equal(array, getattr(again, name))
    assert (usual.train_images != other.train_images).any()


def test_each_class_and_each_seed_has_its_own_recipe():
    specs = [Textures(kind="textures", classes=20, seed=seed) for seed in range(3)]
    recipes = [[textures._recipe(spec, label) for label in range(20)] for spec in specs]
    for of_seed in recipes:
        assert len({recipe.orientation for recipe in of_seed}) == 20
        assert len({recipe.frequency for recipe in of_seed}) == 20
        assert len({recipe.hues[0] for recipe in of_seed}) == 20
    orientations = [tuple(recipe.orientation for recipe in of_seed) for of_seed in recipes]
    assert len(set(orientations)) == 3


def test_no_two_images_are_alike(usual):
    every = np.concatenate([usual.train_images, usual.test_images])
    assert len(np.unique(every.reshape(len(every), -1), axis=0)) == len(every)


def test_more_classes_leave_the_others_as_they_are(usual):
    few = load(classes=3, train_per_class=5, test_per_class=1)
    np.testing.assert_array_equal(few.train_images, usual.train_images[:15])


@pytest.mark.parametrize("seed", range(3))
def test_mean_colours_say_something_about_the_class_but_not_enough(seed):
    """A classifier of mean colours does better than chance (0.1), and far from perfectly."""
    images = load(train_per_class=100, seed=seed)
    colours = images.train_images.mean(axis=(2, 3)) / 255
    tested = images.test_images.mean(axis=(2, 3)) / 255
    classifier = LogisticRegression(max_iter=1000).fit(colours, images.train_labels)
    assert 0.25 < classifier.score(tested, images.test_labels) < 0.7


def test_a_class_keeps_its_frequency():
    """The strongest wave of a class's images is, in the median, that of its recipe."""
    spec = Textures(kind="textures", classes=6, train_per_class=60)
    images = textures.load(spec, Path())
    for label in range(spec.classes):
        grey = images.train_images[images.train_labels == label].astype(float)
        spectrum = np.abs(np.fft.fft2(grey - grey.mean(axis=(2, 3), keepdims=True))).sum(axis=1)
        strongest = spectrum.reshape(len(spectrum), -1).argmax(axis=1)
        waves = np.fft.fftfreq(32, 1 / 32)
        found = np.hypot(waves[strongest // 32], waves[strongest % 32])
        recipe = textures._recipe(spec, label)
        assert abs(np.median(found) - recipe.frequency) < 0.8
