"""The state of a training that was interrupted, and where it waits.

It lies outside the job's declared outputs, which Snakemake deletes before and after a failed job,
on a path that changes with the spec and with the code.
"""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from flatlas.errors import FlatlasError
from flatlas.store.arrays import read_arrays, write_arrays

LARGEST_SHARE = 0.05


class Resume:
    """Saves and finds a state; the state is one file, so it is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written before the first save."""
        self.folder = folder
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
        return arrays, facts

    def due(self) -> bool:
        """Whether saving now keeps its share of the time small."""
        return self._cost <= LARGEST_SHARE * (time.monotonic() - self._saved_at)

    def save(self, arrays: dict[str, np.ndarray], facts: dict[str, Any]) -> None:
        """Replace the state."""
        began = time.monotonic()
        text = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        write_arrays(self.path, {**arrays, "facts": text})
        self._saved_at = time.monotonic()
        self._cost = self._saved_at - began

    def forget(self) -> None:
        """Remove the state of a training that is done."""
        shutil.rmtree(self.folder, ignore_errors=True)
