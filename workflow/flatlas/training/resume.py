"""The state of a training that was interrupted, and where it waits.

It lies outside the job's declared outputs, which Snakemake deletes before and after a failed job,
and it says what it is the state of: nothing else ever goes on from it.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays, write_arrays

LARGEST_SHARE = 0.05


class Resume:
    """Saves and finds a state; the state is one file, so it is there whole or not at all."""

    def __init__(self, folder: Path, identity: str = "", place: str = "") -> None:
        """Nothing is written before the first save. A state of another identity is not taken up.

        A state of another `place`, such as another device or another kernel, is one of the same
        training, but its numbers differ in their last bits: it is neither used nor deleted.
        """
        self.folder, self.identity, self.place = folder, identity, place
        self.path = folder / "state.safetensors"
        self._saved_at = time.monotonic()
        self._cost = 0.0

    def find(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """The arrays and facts of an interrupted training, if there are any."""
        if not self.path.exists():
            return None
        try:
            arrays = read_arrays(self.path)
        except FlatlasError:
            return None
        facts: dict[str, Any] = json.loads(arrays.pop("facts").tobytes())
        if facts["identity"] != self.identity:
            return None
        if facts["place"] != self.place:
            raise FlatlasError(
                f"{self.folder} has the first {facts['done_epochs']} epochs of this training, made "
                f"by {facts['place']}; here it would go on by {self.place}, to other last bits. "
                f"Give the job {facts['place']} again, or delete that folder to begin anew."
            )
        return arrays, facts

    def due(self) -> bool:
        """Whether saving now keeps its share of the time small."""
        return self._cost <= LARGEST_SHARE * (time.monotonic() - self._saved_at)

    def save(self, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
        """Replace the state."""
        began = time.monotonic()
        facts = {**facts, "identity": self.identity, "place": self.place}
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        write_arrays(self.path, {**arrays, "facts": text})
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - began

    def forget(self) -> None:
        """Remove the state of a training that is done."""
        shutil.rmtree(self.folder, ignore_errors=True)


def identity(spec: Mapping[str, Any], code: str, files: Iterable[str]) -> str:
    """A digest of all that a training is: what is trained, by which code, on what.

    The folder's name does not say it all: a run's id leaves defaults out, and the images may have
    been drawn anew since.
    """
    digest = hashlib.sha256(json.dumps([spec, code], sort_keys=True).encode())
    for path in files:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def section(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a state whose names begin with a prefix, without it."""
    return {
        name.removeprefix(f"{prefix}/"): value
        for name, value in arrays.items()
        if name.startswith(f"{prefix}/")
    }
