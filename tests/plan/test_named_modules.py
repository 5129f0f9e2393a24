"""A spec without its module is told before anything is trained with it."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import named_modules
from flatlas.plan.named_modules import check_modules


def test_all_that_is_named_is_there(plan_of):
    check_modules(plan_of())


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("flatlas.training.optimizers.sgd", "flatlas/training/optimizers/sgd.py"),
        ("flatlas.nets.dense", "flatlas/nets/dense.py"),
        ("flatlas.measures.duality", "flatlas/measures/duality.py"),
    ],
)
def test_what_is_missing_is_told_with_its_place(plan_of, monkeypatch, module, path):
    def found(name):
        return None if name == module else path

    monkeypatch.setattr(named_modules, "find", found)
    with pytest.raises(FlatlasError) as raised:
        check_modules(plan_of())
    assert str(raised.value).startswith(
        f"'{path.split('/')[-1][:-3]}' has a spec, but workflow/{path}"
    )
