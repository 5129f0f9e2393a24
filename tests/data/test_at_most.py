"""`at_most`: a source with fewer images than that gives all of them."""

import numpy as np
import pytest

from flatlas.data.subset import draw_subset
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import SubsetSpec

LABELS = np.arange(12) % 2


def spec(**sizes):
    return SubsetSpec(source={"kind": "digits"}, test_size=5, seeds=(0,), **sizes)


def test_a_smaller_source_is_used_whole_and_a_larger_one_drawn_from():
    drawn = draw_subset(LABELS, LABELS, spec(train_size=100, at_most=True), seed=0)
    parts = drawn.groupby("part")["index"].agg([len, "nunique"])
    assert parts.loc["train"].tolist() == [12, 12]
    assert parts.loc["test"].tolist() == [5, 5]


def test_without_it_too_few_images_are_refused():
    with pytest.raises(FlatlasError, match="train_size is 100"):
        draw_subset(LABELS, LABELS, spec(train_size=100), seed=0)
