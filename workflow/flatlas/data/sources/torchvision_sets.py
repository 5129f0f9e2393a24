"""What the sets from torchvision share: checksums and atomic downloads."""

import hashlib
import shutil
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from torchvision.datasets import CIFAR10, VisionDataset

from flatlas.data.images import Images
from flatlas.errors import FlatlasError
from flatlas.store.atomic import replacing


def check(path: Path, md5: str) -> None:
    """Refuse a file that is not, byte for byte, the published one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != md5:
        raise FlatlasError(
            f"{path} is truncated or altered: its MD5 checksum is {found}, expected {md5}. "
            "Delete it; it is downloaded again on a machine with internet."
        )


def download(dataset: type[VisionDataset], root: Path, folder: str, missing: Sequence[str]) -> None:
    """Have torchvision download a set, and move missing files into `root/folder`.

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
        raise FlatlasError(
            f"{root / folder} lacks {', '.join(missing)}, and the download failed ({cause}). "
            f"{root} is data_root in config/config.yaml: set it to the directory that has "
            f"{folder} in it, or run once on a machine with internet."
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
        check(folder / name, md5)
    train, test = dataset(root, train=True), dataset(root, train=False)
    return Images(
        train_images=train.data.transpose(0, 3, 1, 2),
        train_labels=np.array(train.targets),
        test_images=test.data.transpose(0, 3, 1, 2),
        test_labels=np.array(test.targets),
    )
