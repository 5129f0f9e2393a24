"""Configuration files as Snakemake reads them, with a better error if it can't."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from flatlas.plan.trees import USER, has

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
    parts = (*key.split("."),)
    deepest, found = 0, "--config"
    for file in (*reversed(given), own):
        value: Any = yaml.load(Path(file).read_bytes(), QUICK_LOADER)
        set_by_user: Any = config
        for depth, part in enumerate(parts, start=1):
            if not isinstance(value, Mapping) or part not in value:
                break
            value, set_by_user = value[part], set_by_user[part]
            if depth > deepest:
                # Text, since Snakemake has paths here, and the parameters of a job must be text.
                same = isinstance(value, Mapping) or value == set_by_user
                deepest, found = depth, str(file) if same else "--config"
    return "--config" if deepest < len(parts) and has(config, parts) else found


def with_places(message: str, config: Mapping[str, Any], files: Sequence[str | Path]) -> str:
    """An error of the plan that names where each of its keys is set."""

    def place(match: re.Match[str]) -> str:
        return f"{where_set(match[1].rstrip('.'), config, files)}: {match[1]}"

    return re.sub(rf"{re.escape(USER)}: ([\w.-]+)", place, message)
