"""Label noise."""

import pandas as pd
import pytest

from flatlas.data.label_noise import mislabel
from flatlas.data.subset import draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import NoiseSpec

SEEDS = (0, 1, 2, 3)


def noise(fraction=0.3, seeds=SEEDS, split=None, **task):
    source = {"kind": "textures", "classes": 5}
    subset = {"source": source, "per_class": 20, "test_size": 40}
    subset |= {"seeds": seeds if split is None else (split,), "split": split, **task}
    return NoiseSpec.model_validate({"subset": subset, "fraction": fraction, "seeds": seeds})


def noisy(images, *fraction, **chosen):
    spec = noise(*fraction, **chosen)
    clean = draw_subsets(images.train_labels, images.test_labels, spec.subset)
    return clean, mislabel(clean, spec)


def wrong(table):
    return table[table["label"] != table["true_label"]]


@pytest.mark.parametrize("task", [{}, {"classes": (4, 0, 3)}, {"positive": (1, 4)}])
@pytest.mark.parametrize("fraction", [0.01, 0.125, 0.5, 0.99])
def test_the_fraction_of_training_labels_is_wrong_and_nothing_else_changes(images, fraction, task):
    clean, table = noisy(images, fraction, **task)
    for _, draw in table.groupby("seed"):
        training = draw[draw["part"] == "train"]
        assert len(wrong(draw)) == len(wrong(training)) == round(fraction * len(training))
    assert set(table["label"]) == set(clean["label"])
    pd.testing.assert_frame_equal(table.drop(columns="label"), clean.drop(columns="label"))


FEW = {"per_class": None, "train_size": 4, "test_size": 1, "fraction": 0.5}


@pytest.mark.parametrize("task", [{}, {"classes": (4, 0, 3)}, {"only": (1, 2, 4)}])
def test_classes_of_which_no_image_was_drawn_are_wrong_labels_too(images, task):
    """So the noise of a realization does not depend on those beside it."""
    seeds = tuple(range(20))
    alone = pd.concat([noisy(images, seeds=(seed,), **FEW, **task)[1] for seed in seeds])
    together = noisy(images, seeds=seeds, **FEW, **task)[1]
    pd.testing.assert_frame_equal(alone.reset_index(drop=True), together)
    assert set(together["label"]) == set(together["true_label"])
    drawn = [draw for _, draw in together.groupby("seed")]
    assert any(set(draw["label"]) > set(draw["true_label"]) for draw in drawn)


@pytest.mark.parametrize(("fraction", "wrongly"), [(0.001, 0), (0.999, 100)])
def test_noise_on_no_label_or_on_every_label_is_refused(images, fraction, wrongly):
    with pytest.raises(FlatlasError, match=f"{wrongly} of 100 labels"):
        noisy(images, fraction)


def test_only_training_images_get_wrong_labels_wherever_they_are_in_the_table(images):
    clean, _ = noisy(images, seeds=(0,))
    table = mislabel(clean.iloc[::-1], noise(seeds=(0,)))
    assert wrong(table)["part"].tolist() == ["train"] * 30


def test_each_seed_has_its_own_noise_on_one_split(images):
    clean, table = noisy(images, split=11)
    for seed, draw in table.groupby("seed"):
        expected = clean.drop(columns="label").assign(seed=seed)
        pd.testing.assert_frame_equal(draw.drop(columns="label").reset_index(drop=True), expected)
    mislabelled = {tuple(sorted(wrong(draw)["index"])) for _, draw in table.groupby("seed")}
    assert len(mislabelled) == len(SEEDS)


def test_more_noise_keeps_the_wrong_labels(images):
    less, more = wrong(noisy(images, 0.2)[1]), noisy(images, 0.6)[1]
    pd.testing.assert_frame_equal(less, more.loc[less.index])


def test_any_training_image_may_get_a_wrong_label(images):
    count = 100
    _, table = noisy(images, 0.1, seeds=tuple(range(count)), split=0)
    times = wrong(table)["index"].value_counts()
    assert len(times) == 100
    assert times.max() < count / 10 + 5 * (count * 0.1 * 0.9) ** 0.5
