"""The package that pip builds measures a model with its declared dependencies alone."""

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
from packaging.version import Version
from printed import blocks

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
    """A Python with the wheel and its declared dependencies alone."""
    folder = tmp_path_factory.mktemp("alone")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)
    for name in needed("flatlas", site):
        installed = distribution(name)
        for top in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(installed.locate_file(top))
    return folder / "bin" / "python"


def needed(package, site):
    """The distributions that a package requires, directly or not."""
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
            # Needed on other machines only, or by an extra.
            continue
        found.add(requirement.name)
    return found


def in_python(python, code, folder=None):
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_examples_of_the_page_run_with_the_wheel_alone(alone, tmp_path):
    *examples, _ = blocks("library.md")
    where = "import flatlas; print(flatlas.__file__)"
    printed = in_python(alone, "\n".join([*examples, where]), folder=tmp_path)
    assert "eigenvalue_1" in printed
    assert (tmp_path / "run.csv").exists()
    assert printed.splitlines()[-1].startswith(str(alone.parents[1]))


def test_wheel_and_sdist_have_the_kernel_and_the_types(built):
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    wanted = {"flatlas/training/kernel.c", "flatlas/py.typed", "flatlas/library/call.py"}
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as packed:
        assert wanted <= {name.partition("/workflow/")[2] for name in packed.getnames()}


def test_the_package_requires_versions_that_the_workflow_has():
    lines = (ROOT / "envs/requirements.in").read_text().splitlines()
    locked = {line.split("#")[0].strip() for line in lines if line[:1].isalpha()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    of_workflow = set(project["optional-dependencies"]["workflow"])
    assert of_workflow <= locked
    # The library alone may work with older versions.
    floors = {one.name: floor(one) for one in map(Requirement, sorted(locked))}
    for one in map(Requirement, project["dependencies"]):
        assert floor(one) <= floors[one.name]


def floor(requirement):
    """The oldest version that a requirement allows."""
    (found,) = requirement.specifier
    assert found.operator == ">="
    return Version(found.version)
