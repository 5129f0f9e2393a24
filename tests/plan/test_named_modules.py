"""A spec without its module is refused before anything is trained with it."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import named_modules
from flatlas.plan.named_modules import check_modules


@pytest.mark.parametrize(
    "missing", [None, "training.optimizers.sgd", "nets.dense", "measures.duality"]
)
def test_a_missing_module_is_named(plan_of, monkeypatch, missing):
    monkeypatch.setattr(
        named_modules, "find", lambda name: None if name == f"flatlas.{missing}" else name
    )
    if missing is None:
        return check_modules(plan_of())
    path = f"workflow/flatlas/{missing.replace('.', '/')}.py"
    with pytest.raises(FlatlasError, match=rf"^'{missing.split('.')[-1]}' .* {path}"):
        check_modules(plan_of())
