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
def loaded(tmp_path, images):
    """Loads the samples of seeds from a source and a table on disk."""

    def load(table, seeds=SEEDS):
        paths = tmp_path / "images.safetensors", tmp_path / "samples.parquet"
        write_images(paths[0], images)
        write_table(paths[1], table)
        return load_samples(*paths, seeds)

    return load


def draw(images, spec):
    return draw_subsets(images.train_labels, images.test_labels, spec)


def assert_rows(samples, table, images, seeds=SEEDS):
    """Each draw, row by row."""
    assert samples.seeds == seeds
    for number, seed in enumerate(seeds[: samples.draws]):
        rows = table[table["seed"] == seed] if table["seed"].nunique() > 1 else table
        training, tested = rows[rows["part"] != "test"], rows[rows["part"] == "test"]
        for inputs, labels, part, source in (
            (samples.inputs, samples.labels, training, images.train_images),
            (samples.test_inputs, samples.test_labels, tested, images.test_images),
        ):
            expected = (source[part["index"]] / 255).astype(np.float32)
            np.testing.assert_array_equal(inputs[number], expected)
            assert labels[number].tolist() == part["label"].tolist()
        clean = (training["part"] == "train") & (training["label"] == training["true_label"])
        assert samples.clean[number].tolist() == clean.tolist()


@pytest.mark.parametrize("seeds", [SEEDS, (8, 3)])
def test_rows_are_in_the_order_of_seeds_and_table(images, loaded, seeds):
    table = draw(images, subset())
    samples = loaded(table, seeds)
    assert samples.draws == len(seeds)
    assert samples.inputs.shape == (len(seeds), 30, 2, 3, 4)
    assert samples.inputs.dtype == samples.test_inputs.dtype == np.float32
    assert samples.labels.dtype == samples.test_labels.dtype == np.int64
    assert samples.clean.dtype == bool and samples.clean.all()
    assert_rows(samples, table, images, seeds)


def test_one_draw_serves_all_without_copies(images, loaded):
    table = draw(images, subset(split=5))
    samples = loaded(table)
    assert samples.draws == len(samples.inputs) == 1
    assert_rows(samples, table, images)
    for seed in SEEDS:
        assert np.shares_memory(samples.of(seed).inputs, samples.inputs)


def test_attack_sets_are_not_clean(images, loaded):
    spec = AttackSpec(subset=subset(), size=7, seeds=SEEDS)
    table = draw_attack_sets(draw(images, spec.subset), images.train_labels, spec)
    samples = loaded(table)
    assert samples.clean.tolist() == [[True] * 30 + [False] * 7] * 3
    assert_rows(samples, table, images)


def test_noisy_labels_are_not_clean(images, loaded):
    spec = NoiseSpec(subset=subset(split=5), fraction=0.4, seeds=SEEDS)
    table = mislabel(draw(images, spec.subset), spec)
    samples = loaded(table)
    assert samples.draws == 3
    assert samples.clean.sum(axis=1).tolist() == [18, 18, 18]
    assert_rows(samples, table, images)


def test_attack_rows_with_a_right_label_are_not_clean(images, loaded):
    table = draw(images, subset(split=5))
    table.loc[3, "part"] = "attack"
    assert np.flatnonzero(~loaded(table).clean[0]).tolist() == [3]


def test_one_realization(images, loaded):
    table = draw(images, subset())
    samples = loaded(table)
    one = samples.of(8)
    assert one.draws == one.of(8).draws == 1
    assert_rows(one, table, images, seeds=(8,))
    for rest in (one.index, one.test_index):
        assert rest.shape[0] == 1
    with pytest.raises(FlatlasError, match=r"seed 7. Allowed: 3, 0, 8"):
        samples.of(7)
    with pytest.raises(FlatlasError, match=r"seed 4. Allowed: 3, 0, 8"):
        loaded(table, (3, 4))


@pytest.mark.parametrize(("part", "word"), [("train", "training"), ("test", "test")])
def test_unequal_draws_are_refused(images, loaded, part, word):
    table = draw(images, subset())
    lost = table[(table["seed"] == 0) & (table["part"] == part)].index[0]
    with pytest.raises(FlatlasError, match=f"{word} images.*for seed 0"):
        loaded(table.drop(index=lost))


def test_memory_stays_below_one_and_a_half_times_the_result(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (2000, 3, 32, 32), dtype=np.uint8)
    labels = rng.integers(0, 5, 2000)
    paths = tmp_path / "images.safetensors", tmp_path / "samples.parquet"
    write_images(paths[0], Images(pixels, labels, pixels, labels))
    spec = subset(per_class=None, train_size=1900, test_size=500)
    write_table(paths[1], draw_subsets(labels, labels, spec))
    tracemalloc.start()
    samples = load_samples(*paths, SEEDS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = samples.inputs.nbytes + samples.test_inputs.nbytes
    assert result <= peak < 1.5 * result
