"""The lock, the conda environments and .gitignore say what the documentation says they do."""

import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "envs" / "requirements.txt"
PYTHONS = ["3.11", "3.12", "3.13"]
# Packages that belong to another one, which alone is named.
PARTS = {"markupsafe": "jinja2", "pydantic-core": "pydantic"}


@cache
def requirements(path):
    """Requirement lines of a file, with comments and continuations removed."""
    text = path.read_text().replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def parsed(path):
    return [Requirement(line.split(" --hash=")[0].strip()) for line in requirements(path)]


@cache
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
    for requirement in parsed(LOCK):
        if requirement.marker is None or requirement.marker.evaluate(on):
            (version,) = requirement.specifier
            assert version.operator == "==", requirement
            found[canonicalize_name(requirement.name)] = version.version
    return found


def test_every_locked_file_has_a_hash_and_no_index_or_path():
    for line in requirements(LOCK):
        assert re.search(r"--hash=sha256:[0-9a-f]{64}(\s|$)", line), line
        assert not line.startswith("-"), f"an option: {line}"
        assert not re.search(r"://|\s@\s", line), f"an address: {line}"


def test_the_lock_has_every_direct_dependency_in_one_version_for_all_pythons():
    locked, *others = map(pins, PYTHONS)
    assert all(other == locked for other in others)
    for requirement in parsed(ROOT / "envs" / "requirements.in"):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not locked: run `make lock`"
        assert requirement.specifier.contains(locked[name]), f"{requirement}: got {locked[name]}"


def imported():
    """The distributions that the workflow imports, except those of Snakemake."""
    owners = packages_distributions()
    lines = r"^ *(?:from (\w+)[\w.]* import|import (\w+))"
    texts = (path.read_text() for path in (ROOT / "workflow").rglob("*.py"))
    names = {a or b for text in texts for a, b in re.findall(lines, text, re.MULTILINE)}
    found = [owners[name] for name in names - sys.stdlib_module_names if name in owners]
    packages = (canonicalize_name(name) for some in found for name in some)
    return {PARTS.get(name, name) for name in packages if not name.startswith("snakemake")}


def pinned_for_conda(name):
    """The lines `package==version` of an environment, and its Python."""
    dependencies = yaml.safe_load((ROOT / "envs" / f"{name}.yaml").read_text())["dependencies"]
    (python,) = (entry for entry in dependencies if str(entry).startswith("python="))
    (pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    return pip, python.removeprefix("python=")


def test_every_imported_package_is_a_direct_dependency_and_pinned_for_conda():
    direct = {canonicalize_name(one.name) for one in parsed(ROOT / "envs" / "requirements.in")}
    lines = [line for name in ("compute", "figures") for line in pinned_for_conda(name)[0]]
    packages = imported()
    assert {"numpy", "torch"} <= packages <= direct
    assert packages <= {canonicalize_name(line.split("==")[0]) for line in lines}


@pytest.mark.parametrize("name", ["compute", "figures"])
def test_conda_pins_equal_the_lock(name):
    lines, python = pinned_for_conda(name)
    locked = pins(python)
    for line in lines:
        package = canonicalize_name(line.split("==")[0])
        assert line == f"{package}=={locked[package]}", f"{name}.yaml: run `make lock`"
    assert name == "compute" or not any("torch" in line for line in lines)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_ignores_results_but_not_their_readme(tmp_path):
    """In its own repository, because an exported copy of the tree is tested too."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    paths = ["results/x", "results/demo/report.html", "results/README.md"]
    check = ["git", "-C", tmp_path, "check-ignore", *paths]
    done = subprocess.run(check, stdout=subprocess.PIPE, text=True)
    assert done.stdout.split() == paths[:2]
