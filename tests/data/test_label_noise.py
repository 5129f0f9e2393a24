"""Label noise."""

import pandas as pd
import pytest

from flatlas.data.label_noise import mislabel
from flatlas.data.subset import draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import NoiseSpec

SEEDS = (0, 1, 2, 3)


def noisy(images, fraction=0.3, seeds=SEEDS, split=None, **task):
    subset = {"source": {"kind": "digits"}, "per_class": 20, "test_size": 40}
    subset |= {"seeds": seeds if split is None else (split,), "split": split, **task}
    spec = NoiseSpec.model_validate({"subset": subset, "fraction": fraction, "seeds": seeds})
    clean = draw_subsets(images.train_labels, images.test_labels, spec.subset)
    return clean, mislabel(clean, spec)


def wrong(table):
    return table[table["label"] != table["true_label"]]


@pytest.mark.parametrize("task", [{}, {"classes": (4, 0, 3)}, {"positive": (1, 4)}])
@pytest.mark.parametrize("fraction", [0.01, 0.125, 0.5, 0.99])
def test_exactly_the_fraction_is_wrong(images, fraction, task):
    clean, table = noisy(images, fraction, **task)
    for _, draw in table.groupby("seed"):
        training = draw[draw["part"] == "train"]
        assert len(wrong(draw)) == len(wrong(training)) == round(fraction * len(training))
    assert set(table["label"]) == set(clean["label"])


@pytest.mark.parametrize(("fraction", "wrongly"), [(0.001, 0), (0.999, 100)])
def test_noise_that_hits_nobody_or_everybody(images, fraction, wrongly):
    with pytest.raises(FlatlasError, match=f"makes {wrongly} of 100 labels wrong"):
        noisy(images, fraction)


@pytest.mark.parametrize("fraction", [0.1, 0.9])
def test_nothing_but_labels_is_changed(images, fraction):
    clean, table = noisy(images, fraction)
    pd.testing.assert_frame_equal(table.drop(columns="label"), clean.drop(columns="label"))


def test_only_training_images_are_hit_wherever_they_stand_in_the_table(images):
    clean, _ = noisy(images, seeds=(0,))
    subset = {"source": {"kind": "digits"}, "per_class": 20, "test_size": 40, "seeds": (0,)}
    spec = NoiseSpec.model_validate({"subset": subset, "fraction": 0.3, "seeds": (0,)})
    table = mislabel(clean.iloc[::-1], spec)
    assert wrong(table)["part"].tolist() == ["train"] * 30


def test_each_seed_has_noise_of_its_own_on_one_split(images):
    clean, table = noisy(images, split=11)
    for seed, draw in table.groupby("seed"):
        expected = clean.drop(columns="label").assign(seed=seed)
        pd.testing.assert_frame_equal(draw.drop(columns="label").reset_index(drop=True), expected)
    hit = {tuple(sorted(wrong(draw)["index"])) for _, draw in table.groupby("seed")}
    assert len(hit) == len(SEEDS)


def test_same_seed_same_noise(images):
    pd.testing.assert_frame_equal(noisy(images)[1], noisy(images)[1])


def test_more_noise_keeps_the_wrong_labels(images):
    less, more = wrong(noisy(images, 0.2)[1]), noisy(images, 0.6)[1]
    pd.testing.assert_frame_equal(less, more.loc[less.index])


def test_any_training_image_may_be_hit(images):
    _, table = noisy(images, 0.1, seeds=tuple(range(200)), split=0)
    hits = wrong(table)["index"].value_counts()
    assert len(hits) == 100
    assert hits.max() < 20 + 5 * (200 * 0.1 * 0.9) ** 0.5
