"""Plans of the small configuration after a few changes, and fingerprints after edits."""

import json

import pytest
from small_configuration import PRESET, STUDY, USER, changed, write

from flatlas.errors import FlatlasError
from flatlas.plan import drawings
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve

# Edit files one after the other, each alone, and print what `taken` returns: first without an edit,
# then after each. The cache of parsed files is kept; all others are cleared.
EDITING = """
import json
import sys
from pathlib import Path
from flatlas.plan import fingerprint

def cached():
    modules = [sys.modules.get(f"flatlas.plan.{name}") for name in ("fingerprint", "code")]
    functions = [one for module in modules if module for one in vars(module).values()]
    return [one for one in functions if hasattr(one, "cache_clear")]

results = [taken()]
for file, old, new in json.load(sys.stdin):
    path = Path(file)
    before = path.read_text()
    path.write_text(before.replace(old, new) if old else before + new)
    assert path.read_text() != before
    for one in cached():
        if one is not fingerprint._kept_files:
            one.cache_clear()
    results.append(taken())
    path.write_text(before)
print(json.dumps(results))
"""


@pytest.fixture
def after_edits(python, tmp_path):
    """What `taken` returns in a fresh process, without an edit and after each of the edits."""

    def results(folder, taken, edits, library=None):
        own = {"PYTHONPATH": str(library or folder), "XDG_CACHE_HOME": str(tmp_path / "memory")}
        return json.loads(python(taken + EDITING, folder=folder, stdin=json.dumps(edits), **own))

    return results


@pytest.fixture
def plan_of(tmp_path):
    """Resolve the small configuration; each argument changes one file, by dotted or listed keys."""

    def resolved(study=None, preset=None, user=None) -> Plan:
        root = tmp_path / "config"
        write(root / "studies" / "flat.yaml", changed(STUDY, study))
        write(root / "presets" / "small.yaml", changed(PRESET, preset))
        return resolve(changed(USER, user), root)

    return resolved


@pytest.fixture
def study_folder(tmp_path, monkeypatch):
    """The folder of the small study, with modules and captions for its figures."""
    monkeypatch.setattr(drawings, "STUDIES", tmp_path / "workflow" / "flatlas" / "studies")
    folder = drawings.STUDIES / "flat"
    folder.mkdir(parents=True)
    for name in STUDY["figures"]:
        (folder / f"{name}.py").write_text("def draw(material): ...\ndef claims(material): ...\n")
        (folder / f"{name}.rst").write_text("One.")
    return folder


@pytest.fixture
def refused(plan_of):
    """The message about a wrong configuration."""

    def message(**changes) -> str:
        with pytest.raises(FlatlasError) as raised:
            plan_of(**changes)
        return str(raised.value)

    return message


@pytest.fixture
def refusal(refused):
    """The message about a wrong study, after the name of its file."""

    def message(study) -> str:
        place, _, said = refused(study=study).partition(": ")
        assert place == "config/studies/flat.yaml"
        return said

    return message
