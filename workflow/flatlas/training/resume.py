"""The saved state of an interrupted training.

The state is outside the job's declared outputs, because Snakemake deletes those before a job and
after a failure. It records which training it belongs to, and no other training resumes from it.
"""

import hashlib
import json
import logging
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from flatlas.errors import FlatlasError
from flatlas.store.atomic import replacing
from flatlas.store.provenance import checksum

logger = logging.getLogger("flatlas")
# The largest share of the time that saving may take.
LARGEST_SHARE = 0.05
DIGEST_SIZE = hashlib.sha256().digest_size


class Resume:
    """Saves and finds the state of a training.

    The state is one file, written atomically. It begins with the SHA-256 of the rest; a damaged
    file is ignored.
    """

    def __init__(self, folder: Path, identity: str = "", place: str = "") -> None:
        """Write nothing before the first save. A state of another identity is ignored.

        A state of another `place`, such as another device or kernel, differs in its last bits:
        `find` then raises an error and keeps the state.
        """
        self.folder, self.identity, self.place = folder, identity, place
        self.path = folder / "state"
        self._saved_at = time.monotonic()
        self._cost = 0.0

    def find(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The arrays and facts of an interrupted training, if any."""
        if not self.path.exists():
            return None
        arrays = read_state(self.path)
        if arrays is None:
            logger.warning("%s is damaged: the training starts from the beginning", self.path)
            return None
        facts: dict[str, Any] = json.loads(arrays.pop("facts").tobytes())
        if facts["identity"] != self.identity:
            return None
        if facts["place"] != self.place:
            raise FlatlasError(
                f"{self.folder} has the first {facts['done_epochs']} epochs of this training, "
                f"computed on {facts['place']}. Continuing on {self.place} would change the last "
                f"bits. Give the job {facts['place']} again, or delete the folder to start again."
            )
        return arrays, facts

    def due(self) -> bool:
        """Whether the last save took a small enough share of the time since."""
        return self._cost <= LARGEST_SHARE * (time.monotonic() - self._saved_at)

    def save(
        self, arrays: dict[str, np.ndarray], facts: dict[str, Any], began: float | None = None
    ) -> None:
        """Replace the saved state. `began` is when the caller began to collect the new one."""
        began = time.monotonic() if began is None else began
        facts = {**facts, "identity": self.identity, "place": self.place}
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        arrays_as_bytes = save({**contiguous, "facts": text})
        with replacing(self.path) as temporary, temporary.open("wb") as file:
            file.write(hashlib.sha256(arrays_as_bytes).digest())
            file.write(arrays_as_bytes)
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - began

    def forget(self) -> None:
        """Remove the state of a finished training."""
        shutil.rmtree(self.folder, ignore_errors=True)


def read_state(path: Path) -> dict[str, np.ndarray] | None:
    """The arrays of a saved state; None if the file is damaged."""
    content = path.read_bytes()
    digest, arrays = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
    return load(arrays) if digest == hashlib.sha256(arrays).digest() else None


def identity(spec: Mapping[str, Any], code: str, files: Iterable[str]) -> str:
    """A digest of everything that defines a training: its spec, its code and its data.

    The folder's name is not enough: a run's id leaves out defaults, and the images may have been
    drawn again.
    """
    digest = hashlib.sha256(json.dumps([spec, code], sort_keys=True).encode())
    for path in files:
        digest.update(checksum(path).encode())
    return digest.hexdigest()


def section(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a state whose names begin with a prefix; the prefix is removed."""
    return {
        name.removeprefix(f"{prefix}/"): value
        for name, value in arrays.items()
        if name.startswith(f"{prefix}/")
    }
