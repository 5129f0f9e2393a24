"""Samples: the stack that training and measures get."""

import tracemalloc

import numpy as np
import pytest

from flatlas.data.attack_set import draw_attack_sets
from flatlas.data.images import Images, write_images
from flatlas.data.label_noise import mislabel
from flatlas.data.samples import load_samples
from flatlas.data.subset import draw_subsets
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import AttackSpec, NoiseSpec, SubsetSpec
from flatlas.store.tables import write_table

SEEDS = (3, 0, 8)


def subset(split=None, **changed):
    seeds = SEEDS if split is None else (split,)
    base = {"source": {"kind": "digits"}, "per_class": 6, "test_size": 40}
    return SubsetSpec.model_validate({**base, "split": split, "seeds": seeds, **changed})


@pytest.fixture
def laid_out(tmp_path, images):
    """Writes a source and a table, and says where."""

    def lay_out(table):
        paths = tmp_path / "images.safetensors", tmp_path / "samples.parquet"
        write_images(paths[0], images)
        write_table(paths[1], table)
        return paths

    return lay_out


def draw(images, spec):
    return draw_subsets(images.train_labels, images.test_labels, spec)


def assert_rows(samples, number, table, images):
    """Each row of the draw, one by one."""
    training = table[table["part"] != "test"]
    tested = table[table["part"] == "test"]
    assert samples.labels[number].tolist() == training["label"].tolist()
    assert samples.test_labels[number].tolist() == tested["label"].tolist()
    for inputs, rows, source in (
        (samples.inputs[number], training, images.train_images),
        (samples.test_inputs[number], tested, images.test_images),
    ):
        assert len(inputs) == len(rows)
        for one, index in zip(inputs, rows["index"], strict=True):
            np.testing.assert_array_equal(one, (source[index] / 255).astype(np.float32))


def test_rows_in_table_order(images, laid_out):
    table = draw(images, subset())
    samples = load_samples(*laid_out(table), SEEDS)
    assert samples.seeds == SEEDS and samples.draws == 3
    assert samples.inputs.shape == (3, 30, 2, 3, 4) and samples.inputs.dtype == np.float32
    assert samples.labels.dtype == samples.test_labels.dtype == np.int64
    assert samples.inputs.min() >= 0 and samples.inputs.max() <= 1
    assert samples.clean.dtype == bool and samples.clean.all()
    for number, seed in enumerate(SEEDS):
        assert_rows(samples, number, table[table["seed"] == seed], images)


def test_seeds_in_the_order_asked_for(images, laid_out):
    table = draw(images, subset())
    samples = load_samples(*laid_out(table), (8, 3))
    assert samples.draws == 2
    for number, seed in enumerate((8, 3)):
        assert_rows(samples, number, table[table["seed"] == seed], images)


def test_two_draws_are_two(images, laid_out):
    table = draw(images, subset(seeds=(6, 2)))
    samples = load_samples(*laid_out(table), (2, 6))
    for number, seed in enumerate((2, 6)):
        assert_rows(samples, number, table[table["seed"] == seed], images)


def test_one_draw_serves_all_without_copies(images, laid_out):
    table = draw(images, subset(split=5))
    samples = load_samples(*laid_out(table), SEEDS)
    assert samples.seeds == SEEDS and samples.draws == len(samples.inputs) == 1
    assert_rows(samples, 0, table, images)
    for seed in SEEDS:
        assert np.shares_memory(samples.of(seed).inputs, samples.inputs)


def test_attack_sets_are_not_clean(images, laid_out):
    spec = AttackSpec(subset=subset(), size=7, seeds=SEEDS)
    table = draw_attack_sets(draw(images, spec.subset), images.train_labels, spec)
    samples = load_samples(*laid_out(table), SEEDS)
    assert samples.clean.tolist() == [[True] * 30 + [False] * 7] * 3
    for number, seed in enumerate(SEEDS):
        assert_rows(samples, number, table[table["seed"] == seed], images)


def test_noisy_labels_are_not_clean(images, laid_out):
    spec = NoiseSpec(subset=subset(split=5), fraction=0.4, seeds=SEEDS)
    table = mislabel(draw(images, spec.subset), spec)
    samples = load_samples(*laid_out(table), SEEDS)
    assert samples.draws == 3
    assert samples.clean.sum(axis=1).tolist() == [18, 18, 18]
    for number, seed in enumerate(SEEDS):
        rows = table[(table["seed"] == seed) & (table["part"] == "train")]
        assert (samples.clean[number] == (rows["label"] == rows["true_label"])).all()
        assert_rows(samples, number, table[table["seed"] == seed], images)


def test_attack_rows_with_a_right_label_are_not_clean_either(images, laid_out):
    table = draw(images, subset(split=5))
    table.loc[3, "part"] = "attack"
    samples = load_samples(*laid_out(table), SEEDS)
    assert np.flatnonzero(~samples.clean[0]).tolist() == [3]


def test_one_realization(images, laid_out):
    table = draw(images, subset())
    samples = load_samples(*laid_out(table), SEEDS)
    one = samples.of(8)
    assert one.seeds == (8,) and one.draws == 1
    assert_rows(one, 0, table[table["seed"] == 8], images)
    assert one.of(8).draws == 1
    with pytest.raises(FlatlasError, match=r"seed 7. Allowed: 3, 0, 8"):
        samples.of(7)


def test_a_seed_that_was_not_drawn(images, laid_out):
    table = draw(images, subset())
    with pytest.raises(FlatlasError, match=r"seed 4. Allowed: 3, 0, 8"):
        load_samples(*laid_out(table), (3, 4))


@pytest.mark.parametrize(("part", "word"), [("train", "training"), ("test", "test")])
def test_unequal_draws_are_refused(images, laid_out, part, word):
    table = draw(images, subset())
    lost = table[(table["seed"] == 0) & (table["part"] == part)].index[0]
    with pytest.raises(FlatlasError, match=f"unequal numbers of {word} images.*for seed 0"):
        load_samples(*laid_out(table.drop(index=lost)), SEEDS)


def test_memory_stays_below_twice_the_result(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (2000, 3, 32, 32), dtype=np.uint8)
    labels = rng.integers(0, 5, 2000)
    write_images(tmp_path / "images.safetensors", Images(pixels, labels, pixels, labels))
    table = draw_subsets(labels, labels, subset(per_class=None, train_size=1900, test_size=500))
    write_table(tmp_path / "samples.parquet", table)
    tracemalloc.start()
    paths = tmp_path / "images.safetensors", tmp_path / "samples.parquet"
    samples = load_samples(*paths, SEEDS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = samples.inputs.nbytes + samples.test_inputs.nbytes
    assert result <= peak < 1.5 * result
