"""Checksums and atomic downloads of the sets from torchvision."""

import gzip
import hashlib
import shutil
import zlib
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from torchvision.datasets import CIFAR10, VisionDataset

from flatlas.data.images import Images
from flatlas.data_root import NotInDataRootError, hint
from flatlas.errors import FlatlasError
from flatlas.published_sets import REMEDY
from flatlas.store.atomic import replacing


def checked(path: Path, md5: str) -> bytes:
    """The content of a file, unpacked; an error unless it is byte for byte as published."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, OSError, zlib.error) as error:
        raise FlatlasError(f"{path} is truncated or altered: {error}. {REMEDY}") from error
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if found != md5:
        raise FlatlasError(
            f"{path} is truncated or altered: the MD5 checksum of its content is {found}, expected "
            f"{md5}. {REMEDY}"
        )
    return content


def download(dataset: type[VisionDataset], root: Path, folder: str, missing: Sequence[str]) -> None:
    """Download a set by torchvision, and copy its missing files into `root/folder`.

    torchvision works in a temporary directory, so an interrupted download leaves no incomplete file
    in `root`.
    """
    try:
        with TemporaryDirectory() as temporary:
            dataset(temporary, download=True)
            for name in missing:
                with replacing(root / folder / name) as arriving:
                    shutil.copyfile(Path(temporary, folder, name), arriving)
    except (RuntimeError, OSError, HTTPException) as error:
        cause = " ".join(str(error).split())
        own = root / dataset.__name__.lower()
        images = f" If {own} has your own images, set kind: folder (config/README.md)."
        raise NotInDataRootError(
            f"{root / folder} lacks {', '.join(missing)}, and the download failed ({cause}). Set "
            f"data_root to the folder that contains {folder}, or run once on a machine with "
            f"internet access.{hint(root, folder)}{images if (own / 'train').is_dir() else ''}"
        ) from error


def load_cifar(dataset: type[CIFAR10], root: Path) -> Images:
    """CIFAR-10 or CIFAR-100, downloaded if missing.

    torchvision unpickles the files, so their checksums are verified first.
    """
    checksums: dict[str, str] = dict([*dataset.train_list, *dataset.test_list])
    checksums[dataset.meta["filename"]] = dataset.meta["md5"]
    folder = root / dataset.base_folder
    missing = [name for name in checksums if not (folder / name).is_file()]
    if missing:
        download(dataset, root, dataset.base_folder, missing)
    for name, md5 in checksums.items():
        checked(folder / name, md5)
    train, test = dataset(root, train=True), dataset(root, train=False)
    return Images(
        train_images=train.data.transpose(0, 3, 1, 2),
        train_labels=np.array(train.targets),
        test_images=test.data.transpose(0, 3, 1, 2),
        test_labels=np.array(test.targets),
    )
