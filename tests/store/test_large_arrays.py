"""Arrays on disk: filled piece by piece, and refused where the disk is too small for them."""

import subprocess

import numpy as np
import pytest

from flatlas.errors import FlatlasError
from flatlas.store.large_arrays import read_array, writing_array


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_an_array_comes_back(tmp_path):
    with writing_array(tmp_path / "kernel.npy", (2, 3)) as array:
        array[:] = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(read_array(tmp_path / "kernel.npy"), [[0, 1, 2], [3, 4, 5]])


def test_a_full_disk_is_named_before_anything_is_filled(small_disk):
    with (
        pytest.raises(FlatlasError, match=r"disk needs 2 MiB more, .* \(1 MiB free\)"),
        writing_array(small_disk / "kernel.npy", (512, 512)),
    ):
        pytest.fail("nothing can be filled")
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00v\x00{"])
def test_a_file_that_is_no_array_is_named(tmp_path, content):
    (tmp_path / "kernel.npy").write_bytes(content)
    with pytest.raises(FlatlasError, match=r"kernel\.npy can't be read"):
        read_array(tmp_path / "kernel.npy")
