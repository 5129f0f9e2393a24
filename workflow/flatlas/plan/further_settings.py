"""Settings that distinguish networks of a measure table but have no column of their own."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from flatlas.plan.data_specs import subset_of
from flatlas.plan.ids import run_id
from flatlas.plan.points import FULL_BATCH
from flatlas.plan.tables import NETWORK_SETTINGS
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import by_key

# The parts of a run that determine a network when it meets its rule, including the settings of its
# images that have no column. The run that it starts from counts as one setting.
PARTS = ("optimizer.", "net.", "schedule.", "penalty.", "average.", "learners.")
WHOLE = ("frozen", "precision")
OF_IMAGES = ("classes", "only", "split")
# Left out if all layers have one width: the columns width and depth then say the same.
LAYERS = "net.hidden"


def further_settings(
    runs: Mapping[str, RunSpec],
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The further settings of each run, by their keys; and the name of each key's type.

    They are the options in which runs of one optimizer and family differ, and FULL_BATCH where the
    number of images in a minibatch does not say whether it is `full`.
    """
    said = {name: _without_column(run) for name, run in runs.items()}
    keys = sorted(_differing(runs, said))
    if full := _full_batches(runs):
        said = {
            name: one | {FULL_BATCH: True} if name in full else one for name, one in said.items()
        }
        keys.append(FULL_BATCH)
    types = {key: _type([one[key] for one in said.values() if key in one]) for key in keys}
    settings = {
        name: {
            key: _text(one[key]) if kind == "str" else one[key]
            for key, kind in types.items()
            if key in one
        }
        for name, one in said.items()
    }
    return settings, types


def _differing(runs: Mapping[str, RunSpec], said: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The keys in which runs of one optimizer and family differ."""
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for name, run in runs.items():
        alike[run.optimizer.name, run.net.family].append(said[name])
    return {
        key
        for some in alike.values()
        for key in {key for options in some for key in options}
        if len({_text(options.get(key)) for options in some}) > 1
    }


def _without_column(run: RunSpec) -> dict[str, Any]:
    """The run's settings that have no column."""
    said = {
        key: value
        for key, value in by_key(run.resolved()).items()
        if (key.startswith(PARTS) or key in WHOLE) and key not in NETWORK_SETTINGS
    }
    if len({*said.get(LAYERS, ())}) <= 1:
        said.pop(LAYERS, None)
    subset = subset_of(run.samples)
    images = {f"data.{key}": getattr(subset, key, None) for key in OF_IMAGES}
    said |= {key: value for key, value in images.items() if value is not None}
    if run.start:
        said |= {"start.run": run_id(run.start.run), "start.fresh": run.start.fresh}
    return said


def _type(values: Collection[Any]) -> str:
    """The type that all values have; text if they have none in common."""
    kinds = {type(value) for value in values}
    for kind, fitting in ((bool, {bool}), (int, {int}), (float, {int, float})):
        if kinds <= fitting:
            return kind.__name__
    return str.__name__


def _text(value: Any) -> str:
    """A value as text: a list as its values joined by `;`, anything nested as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and not any(isinstance(one, list | dict) for one in value):
        return ";".join(map(_text, value))
    return json.dumps(value)


def _full_batches(runs: Mapping[str, RunSpec]) -> set[str]:
    """The runs with a full batch; none if one batch size identifies them among all runs."""
    full = {name for name, run in runs.items() if run.batch == "full"}
    sizes = {runs[name].minibatch for name in full}
    others = {run.minibatch for name, run in runs.items() if name not in full}
    return full if len(sizes) > 1 or sizes & others else set()
