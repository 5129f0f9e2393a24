"""The settings of a network in its row of a measure table, and the options of its measures."""

from collections.abc import Iterable
from typing import Any

from flatlas.plan.data_specs import FunctionsSpec, NoiseSpec, subset_of
from flatlas.plan.ids import source_slug
from flatlas.plan.measure_specs import MeasureSpec
from flatlas.plan.plan import Entry, Plan
from flatlas.plan.source_sizes import attack_size, images_to_test_on, images_to_train_on
from flatlas.plan.tables import NETWORK_SETTINGS
from flatlas.plan.training_specs import RunSpec
from flatlas.plan.trees import by_key


def described(plan: Plan, entries: Iterable[Entry]) -> dict[str, Any]:
    """For the spec of a table of these runs: their settings, the types, the measures' options."""
    entries = list(entries)
    return {
        "settings": {entry.run: settings_of(plan.runs[entry.run]) for entry in entries},
        "types": {name: column.type.__name__ for name, column in NETWORK_SETTINGS.items()},
        "options": _options(plan, entries),
    }


def _options(plan: Plan, entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The options of each measure, as taken on the first run that has it."""
    first: dict[str, str] = {}
    for entry in entries:
        first = {**entry.measurements, **first}
    return {name: _taken(plan.measurements[one]) for name, one in sorted(first.items())}


def _taken(measured: MeasureSpec) -> dict[str, Any]:
    """The options of a measure. The last layer is `last`, since its name depends on the network."""
    options = measured.options.model_dump(mode="json", exclude={"at"}, exclude_none=True)
    is_last = options.get("layer") == measured.run.net.names("dense")[-1]
    return options | ({"layer": "last"} if is_last else {})


def settings_of(run: RunSpec) -> dict[str, Any]:
    """The settings in a network's row, by the columns of the table."""
    known = by_key(run.resolved()) | _of_data(run) | _of_net(run)
    return {name: known.get(name) for name in NETWORK_SETTINGS}


def _of_data(run: RunSpec) -> dict[str, Any]:
    samples, subset = run.samples, subset_of(run.samples)
    trained, attack = images_to_train_on(samples), attack_size(samples)
    positive, functions = getattr(subset, "positive", None), isinstance(subset, FunctionsSpec)
    return {
        "data.source": source_slug(subset.source),
        "data.positive": None if positive is None else ";".join(map(str, positive)),
        "data.train_size": trained - attack,
        "data.test_size": None if functions else images_to_test_on(samples),
        "data.label_noise": samples.fraction if isinstance(samples, NoiseSpec) else 0.0,
        "data.attack_size": attack,
        "batch": run.minibatch,
    }


def _of_net(run: RunSpec) -> dict[str, Any]:
    hidden = getattr(run.net, "hidden", None)
    if hidden is None:
        return {}
    return {"width": hidden[0] if hidden else None, "depth": len(hidden)}
