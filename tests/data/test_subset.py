"""Subsets of a source."""

import numpy as np
import pandas as pd
import pytest

from flatlas.data.subset import draw_subset, draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SubsetSpec

SEEDS = range(5)


def subset(**changed):
    base = {"source": {"kind": "digits"}, "test_size": 40, "seeds": (0,)}
    size = {} if {"per_class", "train_size"} & set(changed) else {"per_class": 20}
    return SubsetSpec.model_validate({**base, **size, **changed})


def drawn(images, seed=0, **changed):
    return draw_subset(images.train_labels, images.test_labels, subset(**changed), seed)


def part(table, name):
    return table[table["part"] == name]


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_and_labels(images, seed):
    table = drawn(images, seed)
    train, test = part(table, "train"), part(table, "test")
    assert list(table.columns) == ["seed", "part", "index", "label", "true_label"]
    assert (table["seed"] == seed).all() and len(train) + len(test) == len(table)
    assert train["label"].value_counts().to_dict() == dict.fromkeys(range(5), 20)
    assert len(test) == 40
    assert train["index"].is_unique and test["index"].is_unique
    assert (train["true_label"] == images.train_labels[train["index"]]).all()
    assert (test["true_label"] == images.test_labels[test["index"]]).all()
    assert (table["label"] == table["true_label"]).all()


def test_same_seed_same_draw_and_other_seed_another(images):
    pd.testing.assert_frame_equal(drawn(images, 1), drawn(images, 1))
    for name in ("train", "test"):
        first, second = (part(drawn(images, seed), name)["index"] for seed in (1, 2))
        assert set(first) != set(second)


@pytest.mark.parametrize("seed", SEEDS)
def test_test_images_do_not_follow_the_training_images(images, seed):
    """Not even where both are drawn from lists of the same labels."""
    spec = subset(train_size=300, test_size=300)
    table = draw_subset(images.train_labels, images.train_labels, spec, seed)
    train, test = part(table, "train")["index"], part(table, "test")["index"]
    assert np.mean(train.to_numpy() == test.to_numpy()) < 0.05


def test_every_image_has_the_same_chance(images):
    """Of 1,000 draws of 40 of 150 test images, and 20 of 60 of each class, each gets its share."""
    tables = draw_subsets(images.train_labels, images.test_labels, subset(seeds=tuple(range(1000))))
    for name, among, share in (("test", 150, 40 / 150), ("train", 300, 20 / 60)):
        counts = np.bincount(part(tables, name)["index"], minlength=among)
        deviation = (counts - 1000 * share) / np.sqrt(1000 * share * (1 - share))
        assert np.abs(deviation).max() < 4.5
        assert 0.8 < deviation.std() < 1.2


@pytest.mark.parametrize("seed", SEEDS)
def test_train_size_counts_in_all(images, seed):
    train = part(drawn(images, seed, train_size=123), "train")
    assert len(train) == 123 and train["index"].is_unique
    assert train["label"].nunique() == 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["per_class", "train_size", "test_size"])
def test_a_larger_draw_holds_the_smaller(images, seed, name):
    small, large = drawn(images, seed, **{name: 30}), drawn(images, seed, **{name: 50})
    changed, same = ("test", "train") if name == "test_size" else ("train", "test")
    assert set(part(small, changed)["index"]) < set(part(large, changed)["index"])
    assert part(small, same)["index"].tolist() == part(large, same)["index"].tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_picked_classes_are_renumbered_in_the_order_given(images, seed):
    table = drawn(images, seed, classes=(4, 0, 3))
    for name, labels in (("train", images.train_labels), ("test", images.test_labels)):
        rows = part(table, name)
        original = labels[rows["index"]]
        assert set(original) == {4, 0, 3}
        assert (np.array([4, 0, 3])[rows["label"]] == original).all()
    assert part(table, "train")["label"].value_counts().to_dict() == {0: 20, 1: 20, 2: 20}


def test_classes_leave_the_images_of_a_class_as_they_are(images):
    every, some = drawn(images), drawn(images, classes=(2, 1))
    ours = part(every, "train").query("label == 2")["index"].tolist()
    assert part(some, "train").query("label == 0")["index"].tolist() == ours


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("classes", "positive"), [(None, (1, 4)), ((3, 1, 0), (1,)), ((2, 4), (4, 2))]
)
def test_binary(images, seed, classes, positive):
    table = drawn(images, seed, classes=classes, positive=positive)
    for name, labels in (("train", images.train_labels), ("test", images.test_labels)):
        rows = part(table, name)
        original = labels[rows["index"]]
        assert set(original) == set(classes or range(5))
        assert (rows["label"] == [int(one in positive) for one in original]).all()
    counts = np.bincount(images.train_labels[part(table, "train")["index"]])
    assert set(counts) <= {0, 20}


def test_all_seeds_one_after_another(images):
    spec = subset(seeds=(7, 2))
    tables = draw_subsets(images.train_labels, images.test_labels, spec)
    assert tables["seed"].unique().tolist() == [7, 2]
    for seed, table in tables.groupby("seed"):
        alone = draw_subset(images.train_labels, images.test_labels, spec, seed)
        pd.testing.assert_frame_equal(table.reset_index(drop=True), alone)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"per_class": 61}, r"per_class is 61, but class \d of digits has only 60"),
        ({"train_size": 301}, "train_size is 301, but digits has only 300"),
        ({"test_size": 151}, "test_size is 151, but digits has only 150"),
        ({"test_size": 61, "classes": (0, 1)}, "test_size is 61, but digits has only 60"),
        ({"classes": (0, 5)}, "classes names 5. Allowed: 0, 1, 2, 3, 4"),
        ({"classes": (0, 0)}, "each only once"),
        ({"classes": ()}, "at least one class"),
        ({"positive": (9,)}, "positive names 9. Allowed: 0, 1, 2, 3, 4"),
        ({"classes": (0, 1), "positive": (1, 2)}, "positive names 2. Allowed: 0, 1"),
    ],
)
def test_refusals(images, changed, said):
    with pytest.raises(FlatlasError, match=said):
        drawn(images, **changed)


def test_the_scarcest_class_is_named(images):
    scarce = np.where(np.arange(300) < 290, images.train_labels, 0)
    counts = np.bincount(scarce)
    label = counts.argmin()
    with pytest.raises(FlatlasError, match=f"class {label} of digits has only {counts[label]}"):
        draw_subset(scarce, images.test_labels, subset(per_class=60), 0)
