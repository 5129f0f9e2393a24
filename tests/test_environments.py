"""The lock, the conda environments and .gitignore say what the documentation says they do."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "envs" / "requirements.txt"
CONDA = ["compute", "figures"]
PYTHONS = ["3.11", "3.12", "3.13"]


def requirements(path):
    """Requirement lines of a file, with comments and continuations removed."""
    text = path.read_text().replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def parsed(line):
    return Requirement(line.split(" --hash=")[0].strip())


def pins(python):
    """What the lock installs on Linux with this Python: name to exact version."""
    on = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    found = {}
    for requirement in map(parsed, requirements(LOCK)):
        if requirement.marker is None or requirement.marker.evaluate(on):
            (version,) = requirement.specifier
            assert version.operator == "==", requirement
            found[canonicalize_name(requirement.name)] = version.version
    return found


def test_every_locked_file_has_a_hash():
    for line in requirements(LOCK):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}(\s|$)", line), line


def test_the_lock_names_no_index_and_no_path():
    for line in requirements(LOCK):
        assert not line.startswith("-"), f"an option: {line}"
        assert not re.search(r"://|\s@\s", line), f"an address: {line}"


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_serves_every_direct_dependency(python):
    locked = pins(python)
    for requirement in map(parsed, requirements(ROOT / "envs" / "requirements.in")):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not locked for Python {python}: run `make lock`"
        assert requirement.specifier.contains(locked[name]), f"{requirement}: got {locked[name]}"


def test_every_python_gets_the_same_versions():
    first, *others = map(pins, PYTHONS)
    for other in others:
        assert other == first


@pytest.mark.parametrize("name", CONDA)
def test_conda_pins_equal_the_lock(name):
    path = ROOT / "envs" / f"{name}.yaml"
    dependencies = yaml.safe_load(path.read_text())["dependencies"]
    (python,) = (entry for entry in dependencies if str(entry).startswith("python="))
    (pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    locked = pins(python.removeprefix("python="))
    for line in pip:
        package = canonicalize_name(line.split("==")[0])
        assert line == f"{package}=={locked[package]}", f"{path.name}: run `make lock`"


def test_figures_need_no_torch():
    assert "torch" not in (ROOT / "envs" / "figures.yaml").read_text().split("dependencies:")[1]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_ignores_results_but_not_their_readme(tmp_path):
    """In a repository of its own, so that an exported copy of the tree can be tested too."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copy(ROOT / ".gitignore", tmp_path)

    def ignored(path):
        check = ["git", "-C", tmp_path, "check-ignore", "--quiet", path]
        return subprocess.run(check).returncode == 0

    assert ignored("results/x")
    assert ignored("results/demo/report.html")
    assert not ignored("results/README.md")
