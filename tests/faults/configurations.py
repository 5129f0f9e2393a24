"""Fuzz the configuration: change one key at a time, and see that a sentence refuses it.

    python tests/faults configurations --trials 1000 --seed 0

Every trial takes one study at one preset, with two of its figures. It sets a key to a wrong,
extreme or odd value, or adds a key that does not exist, and plans the study in a process that may
take 2 GB of memory and 20 s of processor time. The keys are those of the models, each as likely as
another. A trial ends as

- accepted: the plan was made (these are listed, to be looked through);
- refused: with sentences that name a file and a key;
- vague: with a sentence that names neither;
- late: it took too much memory or time;
- traceback: any other error.

No Snakemake starts: the trial begins where the Snakefile does, with a configuration as mappings.
"""

import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import yaml
from pydantic import Field, TypeAdapter, ValidationError

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow"))

from flatlas.errors import FlatlasError  # noqa: E402
from flatlas.plan.answers import answers  # noqa: E402, F401
from flatlas.plan.lookup import Lookup, lookup  # noqa: E402
from flatlas.plan.measure_specs import MEASURES  # noqa: E402
from flatlas.plan.mistakes import _alternatives, _is_model, shown  # noqa: E402
from flatlas.plan.settings import Settings  # noqa: E402
from flatlas.plan.studies import Study  # noqa: E402
from flatlas.plan.trees import Location, merged, with_value  # noqa: E402

MEMORY, SECONDS = 2 * 10**9, 20
OUTCOMES = ("accepted", "refused", "vague", "late", "traceback")
PRESETS = ("demo", "laptop", "paper")
# Each study with those that it borrows from. What `atlas` declares, others do, too.
STUDIES = {
    "duality": (),
    "prior": (),
    "annealing": (),
    "mystery": ("prior",),
    "false_friend": (),
}
KEYS = ["x", "", "a.b", "{x}", "x" * 300, "Lr", "a\nb", "\ud800", 1, None, 2.5]
VALUES: dict[str, list[Any]] = {
    "wrong type": [None, True, False, "text", 3, 0.5, [], {}, [1], ["a"], {"a": 1}, [[1]], [{}]],
    "extreme number": [
        0, -1, 1, 2, 10**6, 10**9, 10**12, 10**30, -(10**30), 2**63, 16**5000, 1e-300, 1e308,
        -1e308, math.nan, math.inf, -math.inf, 0.999999999999, [10**30], [10**6, 10**6],
        list(range(1, 20_000)), [1e308, 5e-324],
    ],
    "text": [
        "", " ", "x" * 300, "x" * 10**6, "1" * 5000, "{wild}", "{", "a\nb", "a\0b", "../..", "/",
        "~", "-", "é" * 200, "\ud800", "🙂", "<script>", "$(touch x)", "'\"", "1e400", "0x10",
        "nan", ["0..2000000000"], ["0..9999/0"], ["1" * 5000 + "..2"], ["met+" + "9" * 5000],
        "all", ["all"],
    ],
}  # fmt: skip
# Numbers and lists of which a field gets one that it takes, or the largest that it takes.
LARGE: list[Any] = [
        10, 1000, 10**4, 10**5, 10**7, 10**8, 0.1, 10.0, 1e6, [1.0, 1e6], ["0..9999"],
        ["0..99990000/10000"], list(range(1, 5000)), [1000] * 20, [100_000, 100_000],
        {"optimizer.lr": [0.01 * n for n in range(1, 100)], "batch": list(range(1, 100))},
        [{"batch": n} for n in range(1, 9000)],
]  # fmt: skip
KINDS = [*VALUES, "large", "nested", "unknown key"]


@dataclass(frozen=True)
class Place:
    """A field of a model, and where it is in a tree: of the user's configuration or of a study."""

    model: Any
    field: str
    location: Location
    study: str | None
    # What has to be there beside the field: a whole optimizer, say, of another kind.
    around: tuple[Location, Any] | None = None


@dataclass(frozen=True)
class Trial:
    """What one trial changes, and how it ended."""

    kind: str
    preset: str
    study: str
    # The file: the user's, the preset's or the study's; `top` for a key of no study.
    where: str
    location: Location
    value: Any
    outcome: str = ""
    said: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        key = ".".join(map(str, self.location))[:200]
        try:
            value = shown(self.value)
        except ValueError:
            value = "a number of thousands of digits"
        said = f"{self.where} ({self.preset}): {key} = {value}"
        return f"{said}\n    {self.outcome}, {self.seconds:.1f} s. {self.said[:1000]}"


