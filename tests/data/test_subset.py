"""Subsets of a source."""

import numpy as np
import pandas as pd
import pytest

from flatlas.data.subset import draw_subset, draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SubsetSpec


def subset(**changed):
    base = {"source": {"kind": "digits"}, "test_size": 40, "seeds": (0,)}
    size = {} if "train_size" in changed else {"per_class": 20}
    return SubsetSpec.model_validate({**base, **size, **changed})


def drawn(images, seed=0, **changed):
    return draw_subset(images.train_labels, images.test_labels, subset(**changed), seed)


def part(table, name):
    return table[table["part"] == name]


def parts(table, images):
    """The rows of both parts, each with the original classes of its images."""
    for name, labels in (("train", images.train_labels), ("test", images.test_labels)):
        rows = part(table, name)
        yield rows, labels[rows["index"]]


@pytest.mark.parametrize("seed", [0, 3])
def test_counts_and_labels(images, seed):
    table = drawn(images, seed)
    train, test = part(table, "train"), part(table, "test")
    assert list(table.columns) == ["seed", "part", "index", "label", "true_label"]
    assert (table["seed"] == seed).all() and len(train) + len(test) == len(table)
    assert train["label"].value_counts().to_dict() == dict.fromkeys(range(5), 20)
    assert len(test) == 40
    for rows, original in parts(table, images):
        assert rows["index"].is_unique
        assert (rows["label"] == original).all() and (rows["true_label"] == original).all()


def test_train_size_counts_all_classes_together(images):
    train = part(drawn(images, train_size=123), "train")
    assert len(train) == 123 and train["index"].is_unique
    assert train["label"].nunique() == 5


def test_each_seed_has_its_own_draw(images):
    """The same as when it is drawn alone."""
    spec = subset(seeds=(7, 2))
    tables = draw_subsets(images.train_labels, images.test_labels, spec)
    assert tables["seed"].unique().tolist() == [7, 2]
    for seed, table in tables.groupby("seed"):
        pd.testing.assert_frame_equal(table.reset_index(drop=True), drawn(images, seed))
    for name in ("train", "test"):
        first, second = (set(rows["index"]) for _, rows in part(tables, name).groupby("seed"))
        assert first != second


@pytest.mark.parametrize("seed", range(3))
def test_test_images_do_not_follow_the_training_images(images, seed):
    """They do not even if both are drawn from lists with the same labels."""
    spec = subset(train_size=300, test_size=300)
    table = draw_subset(images.train_labels, images.train_labels, spec, seed)
    train, test = part(table, "train")["index"], part(table, "test")["index"]
    assert np.mean(train.to_numpy() == test.to_numpy()) < 0.05


def test_every_image_has_the_same_chance(images):
    """Counts over 100 draws of 40 of 150 test images, and of 20 of the 60 in each class."""
    tables = draw_subsets(images.train_labels, images.test_labels, subset(seeds=tuple(range(100))))
    for name, among, share in (("test", 150, 40 / 150), ("train", 300, 20 / 60)):
        counts = np.bincount(part(tables, name)["index"], minlength=among)
        deviation = (counts - 100 * share) / np.sqrt(100 * share * (1 - share))
        assert np.abs(deviation).max() < 4.5
        assert 0.8 < deviation.std() < 1.2


@pytest.mark.parametrize("name", ["per_class", "train_size", "test_size"])
def test_a_larger_draw_contains_the_smaller(images, name):
    small, large = drawn(images, **{name: 30}), drawn(images, **{name: 50})
    changed, same = ("test", "train") if name == "test_size" else ("train", "test")
    assert set(part(small, changed)["index"]) < set(part(large, changed)["index"])
    assert part(small, same)["index"].tolist() == part(large, same)["index"].tolist()


def test_picked_classes_are_renumbered_in_the_order_given(images):
    table = drawn(images, classes=(4, 0, 3))
    for rows, original in parts(table, images):
        assert set(original) == {4, 0, 3}
        assert (np.array([4, 0, 3])[rows["label"]] == original).all()
    assert part(table, "train")["label"].value_counts().to_dict() == {0: 20, 1: 20, 2: 20}


