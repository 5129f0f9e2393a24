"""A declaration without its module or its function is refused before anything is trained."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import declarations, declared_study, named_modules
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.named_modules import check_modules

MODULES = {
    "training/optimizers/sgd": "docs/add-an-optimizer.md",
    "nets/dense": "docs/add-a-net.md",
    "measures/duality": "docs/add-a-measure.md",
    "data/sources/digits": "docs/bring-your-own.md",
}


def test_a_plan_whose_modules_all_exist_passes(plan_of):
    check_modules(plan_of())


@pytest.mark.parametrize("text", [None, "def another(): ...\n"])
@pytest.mark.parametrize("name", MODULES)
def test_a_missing_module_or_function_is_named(plan_of, monkeypatch, tmp_path, name, text):
    find, module = named_modules.find, f"flatlas.{name.replace('/', '.')}"
    if text:
        (tmp_path / "empty.py").write_text(text)
    instead = tmp_path / "empty.py" if text else None
    monkeypatch.setattr(named_modules, "find", lambda one: instead if one == module else find(one))
    with pytest.raises(FlatlasError) as raised:
        check_modules(plan_of())
    said = str(raised.value)
    assert f"workflow/flatlas/{name}.py {'has no function' if text else 'does not exist'}" in said
    assert MODULES[name] in said


@pytest.mark.parametrize(
    ("study", "allowed", "file"),
    [
        ({"measures.hidden.measure": "duality"}, "sharpness", "measures/duality.py"),
        ({"runs.base.net.family": "made_up"}, "dense", "nets/made_up.py"),
        ({"runs.base.optimizer.name": "made_up"}, "sgd", "training/optimizers/made_up.py"),
    ],
)
def test_a_function_without_its_declaration_is_named(
    refusal, monkeypatch, tmp_path, study, allowed, file
):
    """The declaration of a measure is left out, and modules of another family and optimizer."""
    others = {name: one for name, one in MEASURES.items() if name != "duality"}
    monkeypatch.setattr(declared_study, "MEASURES", others)
    find = declarations.find
    monkeypatch.setattr(
        declarations, "find", lambda one: tmp_path if one.endswith("made_up") else find(one)
    )
    monkeypatch.setattr(declarations, "shown", lambda path: file)
    said = refusal(study)
    assert f" {file} " in said and "see docs/add-a" in said
    assert allowed in said.partition("Allowed: ")[2]