def drawn(chance: random.Random) -> Trial:
    """A random trial: first the field, then one of the places where it is."""
    preset = chance.choice(PRESETS)
    fields = places(preset)
    place = chance.choice(fields[chance.choice(sorted(fields))])
    kind = chance.choice(KINDS)
    if kind in VALUES:
        value = chance.choice(VALUES[kind])
    else:
        value = large(chance, place) if kind == "large" else nested(chance)
    location = place.location
    if kind == "unknown key":
        location = (*location[:-1], chance.choice(KEYS))
    if place.around is not None:
        inside = location[len(place.around[0]) :]
        location, value = place.around[0], with_value(place.around[1], inside, value)
    if place.study is None:
        return Trial(kind, preset, "duality", "top", location, value)
    sweeps = [
        name
        for name, one in _study(place.study)["sweeps"].items()
        if one["run"] in location and "grid" in one
    ]
    if location[0] == "runs" and len(location) > 2 and sweeps and chance.random() < 0.3:
        swept = ".".join(map(str, location[2:]))
        location, value = ("sweeps", chance.choice(sweeps), "grid"), {swept: [value]}
    where = chance.choice(["user", "preset", "study"])
    return Trial(kind, preset, place.study, where, location, value)


def large(chance: random.Random, place: Place) -> Any:
    """A large value that a field takes, if there is one."""
    field = place.model.model_fields[place.field]
    limits = [
        one.le for one in (*field.metadata, *_metadata(field.annotation)) if hasattr(one, "le")
    ]
    check = TypeAdapter(Annotated[field.annotation, *field.metadata, Field()])
    taken = []
    for value in (*LARGE, *limits):
        with suppress(ValidationError):
            check.validate_python(value)
            taken.append(value)
    return chance.choice(taken or LARGE)


def _metadata(annotation: Any) -> Iterator[Any]:
    """All that is annotated in an annotation."""
    yield from getattr(annotation, "__metadata__", ())
    for part in get_args(annotation):
        yield from _metadata(part)


def nested(chance: random.Random) -> Any:
    """A value deep in others, or among many."""
    value = chance.choice(VALUES["wrong type"])
    for _ in range(chance.choice([1, 3, 10, 100])):
        value = chance.choice([[value], {"a": value}])
    if chance.random() < 0.3:
        for _ in range(30):
            value = [value, value]
    return value


@cache
def places(preset: str) -> dict[str, list[Place]]:
    """All places of each field of each model, at a preset."""
    found: dict[str, list[Place]] = {}
    user = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    trees = [(Settings, user, None)]
    for study in STUDIES:
        tree = merged(_study(study), _preset(preset).get(study, {}))
        trees.append((Study, tree, study))
        for name, options in tree["measures"].items():
            measure = MEASURES.get(options.get("measure"))
            if measure is not None:
                _enter(found, _of_model(measure, ("measures", name), options, study))
    for model, tree, study in trees:
        _enter(found, _of_model(model, (), tree, study))
    return found


def _enter(found: dict[str, list[Place]], some: Iterator[Place]) -> None:
    for place in some:
        found.setdefault(f"{place.model.__name__}.{place.field}", []).append(place)


def _of_model(model: Any, here: Location, tree: Any, study: str | None) -> Iterator[Place]:
    """The fields of a model that a tree has at a place, and those within them."""
    for name, field in model.model_fields.items():
        there = (*here, name)
        yield Place(model, name, there, study)
        value = tree.get(name) if isinstance(tree, dict) else None
        for kind in _alternatives(field.annotation):
            yield from _of_kind(kind, there, value, study)


def _of_kind(kind: Any, here: Location, value: Any, study: str | None) -> Iterator[Place]:
    """The fields of what may be at a place: a model, a member of a union, mappings of models."""
    if _is_model(kind):
        if isinstance(value, dict) and _fits(kind, value):
            yield from _of_model(kind, here, value, study)
        else:
            whole = example(kind)
            for place in _of_model(kind, here, whole, study):
                around = place.around or (here, whole)
                yield Place(place.model, place.field, place.location, study, around)
    elif get_args(kind) and isinstance(value, dict):
        inner = [one for part in get_args(kind)[1:] for one in _alternatives(part)]
        for key, one in value.items():
            for member in inner:
                yield from _of_kind(member, (*here, key), one, study)


def _fits(model: Any, value: dict[str, Any]) -> bool:
    """Whether a mapping has the tag of a model, if that has one."""
    name, field = next(iter(model.model_fields.items()))
    tags = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    return len(tags) != 1 or value.get(name) == tags[0]


def example(model: Any) -> dict[str, Any]:
    """The required keys of a model with values that it may take."""
    return {
        name: _example(field.annotation)
        for name, field in model.model_fields.items()
        if field.is_required()
    }


def _example(annotation: Any) -> Any:
    kind = _alternatives(annotation)[0]
    if _is_model(kind):
        return example(kind)
    if kind in (int, float, str):
        return {int: 1, float: 0.5, str: "x"}[kind]
    first = next(iter(get_args(kind)), None)
    return [_example(first)] if getattr(kind, "__origin__", None) is tuple else first


def tried(trial: Trial) -> Trial:
    """The trial with its outcome, from a process of its own."""
    reader, writer = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if not child:
        os.close(reader)
        outcome, said = _outcome(trial)
        with os.fdopen(writer, "w", errors="backslashreplace") as pipe:
            pipe.write(f"{outcome}\n{said[:10_000]}")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, errors="backslashreplace") as pipe:
        outcome, _, said = pipe.read().partition("\n")
    os.waitpid(child, 0)
    # A process that was killed has said nothing.
    return Trial(
        **vars(trial) | {"outcome": outcome or "late", "said": said}
        | {"seconds": time.monotonic() - begun}
    )  # fmt: skip


