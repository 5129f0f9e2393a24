"""Fingerprints of code: they move with what a result depends on, and with nothing else."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"

LIBRARY = {
    "flatlas/__init__.py": '"""A library."""\n',
    "flatlas/plan/__init__.py": "",
    "flatlas/plan/numbers.py": "COUNT = 3\n",
    "flatlas/jobs/__init__.py": "",
    "flatlas/jobs/log.py": "import logging\n",
    "flatlas/nets/__init__.py": "from flatlas.nets.layers import LAYERS\n",
    "flatlas/nets/layers.py": "LAYERS = 2\n",
    "flatlas/nets/dense.py": (
        '"""A net."""\n\nWIDTH = 30\n\ndef build(width=WIDTH):\n    return width\n'
    ),
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
    """A few modules, of which a script imports some, with the real fingerprint among them."""
    for name, text in LIBRARY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in ("fingerprint.py", "kept.py"):
        shutil.copy(WORKFLOW / "flatlas" / "plan" / name, tmp_path / "flatlas" / "plan")
    return tmp_path


def fingerprint(library, *roots, hash_seed="0", memory=None):
    """As a fresh process takes it, with what earlier ones have kept beside the library."""
    code = (
        "import sys; from pathlib import Path; from flatlas.plan.fingerprint import fingerprint;"
        "print(fingerprint(Path('script.py'), *sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *roots],
        cwd=library, env={"PYTHONHASHSEED": hash_seed, "XDG_CACHE_HOME": str(memory or library)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def test_a_fingerprint_is_the_same_in_every_process(library):
    assert fingerprint(library, hash_seed="1") == fingerprint(library, hash_seed="2")


def test_a_fingerprint_is_the_same_wherever_the_library_lies(library, tmp_path_factory):
    moved = shutil.copytree(library, tmp_path_factory.mktemp("elsewhere") / "library")
    assert fingerprint(moved) == fingerprint(library)


DENSE = "flatlas/nets/dense.py"


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (DENSE, "WIDTH = 30", "WIDTH = 30  # as in the paper"),
        (DENSE, '"""A net."""', '"""A dense net,\nof some width.\n"""'),
        (DENSE, '"""A net."""', ""),
        (DENSE, "    return width", '    """What was given."""\n    return width'),
        (DENSE, "build(width=WIDTH)", "build(\n    width = WIDTH,\n)"),
        (DENSE, "\n\ndef", "\n\n\n\n# The way in.\ndef"),
        ("flatlas/store/atomic.py", "'.part'", '".part"'),
        ("script.py", "def later():", "\n\ndef later():  # when it is needed"),
    ],
)
def test_what_python_does_not_run_moves_nothing(library, file, old, new):
    before = fingerprint(library)
    edit(library / file, old, new)
    assert fingerprint(library) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        # The script itself, and what it imports in each way of writing an import.
        ("script.py", "def later()", "def much_later()"),
        (DENSE, "WIDTH = 30", "WIDTH = 31"),
        (DENSE, "WIDTH = 30", "WIDTH = 30.0"),
        (DENSE, "WIDTH = 30", "WIDTH = '30'"),
        (DENSE, "width=WIDTH", "width=None"),
        (DENSE, "return width", "return (width,)"),
        ("flatlas/store/arrays.py", "import", "SIZE = 1\nimport"),
        ("flatlas/late.py", "LATE = 1", "LATE = 2"),
        # What those import, through packages and round a circle.
        ("flatlas/nets/__init__.py", "import LAYERS", "import LAYERS as DEEP"),
        ("flatlas/nets/layers.py", "LAYERS = 2", "LAYERS = 3"),
        ("flatlas/deep/__init__.py", "DEPTH = 1", "DEPTH = 2"),
        ("flatlas/store/atomic.py", ".part", ".tmp"),
        ("flatlas/__init__.py", '"""A library."""', "VERSION = 1"),
    ],
)
def test_what_the_result_depends_on_moves_it(library, file, old, new):
    before = fingerprint(library)
    edit(library / file, old, new)
    assert fingerprint(library) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("flatlas/plan/numbers.py", "COUNT = 3", "COUNT = 4"),
        ("flatlas/jobs/log.py", "logging", "logging, os"),
        ("flatlas/nets/wide.py", "WIDTH = 60", "WIDTH = 61"),
    ],
)
def test_the_plan_the_jobs_and_what_nobody_imports_move_nothing(library, file, old, new):
    before = fingerprint(library)
    edit(library / file, old, new)
    assert fingerprint(library) == before


def test_a_named_module_is_held_beside_the_script(library):
    before = {root: fingerprint(library, root) for root in ("flatlas.nets.wide", "flatlas.late")}
    assert len({*before.values(), fingerprint(library)}) == 2, "the script imports flatlas.late"
    edit(library / "flatlas/nets/wide.py", "60", "61")
    moved = [root for root, code in before.items() if fingerprint(library, root) != code]
    assert moved == ["flatlas.nets.wide"]


def test_a_module_that_does_not_exist_is_refused(library):
    with pytest.raises(subprocess.CalledProcessError) as raised:
        fingerprint(library, "flatlas.nets.narrow")
    assert "no module flatlas.nets.narrow" in raised.value.stderr


STAGES = """
import json
import os
from types import SimpleNamespace as Spec
from flatlas.plan import code

def run(net, optimizer):
    return Spec(net=Spec(family=net), optimizer=Spec(name=optimizer))

alone = ("subset", "label_noise", "attack_set", "dag", "scorecard", "report", "compare")
stages = {stage: code.stage_code(stage) for stage in alone}
for kind in ("mnist", "digits"):
    modules = code.source_modules(Spec(kind=kind))
    stages[f"source {kind}"] = code.stage_code("source", *modules)
