"""Attack sets."""

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
def test_attack_sets_are_wrong_and_elsewhere(images, task, split):
    spec = attack(size=40, split=split, **task)
    subset, table = attacked(images, spec)
    for seed in SEEDS:
        added = rows(table, seed, "attack")
        assert len(added) == 40 and added["index"].is_unique
        assert not set(added["index"]) & set(rows(table, seed, "train")["index"])
        assert (added["label"] != added["true_label"]).all()
        assert set(added["label"]) <= set(subset["label"])


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_true_labels_are_those_of_the_source(images, task):
    _, table = attacked(images, attack(size=40, **task))
    added = table[table["part"] == "attack"]
    original = images.train_labels[added["index"]]
    picked = task.get("classes", range(5))
    assert set(original) == set(picked)
    if "positive" in task:
        expected = np.isin(original, task["positive"])
        assert (added["label"] == 1 - added["true_label"]).all()
    else:
        expected = [list(picked).index(one) for one in original]
    assert (added["true_label"] == expected).all()


@pytest.mark.parametrize("size", [1, 60, 200])
def test_the_subset_does_not_move(images, size):
    subset, table = attacked(images, attack(size=size))
    for seed in SEEDS:
        for part in ("train", "test"):
            pd.testing.assert_frame_equal(rows(table, seed, part), rows(subset, seed, part))


def test_one_split_serves_every_seed_and_each_is_attacked_anew(images):
    subset, table = attacked(images, attack(split=11))
    for seed in SEEDS:
        for part in ("train", "test"):
            expected = rows(subset, 11, part).assign(seed=seed)
            pd.testing.assert_frame_equal(rows(table, seed, part), expected)
    sets = {tuple(sorted(rows(table, seed, "attack")["index"])) for seed in SEEDS}
    assert len(sets) == len(SEEDS)


def test_every_realization_begins_with_its_clean_images(images):
    _, table = attacked(images, attack())
    for _, realization in table.groupby("seed"):
        assert realization["part"].tolist() == ["train"] * 100 + ["attack"] * 60 + ["test"] * 40


def test_the_smaller_attack_set_begins_the_larger(images):
    _, small = attacked(images, attack(size=50))
    _, large = attacked(images, attack(size=100))
    for seed in SEEDS:
        expected = rows(large, seed, "attack").head(50)
        pd.testing.assert_frame_equal(rows(small, seed, "attack"), expected)


def test_same_seed_same_set_whichever_seeds_are_beside_it(images):
    _, table = attacked(images, attack())
    _, alone = attacked(images, attack(seeds=(2,)))
    pd.testing.assert_frame_equal(table[table["seed"] == 2].reset_index(drop=True), alone)


def test_all_that_is_left_may_be_used_and_no_more(images):
    _, table = attacked(images, attack(size=200))
    for _, realization in table[table["part"] != "test"].groupby("seed"):
        assert sorted(realization["index"]) == list(range(300))
    with pytest.raises(FlatlasError, match=r"attack_size is 201, but .* only 200 images"):
        attacked(images, attack(size=201))
    with pytest.raises(FlatlasError, match=r"attack_size is 81, but .* only 80 images"):
        attacked(images, attack(size=81, classes=(0, 1)))


def test_every_image_left_has_the_same_chance(images):
    seeds = tuple(range(600))
    _, table = attacked(images, attack(size=50, seeds=seeds, split=0))
    left = set(range(300)) - set(rows(table, 0, "train")["index"])
    counts = np.bincount(table.loc[table["part"] == "attack", "index"], minlength=300)[list(left)]
    deviation = (counts - 150) / np.sqrt(600 * 0.25 * 0.75)
    assert np.abs(deviation).max() < 4.5


def test_one_class_has_no_wrong_label(images):
    with pytest.raises(FlatlasError, match="needs two classes, but all images have the label 1"):
        attacked(images, attack(size=5, classes=(0, 1), positive=(0, 1)))


def test_a_seed_that_was_not_drawn(images):
    spec = attack()
    subset, _ = attacked(images, spec)
    other = spec.model_copy(update={"seeds": (0, 9)})
    with pytest.raises(FlatlasError, match=r"seed 9. Allowed: 0, 1, 2, 3"):
        draw_attack_sets(subset, images.train_labels, other)