def _outcome(trial: Trial) -> tuple[str, str]:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    # A process that waits uses no processor time.
    signal.alarm(15 * SECONDS)
    try:
        return "accepted", f"{len(_planned(trial).jobs)} jobs"
    except FlatlasError as error:
        lines = str(error).splitlines()
        placed = all("config" in line or line.startswith(("…", "Figure ")) for line in lines)
        return "refused" if placed and len(str(error)) < 10_000 else "vague", str(error)
    except MemoryError:
        return "late", "MemoryError"
    except BaseException:
        return "traceback", traceback.format_exc()[-2000:]


def _planned(trial: Trial) -> Lookup:
    # No plan is kept, since there is no such folder.
    os.environ["XDG_CACHE_HOME"] = os.devnull
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "config"
        return lookup(_changed(trial, root), root, [])


def _changed(trial: Trial, root: Path) -> dict[str, Any]:
    """The user's configuration; the other files are written below `root`."""
    user = yaml.safe_load((ROOT / "config/config.yaml").read_text()) | {"preset": trial.preset}
    preset = {"title": "A preset", "studies": {}}
    (root / "studies").mkdir(parents=True)
    (root / "presets").mkdir()
    for own in ("my_model.yaml", "atlas_mine.yaml"):
        shutil.copy(ROOT / "config" / own, root)
    name, files = trial.study, {trial.study: _with_few_figures(trial)}
    files |= {study: _study(study) | {"figures": {}} for study in STUDIES[name]}
    # A preset would hide a mistake that it replaces.
    changes = {} if trial.where == "study" else _preset(trial.preset)
    preset["studies"] = {study: changes.get(study, {}) for study in files}
    if trial.where == "top":
        user = with_value(user, trial.location, trial.value)
    elif trial.where == "user":
        user = with_value(user, ("studies", name, *trial.location), trial.value)
    elif trial.where == "preset":
        preset = with_value(preset, ("studies", name, *trial.location), trial.value)
    else:
        files[name] = with_value(files[name], trial.location, trial.value)
    _write(root / "presets" / f"{trial.preset}.yaml", preset)
    for study, tree in files.items():
        _write(root / "studies" / f"{study}.yaml", tree)
    return user


def _with_few_figures(trial: Trial) -> dict[str, Any]:
    """A study with two of its figures, if possible such that show what the trial changes."""
    study = _study(trial.study)
    figures = study["figures"]
    shown = []
    for name, figure in figures.items():
        sweeps = [one for one in figure.get("sweeps", []) if one in study["sweeps"]]
        bases = [study["sweeps"][one]["run"] for one in sweeps]
        if {name, *sweeps, *bases, *figure.get("measures", [])} & {*map(str, trial.location)}:
            shown.append(name)
    return study | {"figures": {name: figures[name] for name in [*shown, *figures][:2]}}


def _write(path: Path, tree: Any) -> None:
    path.write_text(yaml.dump(tree, Dumper=Dumper, width=math.inf), encoding="utf-8")


class Dumper(yaml.SafeDumper):
    """YAML with numbers that Python does not write in decimal."""


Dumper.add_representer(
    int, lambda dumper, number: dumper.represent_scalar("tag:yaml.org,2002:int", hex(number))
)


@cache
def _study(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / f"config/studies/{name}.yaml").read_text())


@cache
def _preset(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / f"config/presets/{name}.yaml").read_text())["studies"]


def table(ended: list[Trial]) -> str:
    """How many trials of each kind ended how, in Markdown."""
    counts = Counter((trial.kind, trial.outcome) for trial in ended)
    lines = [f"| value | tried | {' | '.join(OUTCOMES)} |", "| --- |" + " ---: |" * 6]
    for kind in [*KINDS, "all"]:
        some = KINDS if kind == "all" else [kind]
        numbers = [sum(counts[one, outcome] for one in some) for outcome in OUTCOMES]
        lines.append(f"| {kind} | {sum(numbers)} | {' | '.join(map(str, numbers))} |")
    slowest = max(trial.seconds for trial in ended)
    return "\n".join([*lines, "", f"The slowest took {slowest:.1f} s."])


def report(count: int, seed: int) -> bool:
    """Try so many, print what was not refused and the table; whether all ended as they should."""
    sys.stdout.reconfigure(errors="backslashreplace")
    # Reads the library once, which the process of each trial would do again.
    _planned(Trial("nothing wrong", "demo", "duality", "user", ("realizations",), 2))
    ended = []
    for number in range(count):
        trial = tried(drawn(random.Random(f"{seed} {number}")))
        ended.append(trial)
        if trial.outcome != "refused":
            print(trial, flush=True)
    print(table(ended))
    return not any(trial.outcome in OUTCOMES[2:] for trial in ended)
