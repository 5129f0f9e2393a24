"""A small configuration, and changes to it."""

import copy
from pathlib import Path

import yaml

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
    "sources": {
        "mnist": {"kind": "mnist"},
        "digits": {"kind": "digits"},
        "boolean": {"kind": "boolean", "bits": 3},
    },
    "studies": {"flat": {}},
}


class Removed:
    """Set a key to this to take it away."""


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


def write(path: Path, tree: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(tree))
