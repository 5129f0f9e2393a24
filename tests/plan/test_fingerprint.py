"""Fingerprints of code change with the code that a result depends on, and with nothing else."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
DENSE = "flatlas/nets/dense.py"
LIBRARY = {
    "flatlas/__init__.py": '"""A library."""\n',
    "flatlas/plan/__init__.py": "",
    "flatlas/plan/numbers.py": "COUNT = 3\n",
    "flatlas/jobs/__init__.py": "",
    "flatlas/jobs/log.py": "import logging\n",
    "flatlas/nets/__init__.py": "from flatlas.nets.layers import LAYERS\n",
    "flatlas/nets/layers.py": "LAYERS = 2\n",
    DENSE: '"""A net."""\n\nWIDTH = 30\n\ndef build(width=WIDTH):\n    return width\n',
    "flatlas/nets/wide.py": "WIDTH = 60\n",
    "flatlas/store/__init__.py": "",
    "flatlas/store/arrays.py": "import flatlas.store.atomic\n",
    "flatlas/store/atomic.py": "from flatlas.store import arrays\nSUFFIX = '.part'\n",
    "flatlas/late.py": "LATE = 1\n",
    "flatlas/deep/__init__.py": "DEPTH = 1\n",
    "flatlas/deep/bottom.py": "",
    "script.py": (
        "from flatlas.jobs.log import logging\n"
        "from flatlas.nets import dense\n"
        "from flatlas.plan.numbers import COUNT\n"
        "import flatlas.store.arrays as arrays\n"
        "import flatlas.deep.bottom\n"
        "def later():\n"
        "    from flatlas import late\n"
    ),
}


@pytest.fixture
def library(tmp_path):
    """A few modules, some of which a script imports, and the real fingerprint."""
    for name, text in LIBRARY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("errors.py", "plan/fingerprint.py", "plan/kept.py"):
        shutil.copy(WORKFLOW / "flatlas" / name, tmp_path / "flatlas" / name)
    return tmp_path


@pytest.fixture
def fingerprint(python):
    """Take a fingerprint in a fresh process, with the cache of earlier ones in `memory`."""
    code = (
        "import sys; from pathlib import Path; from flatlas.plan.fingerprint import fingerprint;"
        "print(fingerprint(Path('script.py'), *sys.argv[1:]))"
    )

    def taken(library, *roots, hash_seed="0", memory=None):
        own = {"PYTHONPATH": str(library), "XDG_CACHE_HOME": str(memory or library)}
        return python(code, *roots, folder=library, PYTHONHASHSEED=hash_seed, **own).strip()

    return taken


def test_a_fingerprint_is_the_same_in_every_process_and_folder(
    fingerprint, library, tmp_path_factory
):
    moved = shutil.copytree(library, tmp_path_factory.mktemp("elsewhere") / "library")
    assert fingerprint(moved, hash_seed="1") == fingerprint(library, hash_seed="2")


WITHOUT_EFFECT = [
    # What Python does not run.
    (DENSE, "WIDTH = 30", "WIDTH = 30  # as in the paper"),
    (DENSE, '"""A net."""', '"""A dense net,\nof some width.\n"""'),
    (DENSE, '"""A net."""', ""),
    (DENSE, "    return width", '    """What was given."""\n    return width'),
    (DENSE, "build(width=WIDTH)", "build(\n    width = WIDTH,\n)"),
    (DENSE, "\n\ndef", "\n\n\n\n# The way in.\ndef"),
    ("flatlas/store/atomic.py", "'.part'", '".part"'),
    ("script.py", "def later():", "\n\ndef later():  # when it is needed"),
    # The plan, the jobs, and what is not imported.
    ("flatlas/plan/numbers.py", "COUNT = 3", "COUNT = 4"),
    ("flatlas/jobs/log.py", "logging", "logging, os"),
    ("flatlas/nets/wide.py", "WIDTH = 60", "WIDTH = 61"),
]
WITH_EFFECT = [
    # The script itself, and what it imports in each way of writing an import.
    ("script.py", "def later()", "def much_later()"),
    (DENSE, "WIDTH = 30", "WIDTH = 31"),
    (DENSE, "WIDTH = 30", "WIDTH = 30.0"),
    (DENSE, "WIDTH = 30", "WIDTH = '30'"),
    (DENSE, "width=WIDTH", "width=None"),
    (DENSE, "return width", "return (width,)"),
    ("flatlas/store/arrays.py", "import", "SIZE = 1\nimport"),
    ("flatlas/late.py", "LATE = 1", "LATE = 2"),
    # What those import, through packages and in circles.
    ("flatlas/nets/__init__.py", "import LAYERS", "import LAYERS as DEEP"),
    ("flatlas/nets/layers.py", "LAYERS = 2", "LAYERS = 3"),
    ("flatlas/deep/__init__.py", "DEPTH = 1", "DEPTH = 2"),
    ("flatlas/store/atomic.py", ".part", ".tmp"),
    ("flatlas/__init__.py", '"""A library."""', "VERSION = 1"),
]


def test_a_fingerprint_changes_with_what_the_result_depends_on_and_nothing_else(
    after_edits, library
):
    taken = "def taken(): return fingerprint.fingerprint(Path('script.py'))\n"
    before, *after = after_edits(library, taken, WITHOUT_EFFECT + WITH_EFFECT)
    edits = zip(WITHOUT_EFFECT + WITH_EFFECT, after, strict=True)
    assert [one for one, code in edits if code != before] == WITH_EFFECT


def test_a_module_that_does_not_exist_is_refused(fingerprint, library, capfd):
    with pytest.raises(subprocess.CalledProcessError):
        fingerprint(library, "flatlas.nets.narrow")
    assert "no module flatlas.nets.narrow" in capfd.readouterr().err


def test_a_file_that_python_can_not_parse_is_named_with_its_folder(fingerprint, library, capfd):
    (library / "flatlas/late.py").write_text("LATE = 1\nLATER = (\n")
    with pytest.raises(subprocess.CalledProcessError):
        fingerprint(library)
    said = capfd.readouterr().err
    assert "FlatlasError: " in said
    assert "flatlas/late.py, line 2: " in said


STAGES = """
from types import SimpleNamespace as Spec
from flatlas.plan import code

