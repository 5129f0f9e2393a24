"""A task: images of some classes, under the labels that all classes have."""

import numpy as np
import pytest

from flatlas.data.subset import draw_subset
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SubsetSpec


def drawn(images, seed=0, **changed):
    base = {"source": {"kind": "digits"}, "train_size": 30, "test_size": 20, "seeds": (0,)}
    spec = SubsetSpec.model_validate({**base, **changed})
    return draw_subset(images.train_labels, images.test_labels, spec, seed)


def test_only_those_classes_are_drawn_and_keep_their_numbers(images):
    table = drawn(images, only=(3, 1))
    train, test = (table[table["part"] == part] for part in ("train", "test"))
    assert len(train) == 30 and len(test) == 20
    for rows, labels in ((train, images.train_labels), (test, images.test_labels)):
        assert set(rows["label"]) == {1, 3}
        assert (rows["label"] == labels[rows["index"]]).all()
        assert (rows["true_label"] == rows["label"]).all()


def test_classes_give_the_numbers_where_both_are_said(images):
    table = drawn(images, classes=(4, 2, 0), only=(0, 4))
    train = table[table["part"] == "train"]
    numbers = {4: 0, 0: 2}
    original = images.train_labels[train["index"]]
    assert set(original) == {0, 4}
    assert train["label"].tolist() == [numbers[one] for one in original]


def test_per_class_counts_those_classes(images):
    table = drawn(images, only=(2, 3), train_size=None, per_class=12)
    train = table[table["part"] == "train"]
    assert train["label"].value_counts().to_dict() == {2: 12, 3: 12}


def test_two_tasks_share_no_image(images):
    one, two = (drawn(images, only=only) for only in ((0, 1), (2, 3)))
    for part in ("train", "test"):
        both = [set(table.loc[table["part"] == part, "index"]) for table in (one, two)]
        assert not both[0] & both[1]


def test_all_classes_as_only_are_no_choice(images):
    everything = tuple(np.unique(images.train_labels).tolist())
    assert drawn(images, only=everything).equals(drawn(images))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"only": (0, 9)}, "only names 9. Allowed: 0, 1, 2, 3, 4."),
        ({"classes": (1, 2), "only": (0,)}, "only names 0. Allowed: 1, 2."),
    ],
)
def test_classes_that_are_not_there(images, changed, said):
    with pytest.raises(FlatlasError) as raised:
        drawn(images, **changed)
    assert str(raised.value) == said