def test_picking_classes_does_not_change_the_images_of_a_class(images):
    every, some = drawn(images), drawn(images, classes=(2, 1))
    ours = part(every, "train").query("label == 2")["index"].tolist()
    assert part(some, "train").query("label == 0")["index"].tolist() == ours


@pytest.mark.parametrize(
    ("classes", "positive"), [(None, (1, 4)), ((3, 1, 0), (1,)), ((2, 4), (4, 2))]
)
def test_positive_classes_make_a_binary_task(images, classes, positive):
    table = drawn(images, classes=classes, positive=positive)
    for rows, original in parts(table, images):
        assert set(original) == set(classes or range(5))
        assert (rows["label"] == [int(one in positive) for one in original]).all()
    counts = np.bincount(images.train_labels[part(table, "train")["index"]])
    assert set(counts) <= {0, 20}


@pytest.mark.parametrize("classes", [None, (4, 2, 3, 1)])
def test_only_draws_some_classes_under_the_numbers_that_all_have(images, classes):
    """If `classes` is also given, its order decides the numbers."""
    table = drawn(images, classes=classes, only=(3, 1), train_size=30)
    assert (len(part(table, "train")), len(part(table, "test"))) == (30, 40)
    for rows, original in parts(table, images):
        assert set(original) == {1, 3}
        numbers = [classes.index(one) if classes else one for one in original]
        assert rows["label"].tolist() == rows["true_label"].tolist() == numbers


def test_per_class_counts_the_only_classes(images):
    train = part(drawn(images, only=(2, 3), per_class=12), "train")
    assert train["label"].value_counts().to_dict() == {2: 12, 3: 12}


def test_only_all_classes_changes_nothing(images):
    assert drawn(images, only=(0, 1, 2, 3, 4)).equals(drawn(images))


def test_of_a_source_with_fewer_images_at_most_all_are_drawn(images):
    table = drawn(images, train_size=1000, test_size=40, at_most=True)
    counts = table.groupby("part")["index"].agg([len, "nunique"])
    assert counts.to_numpy().tolist() == [[40, 40], [300, 300]]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"per_class": 61}, r"per_class is 61, but class \d of digits has only 60"),
        ({"train_size": 301}, "train_size is 301, but digits has only 300"),
        ({"test_size": 151}, "test_size is 151, but digits has only 150"),
        ({"test_size": 61, "classes": (0, 1)}, "test_size is 61, but digits has only 60"),
        ({"classes": (0, 5)}, "classes names 5. Allowed: 0, 1, 2, 3, 4"),
        ({"classes": (0, 0)}, r"classes is \[0, 0\]"),
        ({"classes": ()}, r"classes is \[\]"),
        ({"positive": (9,)}, "positive names 9. Allowed: 0, 1, 2, 3, 4"),
        ({"classes": (0, 1), "positive": (1, 2)}, "positive names 2. Allowed: 0, 1"),
        ({"only": (0, 9)}, "only names 9. Allowed: 0, 1, 2, 3, 4"),
        ({"classes": (1, 2), "only": (0,)}, "only names 0. Allowed: 1, 2"),
    ],
)
def test_what_a_source_does_not_have_is_refused(images, changed, reason):
    with pytest.raises(FlatlasError, match=reason):
        drawn(images, **changed)


def test_the_scarcest_class_is_named(images):
    scarce = np.where(np.arange(300) < 290, images.train_labels, 0)
    counts = np.bincount(scarce)
    label = counts.argmin()
    with pytest.raises(FlatlasError, match=f"class {label} of digits has only {counts[label]}"):
        draw_subset(scarce, images.test_labels, subset(per_class=60), 0)


def test_too_small_a_folder_is_named_as_the_user_knows_it(images):
    source = {"kind": "folder", "path": "pets", "classes": 5}
    with pytest.raises(FlatlasError, match=r"class \d of the folder 'pets' has only 60"):
        drawn(images, source=source, per_class=61)
