"""A small configuration, changes to it, and a run."""

import copy
from pathlib import Path

import yaml

CONFIG = Path(__file__).resolve().parents[2] / "config"
PRESETS = sorted(path.stem for path in (CONFIG / "presets").glob("*.yaml"))
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
    "studies": {},
}
# The spec of a training job: two seeds of a small net, 4,000 images to train and 2,000 to test.
RUN = {
    "samples": {
        "source": {"kind": "mnist"},
        "per_class": 400,
        "test_size": 2000,
        "seeds": [0, 1],
    },
    "net": {"family": "dense", "hidden": [30, 30]},
    "optimizer": {"name": "sgd", "lr": 0.1},
    "batch": 25,
    "stop": {"epochs": 100},
    "input_shape": [1, 28, 28],
    "outputs": 10,
    "seeds": [0, 1],
}


class Removed:
    """A value that removes its key."""


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
            here[last] = copy.deepcopy(value)
    return tree


def write(path: Path, tree: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(tree))
