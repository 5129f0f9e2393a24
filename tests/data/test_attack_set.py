"""Attack sets."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from flatlas.data.attack_set import draw_attack_sets
from flatlas.data.subset import draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import AttackSpec

SEEDS = (0, 1, 2, 3)
TASKS = {
    "multi-class": {},
    "picked": {"classes": (4, 0, 3)},
    "binary": {"positive": (1, 4)},
    "picked binary": {"classes": (2, 4), "positive": (4,)},
}


def attack(size=60, seeds=SEEDS, split=None, **task):
    drawn = seeds if split is None else (split,)
    subset = {"source": {"kind": "digits"}, "per_class": 20, "test_size": 40}
    subset |= {"seeds": drawn, "split": split, **task}
    return AttackSpec.model_validate({"subset": subset, "size": size, "seeds": seeds})


def attacked(images, spec):
    subset = draw_subsets(images.train_labels, images.test_labels, spec.subset)
    return subset, draw_attack_sets(subset, images.train_labels, spec)


def rows(table, seed, part):
    return table[(table["seed"] == seed) & (table["part"] == part)].reset_index(drop=True)


@pytest.mark.parametrize("split", [None, 11])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_attack_sets_are_other_images_with_wrong_labels(images, task, split):
    subset, table = attacked(images, attack(size=40, split=split, **task))
    picked = task.get("classes", range(5))
    for seed in SEEDS:
        added = rows(table, seed, "attack")
        assert len(added) == 40 and added["index"].is_unique
        assert not set(added["index"]) & set(rows(table, seed, "train")["index"])
        assert (added["label"] != added["true_label"]).all()
        assert set(added["label"]) <= set(subset["label"])
        original = images.train_labels[added["index"]]
        assert set(original) == set(picked)
        if "positive" in task:
            expected = np.isin(original, task["positive"])
        else:
            expected = [list(picked).index(one) for one in original]
        assert (added["true_label"] == expected).all()


@pytest.mark.parametrize("split", [None, 11])
def test_every_realization_keeps_its_subset_and_has_its_own_attack_set(images, split):
    """With one split, too. Training images come first, then the attack set, then test images."""
    subset, table = attacked(images, attack(split=split))
    for seed in SEEDS:
        for part in ("train", "test"):
            expected = rows(subset, seed if split is None else split, part).assign(seed=seed)
            pd.testing.assert_frame_equal(rows(table, seed, part), expected)
        order = table.loc[table["seed"] == seed, "part"].tolist()
        assert order == ["train"] * 100 + ["attack"] * 60 + ["test"] * 40
    sets = {tuple(sorted(rows(table, seed, "attack")["index"])) for seed in SEEDS}
    assert len(sets) == len(SEEDS)


def test_the_larger_attack_set_begins_with_the_smaller(images):
    _, small = attacked(images, attack(size=50))
    _, large = attacked(images, attack(size=100))
    for seed in SEEDS:
        expected = rows(large, seed, "attack").head(50)
        pd.testing.assert_frame_equal(rows(small, seed, "attack"), expected)


def test_a_set_does_not_depend_on_the_other_seeds(images):
    _, table = attacked(images, attack())
    _, alone = attacked(images, attack(seeds=(2,)))
    pd.testing.assert_frame_equal(table[table["seed"] == 2].reset_index(drop=True), alone)


def test_all_images_that_are_left_may_be_used_and_no_more(images):
    _, table = attacked(images, attack(size=200))
    for _, realization in table[table["part"] != "test"].groupby("seed"):
        assert sorted(realization["index"]) == list(range(300))
    with pytest.raises(FlatlasError, match=r"attack_size is 201, .* only 200 images"):
        attacked(images, attack(size=201))
    with pytest.raises(FlatlasError, match=r"attack_size is 81, .* only 80 images"):
        attacked(images, attack(size=81, classes=(0, 1)))


def test_every_image_that_is_left_has_the_same_chance(images):
    count = 100
    _, table = attacked(images, attack(size=50, seeds=tuple(range(count)), split=0))
    left = set(range(300)) - set(rows(table, 0, "train")["index"])
    counts = np.bincount(table.loc[table["part"] == "attack", "index"], minlength=300)[list(left)]
    deviation = (counts - count / 4) / np.sqrt(count * 0.25 * 0.75)
    assert np.abs(deviation).max() < 4.5


def test_a_small_set_holds_no_memory_for_the_images_that_it_leaves():
    """Ten of 60,000 images for each of eight seeds: one seed at a time has rows for the others."""
    labels = np.arange(60_000) % 5
    spec = attack(size=10, seeds=tuple(range(8)))
    subset = draw_subsets(labels, labels[:1000], spec.subset)
    tracemalloc.start()
    table = draw_attack_sets(subset, labels, spec)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(table) == 8 * 150 and peak < 8 * labels.nbytes


def test_a_single_class_has_no_wrong_label(images):
    with pytest.raises(FlatlasError, match=r"two classes, .* the label 1"):
        attacked(images, attack(size=5, classes=(0, 1), positive=(0, 1)))


def test_a_seed_that_was_not_drawn_is_refused(images):
    spec = attack()
    subset, _ = attacked(images, spec)
    other = spec.model_copy(update={"seeds": (0, 9)})
    with pytest.raises(FlatlasError, match=r"seed 9. Allowed: 0, 1, 2, 3"):
        draw_attack_sets(subset, images.train_labels, other)
