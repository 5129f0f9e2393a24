"""Normalized images: the numbers that torchvision gives, in every part of a draw."""

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torchvision import transforms

from flatlas.data.attack_set import draw_attack_sets
from flatlas.data.images import write_images
from flatlas.data.samples import load_samples
from flatlas.data.subset import draw_subsets
from flatlas.plan.data_specs import AttackSpec, Normalize, SourceSpec, SubsetSpec
from flatlas.store.tables import write_table

SEEDS = (0, 3)
NORMALIZE = Normalize(mean=(0.4914, 0.13), std=(0.2023, 0.5))
FOLDER = {"kind": "folder", "path": "pictures", "classes": 2}


@pytest.fixture
def loaded(tmp_path, images):
    """Loads samples with an attack set, whose images are normalized or not."""
    subset = SubsetSpec(source={"kind": "digits"}, per_class=6, test_size=40, seeds=SEEDS)
    spec = AttackSpec(subset=subset, size=7, seeds=SEEDS)
    table = draw_subsets(images.train_labels, images.test_labels, subset)
    write_table(tmp_path / "s.parquet", draw_attack_sets(table, images.train_labels, spec))

    def load(normalize):
        write_images(tmp_path / "i.safetensors", images, normalize)
        return load_samples(tmp_path / "i.safetensors", tmp_path / "s.parquet", SEEDS)

    return load


def by_torchvision(pixels):
    """An image (channel, row, column) of bytes, as torchvision normalizes it."""
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize(NORMALIZE.mean, NORMALIZE.std)]
    )
    return transform(np.ascontiguousarray(pixels.transpose(1, 2, 0)))


def test_images_are_those_of_torchvision_to_the_last_bit(images, loaded):
    samples = loaded(NORMALIZE)
    assert samples.inputs.dtype == samples.test_inputs.dtype == np.float32
    for inputs, index, pixels in (
        (samples.inputs, samples.index, images.train_images),
        (samples.test_inputs, samples.test_index, images.test_images),
    ):
        for draw, of_draw in zip(inputs, index, strict=True):
            expected = torch.stack([by_torchvision(pixels[number]) for number in of_draw])
            np.testing.assert_array_equal(draw, expected.numpy())


def test_nothing_else_of_a_draw_changes(loaded):
    plain, normalized = vars(loaded(None)), vars(loaded(NORMALIZE))
    same = {name for name in plain if np.array_equal(plain[name], normalized[name])}
    assert {*plain} - same == {"inputs", "test_inputs"}


@pytest.mark.parametrize(
    ("source", "mean", "std", "said"),
    [
        ({"kind": "mnist"}, [0.5] * 3, [0.5] * 3, "normalize.mean has length 3.*1 channel:"),
        ({"kind": "cifar100"}, [0.5], [0.5], "normalize.mean has length 1.*3 channels:"),
        ({"kind": "textures"}, [0.5] * 3, [0.5], "normalize.std has length 1.*3 channels:"),
        (FOLDER | {"channels": 1}, [0.5] * 3, [0.5] * 3, "normalize.mean has length 3"),
        # Of pixels from 0 to 255.
        ({"kind": "digits"}, [0.5], [63.0], "normalize.std.0(.|\n)*less than or equal to 1"),
        ({"kind": "boolean"}, [0.5], [0.5], "normalize(.|\n)*not permitted"),
    ],
)
def test_numbers_that_do_not_suit_the_images_are_refused(source, mean, std, said):
    given = source | {"normalize": {"mean": mean, "std": std}}
    with pytest.raises(ValidationError, match=said):
        TypeAdapter(SourceSpec).validate_python(given)
