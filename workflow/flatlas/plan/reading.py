"""Configuration files as Snakemake reads them, with a better error if it can't."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from flatlas.plan.trees import USER, at, has, location_of

# Ten times as fast if PyYAML was built with libyaml.
QUICK_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@contextmanager
def reading(file: str) -> Iterator[None]:
    """Say what is wrong with the file and where, if Snakemake fails to read it."""
    try:
        yield
    except Exception:
        # Imported here because its models are slow to load.
        from flatlas.plan.documents import read_yaml

        read_yaml(Path(file))
        raise


def where_set(key: str, config: Mapping[str, Any], files: Sequence[str | Path]) -> str:
    """Where a dotted key of the configuration is set: in a file, or by --config.

    `files` are those that Snakemake has read: first those of --configfile, then config/config.yaml.
    Of those of --configfile the last one decides. If the key is set nowhere, its mapping counts.
    """
    *given, own = files
    place = location_of(key)
    deepest, found = 0, "--config"
    for file in (*reversed(given), own):
        value: Any = yaml.load(Path(file).read_bytes(), QUICK_LOADER)
        for depth in range(1, len(place) + 1):
            if not (has(value, place[:depth]) and has(config, place[:depth])):
                break
            if depth > deepest:
                # Text, since Snakemake has paths here, and the parameters of a job must be text.
                same = _agree(at(value, place[:depth]), at(config, place[:depth]))
                deepest, found = depth, str(file) if same else "--config"
    return "--config" if deepest < len(place) and has(config, place) else found


def _agree(in_file: Any, set_by_user: Any) -> bool:
    """Whether a value is the one in the file; parts of a mapping may have been set elsewhere."""
    if isinstance(in_file, Mapping):
        return isinstance(set_by_user, Mapping)
    try:
        return bool(in_file == set_by_user)
    except RecursionError:
        # A list that contains itself, or is nested too deeply to be compared.
        return True


def with_places(message: str, config: Mapping[str, Any], files: Sequence[str | Path]) -> str:
    """An error of the plan that names where each of its keys is set."""

    def place(match: re.Match[str]) -> str:
        key = match[1].rstrip(".")
        if location_of(key)[0] not in config:
            return match[0]
        return f"{where_set(key, config, files)}: {match[1]}"

    return re.sub(rf"{re.escape(USER)}: ([\w.-]+)", place, message)
