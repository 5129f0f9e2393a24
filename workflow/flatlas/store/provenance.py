"""The provenance beside every result: its spec, code, machine and course."""

import json
import platform
import resource
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from flatlas.store.atomic import replacing

LIBRARIES = ("numpy", "scipy", "pandas", "torch", "torchvision", "scikit-learn", "matplotlib")


def write_provenance(
    path: str | Path, *, spec: Mapping[str, Any], code: str, seconds: float, **circumstances: Any
) -> None:
    """Write the JSON of one result; `circumstances` adds device, convergence and the like."""
    record = {
        "spec": spec,
        "code": code,
        "wall_seconds": round(seconds, 3),
        "peak_memory_mib": _peak_memory_mib(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": _versions(),
        **circumstances,
    }
    write_json(path, record)


def _peak_memory_mib() -> int:
    """Peak memory of this process or of the largest that it started, such as a learner."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(one).ru_maxrss for one in whose)
    # Kilobytes on Linux, bytes on macOS.
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))


def write_json(path: str | Path, tree: Any) -> None:
    """Write JSON that people can read and compare line by line."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(tree, indent=1, ensure_ascii=False) + "\n")


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
