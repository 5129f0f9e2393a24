"""The package that pip builds: alone with what it declares, it measures a model."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
BUILD = "from setuptools import build_meta as b; import sys; b.build_wheel('.'), b.build_sdist('.')"


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A folder with the wheel and the sdist."""
    source = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("pyproject.toml", "LICENSE", "docs/library.md"):
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    shutil.copytree(ROOT / "workflow/flatlas", source / "workflow/flatlas", ignore=ignored)
    subprocess.run([sys.executable, "-c", BUILD], cwd=source, check=True, capture_output=True)
    return source


@pytest.fixture(scope="session")
def alone(built, tmp_path_factory):
    """A Python that has the wheel, what it declares, and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    for name in needed("flatlas", site):
        for file in distribution(name).files:
            top = file.parts[0]
            target = Path(distribution(name).locate_file(top))
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(target)
    return folder / "bin" / "python"


def needed(package, site):
    """The distributions that it requires, directly or not."""
    (metadata,) = site.glob(f"{package}-*.dist-info/METADATA")
    waiting = re.findall(r"^Requires-Dist: (.*)$", metadata.read_text(), re.MULTILINE)
    found = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        marker = requirement.marker
        if requirement.name in found or (marker and not marker.evaluate({"extra": ""})):
            continue
        try:
            waiting += distribution(requirement.name).requires or []
        except PackageNotFoundError:
            # Wanted on other machines only, or by an extra.
            continue
        found.add(requirement.name)
    return found


def in_python(python, code, *options):
    done = subprocess.run([python, *options, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


MEASURED = """
import json, torch, flatlas
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
data = torch.randn(20, 4), torch.arange(20) % 2
found = flatlas.measure(model, data, ["hessian"])
print(json.dumps([flatlas.__file__, found.table.value.tolist()]))
"""


def test_the_wheel_alone_measures_a_model(alone):
    file, values = json.loads(in_python(alone, MEASURED))
    assert file.startswith(str(alone.parents[1]))
    assert len(values) == 13


TRACKED = """
import torch, flatlas
torch.manual_seed(0)
model, data = torch.nn.Linear(3, 2), (torch.randn(8, 3), torch.arange(8) % 2)
few = {"hessian": {"top": 1, "probes": 2}}
tracker = flatlas.Tracker(model, data, few, path="run.csv")
tracker(0)
print(len(open("run.csv").readlines()))
for call in (tracker.plot, lambda: flatlas.Tracker(model, data, few, path="run.parquet")):
    try:
        call()
    except flatlas.FlatlasError as error:
        print(error)
"""


def test_without_matplotlib_and_pyarrow_it_says_what_to_install(alone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, plot, parquet = in_python(alone, TRACKED).splitlines()
    assert lines == "5"
    assert "pip install matplotlib" in plot
    assert "pip install pyarrow" in parquet


def test_importing_it_loads_nothing_else(alone):
    code = "import sys, flatlas; print([name for name in sys.modules if name == 'torch'])"
    assert in_python(alone, code) == "[]\n"


def test_wheel_and_sdist_have_the_kernel_and_the_types(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    wanted = {"flatlas/training/kernel.c", "flatlas/py.typed", "flatlas/library/call.py"}
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as packed:
        assert wanted <= {name.partition("/workflow/")[2] for name in packed.getnames()}


def test_it_asks_for_the_same_versions_as_the_workflow():
    lines = (ROOT / "envs/requirements.in").read_text().splitlines()
    locked = {line.split("#")[0].strip() for line in lines if line[:1].isalpha()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    of_workflow = set(project["optional-dependencies"]["workflow"])
    # The library supports older versions of torch than the workflow.
    of_library = {one for one in project["dependencies"] if not one.startswith("torch>")}
    assert of_workflow <= locked
    assert of_library <= locked
