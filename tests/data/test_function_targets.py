"""Functions as targets: ranks, estimates and labels."""

from math import sqrt

import pytest

from flatlas.data.images import write_images
from flatlas.data.samples import load_samples
from flatlas.data.sources import boolean
from flatlas.data.targets import label_by, most_frequent
from flatlas.errors import FlatlasError
from flatlas.plan.data_specs import FunctionsSpec
from flatlas.store.tables import write_table

# Functions of three bits: constant, of the first bit, and parity.
ZERO, FIRST, PARITY, ONE = b"\x00", b"\x0f", b"\x69", b"\xff"
COUNTS = {PARITY: 2, ONE: 40, FIRST: 7, ZERO: 40}


def spec(count, bits=3):
    source, net = {"kind": "boolean", "bits": bits}, {"family": "dense", "hidden": [4]}
    return FunctionsSpec.model_validate(
        {"source": source, "net": net, "draws": 100, "count": count}
    )


def test_functions_are_ranked_by_frequency_then_by_value():
    table = most_frequent(COUNTS, spec(3))
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["function"].tolist() == ["00", "ff", "0f"]
    assert table["count"].tolist() == [40, 40, 7]
    assert (table["draws"] == 100).all()
    assert table["probability"].tolist() == [0.4, 0.4, 0.07]
    assert table["standard_error"].tolist() == pytest.approx(
        [sqrt(0.24) / 10] * 2 + [0.025515], 1e-4
    )


def test_fewer_functions_than_realizations_are_refused():
    assert len(most_frequent(COUNTS, spec(4))) == 4
    with pytest.raises(FlatlasError, match=r"realizations is 5, .* at most 4"):
        most_frequent(COUNTS, spec(5))


def test_each_realization_has_all_inputs_labelled_by_its_function(tmp_path):
    functions = most_frequent(COUNTS, spec(4))
    images, table = tmp_path / "images.safetensors", tmp_path / "samples.parquet"
    write_images(images, boolean.load(spec(4).source, tmp_path))
    write_table(table, label_by(functions, 8))
    samples = load_samples(images, table, range(4))
    assert samples.clean.all()
    rules = [lambda *bits: 0, lambda *bits: 1, lambda a, b, c: a, lambda a, b, c: (a + b + c) % 2]
    parts = ((samples.inputs, samples.labels), (samples.test_inputs, samples.test_labels))
    for inputs, labels in parts:
        for seed, rule in enumerate(rules):
            bits = inputs[seed].reshape(8, 3)
            assert len({tuple(row) for row in bits}) == 8
            assert labels[seed].tolist() == [rule(*row) for row in bits]


def test_a_function_of_fewer_than_eight_inputs_is_part_of_a_byte():
    table = label_by(most_frequent({b"\x60": 3}, spec(1, bits=2)), 4)
    assert table["part"].tolist() == ["train"] * 4 + ["test"] * 4
    assert table["label"].tolist() == [0, 1, 1, 0] * 2
