"""Arrays in safetensors files: what goes in comes out, byte for byte the same each time."""

import numpy as np
import pytest
import safetensors.torch
import torch

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays, write_arrays

ARRAYS = {
    "float32": np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4),
    "float64": np.array([np.pi, np.inf, -np.inf, np.nan, -0.0]),
    "int64": np.array([[-(2**62), 2**62]]),
    "uint8": np.arange(256, dtype=np.uint8),
    "bool": np.array([True, False]),
    "number": np.array(3.5),
    "counter": np.array(7, dtype=np.int64),
    "empty": np.zeros((0, 5), dtype=np.float32),
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "slice": np.arange(20)[::2],
    "with/slash and space": np.ones(1),
}


@pytest.fixture
def file(tmp_path):
    write_arrays(tmp_path / "deep" / "arrays.safetensors", ARRAYS)
    return tmp_path / "deep" / "arrays.safetensors"


def test_arrays_come_back_as_they_were(file):
    found = read_arrays(file)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


def test_another_reader_finds_the_same(file):
    found = safetensors.torch.load_file(file)
    assert found["number"].shape == torch.Size([])
    assert torch.equal(found["transposed"], torch.tensor([[0.0, 3], [1, 4], [2, 5]]))


def test_only_what_is_asked_for_is_read(file):
    assert read_arrays(file, ["uint8", "bool"]).keys() == {"uint8", "bool"}
    with pytest.raises(FlatlasError, match=r"arrays\.safetensors can't be read .*fc9"):
        read_arrays(file, ["fc9"])


def test_the_same_arrays_are_the_same_bytes(file, tmp_path):
    write_arrays(tmp_path / "again.safetensors", dict(reversed(ARRAYS.items())))
    assert (tmp_path / "again.safetensors").read_bytes() == file.read_bytes()


@pytest.mark.parametrize("share", [None, 0.0, 0.001, 0.5, 0.999])
def test_a_missing_or_truncated_file_is_named_with_the_remedy(file, share):
    whole = file.read_bytes()
    file.unlink()
    if share is not None:
        file.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FlatlasError, match=r"Delete it, and snakemake makes it again\.$") as raised:
        read_arrays(file)
    assert str(raised.value).startswith(f"{file} can't be read (")


def test_objects_are_refused(tmp_path):
    """There is no pickle to fall back on."""
    with pytest.raises(Exception, match=r"object|dtype"):
        write_arrays(tmp_path / "arrays.safetensors", {"any": np.array([{}, []], dtype=object)})
    assert list(tmp_path.iterdir()) == []
