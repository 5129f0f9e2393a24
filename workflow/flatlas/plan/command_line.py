"""Better errors, and dotted keys, where Snakemake reads `--config` and `--configfile`.

Snakemake reads them before the Snakefile. A mistake in them ends in a traceback, or in an error
without a line number. The profile is read even earlier, and it runs profiles/settings.py.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from flatlas.errors import FlatlasError
from flatlas.plan.reading import reading
from flatlas.plan.trees import Location, dotted, leaves, location_of, with_value

# The keys that Snakemake allows, and dotted ones.
KEY = re.compile(r"[a-zA-Z_][\w-]*\w(\.[\w-]+)*")


def read_settings_better() -> None:
    """Replace two functions of Snakemake in this process. Snakemake has no setting for it."""
    from snakemake import cli
    from snakemake.exceptions import CliException
    from snakemake.settings import types

    parse_config, load_configfile = cli.parse_config, types.load_configfile

    def parsed(entries: list[str] | None) -> dict[str, Any]:
        if entries:
            try:
                # Changed in place, since Snakemake also passes the list to jobs on a cluster.
                entries[:] = nested(entries)
            except FlatlasError as error:
                raise CliException(str(error)) from None
        return parse_config(entries)

    def loaded(path: Path) -> dict[str, Any]:
        try:
            with reading(str(path)):
                return load_configfile(path)
        except FlatlasError as error:
            raise CliException(str(error)) from None

    cli.parse_config, types.load_configfile = parsed, loaded


def nested(entries: Iterable[str]) -> Iterator[str]:
    """The entries of --config, each dotted key as a mapping: `a.b=1` as `a={"b": "1"}`."""
    given = set[Location]()
    for entry in entries:
        key, said, value = entry.partition("=")
        if not said:
            raise FlatlasError(
                f"--config takes settings such as preset=laptop, but was given '{entry}'. If it is "
                f"a target, write it first: snakemake {entry} --config …"
            )
        if not KEY.fullmatch(key):
            raise FlatlasError(
                f"--config: '{key}' is not a key. Allowed: names joined by dots, as in "
                "studies.duality.realizations=3. A name has letters, digits, '_' and '-'; the "
                "first has at least two of them, and does not begin with a digit or '-'."
            )
        if not value.strip():
            raise FlatlasError(
                f"--config: '{key}' has no value. Write one, or leave '{key}' out. In a study, "
                "null removes an optional setting and {} is an empty mapping."
            )
        place = location_of(key)
        tree = with_value({}, place, _read(value))
        for one in leaves(tree):
            # Snakemake would silently take the last one.
            if again := [other for other in given if one[: len(other)] == other[: len(one)]]:
                raise FlatlasError(
                    f"--config sets '{dotted(min(*again, one))}' twice: set it once."
                )
        given |= leaves(tree).keys()
        if len(place) > 1:
            # Snakemake would double a backslash when it passes the text to a cluster's job.
            entry = f"{place[0]}={json.dumps(tree[place[0]], ensure_ascii=False)}"
        yield entry


def _read(value: str) -> Any:
    """A value as Snakemake reads it within a mapping: lists and mappings of texts."""
    try:
        return yaml.load(value, yaml.BaseLoader)
    except yaml.YAMLError:
        return value
