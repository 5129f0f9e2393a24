"""A small configuration on disk, and the plan that comes of it after a few changes."""

import copy
from pathlib import Path

import pytest
import yaml

from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve

STUDY = {
    "title": "A study",
    "paper": "A paper",
    "realizations": 2,
    "runs": {
        "base": {
            "data": {"source": "digits", "per_class": 10, "test_size": 20},
            "net": {"family": "dense", "hidden": [4, 3]},
            "optimizer": {"name": "sgd", "lr": 0.1},
            "batch": 5,
            "stop": {"epochs": 7},
        }
    },
    "sweeps": {
        "alpha": {"run": "base", "grid": {"optimizer.lr": [0.05, 0.1]}},
        "batch": {"run": "base", "grid": {"batch": [5, 10]}},
    },
    "measures": {"hidden": {"measure": "duality", "layer": "fc2"}},
    "figures": {
        "fig1": {"title": "One", "sweeps": ["alpha"], "measures": ["hidden"]},
        "fig2": {"title": "Two", "sweeps": ["alpha", "batch"]},
    },
}
PRESET = {"title": "Small", "studies": {"flat": {}}}
USER = {
    "preset": "small",
    "data_root": "somewhere",
    "sources": {"mnist": {"kind": "mnist"}, "digits": {"kind": "digits"}},
    "studies": {"flat": {}},
}


class Removed:
    """Set a key to this to take it away."""


@pytest.fixture
def plan_of(tmp_path):
    """Resolve the small configuration; each argument changes one file, by dotted or listed keys."""

    def resolved(study=None, preset=None, user=None) -> Plan:
        root = tmp_path / "config"
        _write(root / "studies" / "flat.yaml", changed(STUDY, study))
        _write(root / "presets" / "small.yaml", changed(PRESET, preset))
        return resolve(changed(USER, user), root)

    return resolved


def changed(tree: dict, changes: dict | None) -> dict:
    """A copy of the tree with a value at each dotted key (a tuple where a part has a dot)."""
    tree = copy.deepcopy(tree)
    for key, value in (changes or {}).items():
        *parents, last = key if isinstance(key, tuple) else key.split(".")
        here = tree
        for part in parents:
            here = here.setdefault(part, {})
        if value is Removed:
            del here[last]
        else:
            here[last] = value
    return tree


def _write(path: Path, tree: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(tree))