for net in ("dense", "convolutional"):
    for optimizer in ("sgd", "adam"):
        stages[f"train {net} {optimizer}"] = code.stage_code(
            "train", *code.training_modules(run(net, optimizer))
        )
    measure = Spec(options=Spec(measure="duality"), run=run(net, "sgd"))
    stages[f"measure {net}"] = code.stage_code("measure", *code.measure_modules(measure))
for name in ("strategies", "s4"):
    stages[name] = code.stage_code("figure", *code.figure_modules("duality", name))
print(json.dumps(stages))
"""
SOURCES = {"source mnist", "source digits"}
TABLES = {"subset", "label_noise", "attack_set"}
TRAINED = {f"train {net} {name}" for net in ("dense", "convolutional") for name in ("sgd", "adam")}
MEASURED = {"measure dense", "measure convolutional"}
FIGURES = {"strategies", "s4"}
DRAWN = {*FIGURES, "dag"}
PAGES = {"scorecard", "report", "compare"}


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A copy of the real library and its scripts."""
    skipped = shutil.ignore_patterns("__pycache__")
    return shutil.copytree(WORKFLOW, tmp_path_factory.mktemp("house") / "workflow", ignore=skipped)


@pytest.fixture(scope="module")
def untouched(house):
    return stage_codes(house)


def stage_codes(house):
    done = subprocess.run(
        [sys.executable, "-c", STAGES], cwd=house, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("file", "stages"),
    [
        ("flatlas/training/optimizers/sgd.py", {"train dense sgd", "train convolutional sgd"}),
        ("flatlas/training/optimizers/adam.py", {"train dense adam", "train convolutional adam"}),
        ("flatlas/training/trainer.py", TRAINED),
        ("flatlas/training/kernel.c", {"train dense sgd", "train dense adam"}),
        (
            "flatlas/nets/convolutional.py",
            {"train convolutional sgd", "train convolutional adam", "measure convolutional"},
        ),
        ("flatlas/nets/layers.py", TRAINED | MEASURED),
        ("flatlas/measures/duality.py", MEASURED),
        ("flatlas/measures/solution.py", MEASURED),
        ("flatlas/data/sources/digits.py", {"source digits"}),
        ("flatlas/data/sources/mnist.py", {"source mnist"}),
        ("flatlas/data/subset.py", TABLES - {"label_noise"}),
        ("flatlas/data/label_noise.py", {"label_noise"}),
        ("flatlas/studies/duality/strategies.py", {"strategies"}),
        ("flatlas/claims/claim.py", FIGURES | PAGES),
        ("flatlas/report/templates/macros.html", PAGES),
        ("flatlas/report/entries.py", {"scorecard", "report"}),
        ("flatlas/evidence/material.py", FIGURES),
        ("flatlas/plotting/dag.py", {"dag"}),
        ("flatlas/plotting/style.py", DRAWN),
        ("flatlas/store/atomic.py", SOURCES | TABLES | TRAINED | MEASURED | DRAWN | PAGES),
        ("flatlas/plan/resolve.py", set()),
        ("flatlas/jobs/job.py", set()),
        ("scripts/train.py", TRAINED),
        ("scripts/figure.py", FIGURES),
    ],
)
def test_a_change_in_the_house_moves_exactly_the_stages_it_reaches(house, untouched, file, stages):
    path = house / file
    text = path.read_text()
    try:
        path.write_text(text + "\nCHANGED = True\n")
        changed = stage_codes(house)
    finally:
        path.write_text(text)
    assert {stage for stage, code in changed.items() if code != untouched[stage]} == stages


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def kept(library):
    """The files in which commands keep what they have parsed."""
    return [*(library / "flatlas" / "files").glob("*.json")]


def test_a_file_edited_within_the_tick_of_a_clock_is_parsed_again(library):
    """Same size, same inode, same time of change: only its bytes are different."""
    path = library / DENSE
    before, stamp = fingerprint(library), path.stat()
    assert kept(library)
    with path.open("r+") as file:
        text = file.read().replace("WIDTH = 30", "WIDTH = 31")
        file.seek(0)
        file.write(text)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        stamp.st_size, stamp.st_mtime_ns, stamp.st_ino,
    )  # fmt: skip
    assert fingerprint(library) != before


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"flatlas", b"flatlad"),
        lambda data: b"no JSON",
        lambda data: b"\xff" * 100,
    ],
)
def test_what_is_kept_and_damaged_is_not_used(library, damage):
    before = fingerprint(library)
    (file,) = kept(library)
    good = file.read_bytes()
    file.write_bytes(damage(good))
    assert fingerprint(library) == before
    assert file.read_bytes() == good, "it is written again"


def test_a_fingerprint_is_the_same_where_nothing_can_be_kept(library, tmp_path_factory):
    occupied = tmp_path_factory.mktemp("memory") / "a_file"
    occupied.write_text("not a folder")
    assert fingerprint(library, memory=occupied) == fingerprint(library)
    assert occupied.read_text() == "not a folder"


def test_commands_at_once_keep_what_each_has_parsed(library, tmp_path_factory):
    memory = tmp_path_factory.mktemp("memory")
    alone = {root: fingerprint(library, root) for root in ("flatlas.nets.wide", "flatlas.late")}
    with ThreadPoolExecutor() as threads:
        roots = [*alone] * 4
        found = threads.map(lambda root: fingerprint(library, root, memory=memory), roots)
        assert [*found] == [alone[root] for root in roots]
    (file,) = (memory / "flatlas" / "files").iterdir()
    assert json.loads(file.read_bytes().partition(b"\n")[2])
