"""A folder of images as a data source: results follow the images in it."""

import shutil

import numpy as np
import pytest
import yaml
from PIL import Image
from safetensors.numpy import load_file

SIDE = 8


@pytest.fixture
def pictured(tiny, tmp_path):
    """A checkout whose only source is the folder `pictures` below a data root."""
    tiny.set_study("runs", "base", "data", value={"source": "own", "per_class": 2, "test_size": 2})
    tiny.set_study("runs", "base", "batch", value=2)
    tiny.set_study("sweeps", "batch", "grid", "batch", value=[2, 4])

    def checkout(name, data_root):
        made = tiny.copy(tmp_path / name)
        own = {"kind": "folder", "path": "pictures", "classes": 2, "channels": 1, "side": SIDE}
        config = made / "config/config.yaml"
        settings = yaml.safe_load(config.read_text())
        settings |= {"data_root": str(data_root), "sources": {"own": own}}
        config.write_text(yaml.safe_dump(settings))
        return made

    return checkout


def paint(data_root, seed, images=3, colours=1):
    """Two classes of a few images of noise, for training and for testing."""
    noise = np.random.default_rng(seed)
    for part in ("train", "test"):
        for label in ("cat", "dog"):
            folder = data_root / "pictures" / part / label
            folder.mkdir(parents=True)
            for number in range(images):
                pixels = noise.integers(256, size=(SIDE, SIDE, colours), dtype=np.uint8)
                Image.fromarray(pixels.squeeze()).save(folder / f"{number}.png")
    return data_root


def source(checkout):
    return load_file(checkout.only("data/sources/*/images.safetensors"))


def test_a_replaced_image_is_read_again(pictured, tmp_path):
    """Also without Snakemake's records."""
    checkout = pictured("checkout", paint(tmp_path / "originals", seed=1))
    checkout.snakemake("--until", "source")
    assert checkout.would_run("--until", "source") == {}
    replaced = np.full((SIDE, SIDE), 7, dtype=np.uint8)
    Image.fromarray(replaced).save(tmp_path / "originals/pictures/train/dog/0.png")
    assert checkout.would_run("--until", "source") == {"source": 1}
    checkout.snakemake("--until", "source")
    assert (source(checkout)["train_images"][3] == 7).all()
    shutil.rmtree(checkout / ".snakemake")
    assert checkout.would_run("--until", "source") == {}
    Image.fromarray(replaced + 1).save(tmp_path / "originals/pictures/train/dog/0.png")
    assert checkout.would_run("--until", "source") == {"source": 1}


def test_folders_of_one_name_share_no_pixels_unless_they_are_the_same(
    pictured, output_cache, tmp_path
):
    one, two = paint(tmp_path / "one", seed=1), paint(tmp_path / "two", seed=2)
    copied = shutil.copytree(one, tmp_path / "copied")
    pixels, read = {}, {}
    for root in (one, two, copied):
        checkout = pictured(f"checkout of {root.name}", root)
        checkout.snakemake("--until", "source", "--cache", **output_cache)
        pixels[root.name] = source(checkout)["train_images"]
        # For a result from the cache Snakemake leaves the log empty.
        read[root.name] = bool(checkout.only("logs/source/*.log").read_text())
    assert read == {"one": True, "two": True, "copied": False}
    assert (pixels["one"] != pixels["two"]).any()
    assert (pixels["one"] == pixels["copied"]).all()