def run(net, optimizer):
    return Spec(net=Spec(family=net), optimizer=Spec(name=optimizer))

def taken():
    alone = ("subset", "label_noise", "attack_set", "dag", "scorecard", "report", "compare")
    stages = {stage: code.stage_code(stage) for stage in alone}
    for kind in ("mnist", "digits"):
        modules = code.source_modules(Spec(kind=kind))
        stages[f"source {kind}"] = code.stage_code("source", *modules)
    for net in ("dense", "convolutional", "preactivation"):
        for optimizer in ("sgd", "adam"):
            modules = code.training_modules(run(net, optimizer))
            stages[f"train {net} {optimizer}"] = code.stage_code("train", *modules)
        measure = Spec(options=Spec(measure="duality"), run=run(net, "sgd"))
        stages[f"measure {net}"] = code.stage_code("measure", *code.measure_modules(measure))
    for name in ("strategies", "s4"):
        stages[name] = code.stage_code("figure", *code.figure_modules("duality", name))
    return stages
"""
SOURCES = {"source mnist", "source digits"}
TABLES = {"subset", "label_noise", "attack_set"}
DENSE_TRAINED = {"train dense sgd", "train dense adam"}
CONVOLUTIONAL_TRAINED = {"train convolutional sgd", "train convolutional adam"}
MODULE_TRAINED = {"train preactivation sgd", "train preactivation adam"}
TRAINED = DENSE_TRAINED | CONVOLUTIONAL_TRAINED | MODULE_TRAINED
MEASURED = {"measure dense", "measure convolutional", "measure preactivation"}
FIGURES = {"strategies", "s4"}
DRAWN = {*FIGURES, "dag"}
PAGES = {"scorecard", "report", "compare"}
REACHED = {
    "flatlas/training/optimizers/sgd.py": {one for one in TRAINED if one.endswith("sgd")},
    "flatlas/training/optimizers/adam.py": {one for one in TRAINED if one.endswith("adam")},
    "flatlas/training/trainer.py": TRAINED,
    "flatlas/training/kernel.c": DENSE_TRAINED,
    "flatlas/nets/convolutional.py": CONVOLUTIONAL_TRAINED | {"measure convolutional"},
    "flatlas/nets/preactivation.py": MODULE_TRAINED | {"measure preactivation"},
    "flatlas/nets/layers.py": TRAINED | MEASURED,
    "flatlas/measures/duality.py": MEASURED,
    "flatlas/measures/solution.py": MEASURED,
    "flatlas/data/sources/digits.py": {"source digits"},
    "flatlas/data/sources/mnist.py": {"source mnist"},
    "flatlas/data/subset.py": TABLES,
    "flatlas/data/label_noise.py": {"label_noise"},
    "flatlas/studies/duality/strategies.py": {"strategies"},
    "flatlas/claims/claim.py": FIGURES | PAGES,
    "flatlas/report/templates/macros.html": PAGES,
    "flatlas/report/entries.py": {"scorecard", "report"},
    "flatlas/evidence/material.py": FIGURES,
    "flatlas/plotting/dag.py": {"dag"},
    "flatlas/plotting/style.py": DRAWN,
    "flatlas/store/atomic.py": SOURCES | TABLES | TRAINED | MEASURED | DRAWN | PAGES,
    "flatlas/plan/resolve.py": set(),
    "flatlas/jobs/job.py": set(),
    "flatlas/library/surface.py": set(),
    "flatlas/flatness/slices.py": set(),
    "scripts/train.py": TRAINED,
    "scripts/figure.py": FIGURES,
}


def test_a_change_of_a_module_reaches_exactly_its_stages(after_edits, tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    copy = shutil.copytree(WORKFLOW, tmp_path / "workflow", ignore=ignored)
    edits = [(file, "", "\nCHANGED = True\n") for file in REACHED]
    before, *after = after_edits(copy, STAGES, edits)
    assert {
        file: {stage for stage, code in stages.items() if code != before[stage]}
        for file, stages in zip(REACHED, after, strict=True)
    } == REACHED


def kept(library):
    """The cache files of parsed modules."""
    return [*(library / "flatlas" / "files").glob("*.json")]


def test_an_edited_file_with_the_same_time_and_size_is_parsed_again(fingerprint, library):
    """Same size, same inode, same time of change: only its bytes are different."""
    path = library / DENSE
    before, stamp = fingerprint(library), path.stat()
    assert kept(library)
    path.write_text(path.read_text().replace("WIDTH = 30", "WIDTH = 31"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = path.stat()
    for name in ("st_size", "st_mtime_ns", "st_ino"):
        assert getattr(after, name) == getattr(stamp, name)
    assert fingerprint(library) != before


def test_a_damaged_cache_is_not_used(fingerprint, library):
    before = fingerprint(library)
    (file,) = kept(library)
    good = file.read_bytes()
    replaced = good.replace(b"flatlas", b"flatlad")
    for damaged in (b"", good[: len(good) // 2], replaced, b"no JSON", b"\xff" * 100):
        file.write_bytes(damaged)
        assert fingerprint(library) == before
        assert file.read_bytes() == good, "it is written again"


def test_a_fingerprint_is_the_same_without_a_writable_cache(fingerprint, library, tmp_path_factory):
    occupied = tmp_path_factory.mktemp("memory") / "a_file"
    occupied.write_text("not a folder")
    assert fingerprint(library, memory=occupied) == fingerprint(library)
    assert occupied.read_text() == "not a folder"


def test_commands_that_run_at_once_share_an_intact_cache(fingerprint, library, tmp_path_factory):
    memory = tmp_path_factory.mktemp("memory")
    alone = {root: fingerprint(library, root) for root in ("flatlas.nets.wide", "flatlas.late")}
    with ThreadPoolExecutor() as threads:
        roots = [*alone] * 4
        found = threads.map(lambda root: fingerprint(library, root, memory=memory), roots)
        assert [*found] == [alone[root] for root in roots]
    (file,) = (memory / "flatlas" / "files").iterdir()
    assert json.loads(file.read_bytes().partition(b"\n")[2])
