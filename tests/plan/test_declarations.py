"""A declaration that lacks something is refused with its file, not with a traceback."""

import re
import sys
from typing import Literal

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import families, measure_specs, measurements
from flatlas.plan.declarations import by_tag
from flatlas.plan.training_specs import Optimizer, Sgd

MEASURE = """
from typing import ClassVar, Literal
from flatlas.plan.measurements.measurement import Measurement
class MadeUp(Measurement):
    measure: Literal["made_up"]
    layer: str
    tables: ClassVar = {"summary": {}}
"""
FAMILY = """
from typing import Literal
from flatlas.plan.family import LayerSize, ModuleFamily
class MadeUp(ModuleFamily):
    family: Literal["made_up"]
    width: int
    slug = property(lambda self: "made_up")
    def layer_sizes(self, shape, outputs):
        yield LayerSize(self.width, 1)
"""
# The package of each kind, the text of a declaration, and how it is read.
KINDS = {
    "measure": (measurements, MEASURE, lambda: measure_specs.declared()["made_up"]),
    "family": (families, FAMILY, lambda: families.declared("made_up")),
}


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """Read a declaration as if its file were in the library."""

    def read(kind, *change):
        package, text, reader = KINDS[kind]
        (tmp_path / "made_up.py").write_text(re.sub(*change, text) if change else text)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        return reader()

    yield read
    for package, *_ in KINDS.values():
        sys.modules.pop(f"{package.__name__}.made_up", None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_declaration_is_found(declared, kind):
    assert declared(kind).__name__ == "MadeUp"


@pytest.mark.parametrize(
    ("kind", "omitted", "instead", "said"),
    [
        ("measure", ".*Literal.*made_up.*\n", "", "no subclass .* tag measure: Literal"),
        ("measure", r'Literal\["made_up"\]', "str", "MadeUp has no tag measure: Literal"),
        ("measure", "made_up", "duality", "has the tag 'duality' of .*: change it"),
        ("measure", r"\(Measurement\)", "", "no subclass of Measurement"),
        ("measure", ".*tables.*\n", "", "MadeUp declares no tables"),
        ("measure", "from typing.*\n", "", "line 4: NameError: name 'Literal' is not defined"),
        ("measure", "layer: str", "layer = 'fc1'", "line 4: PydanticUserError: .*`layer = 'fc1'`"),
        ("measure", "(?s).+", "assert False", "line 1: AssertionError$"),
        ("measure", "layer: str", "layer: str =", "line 6: invalid syntax"),
        ("family", ".*family: .*\n", "", r'no subclass .* tag family: Literal\["made_up'),
        ("family", r'"made_up"\]', '"other"]', r'no subclass .* tag family: Literal\["made_up'),
        ("family", "    slug.*\n", "", "MadeUp lacks slug: docs/add-a-net.md"),
        ("family", "(?s)    def layer_sizes.*", "", "MadeUp lacks layer_sizes: docs/add-a-net.md"),
        ("family", "from flatlas.*\n", "", "line 3: NameError: name 'ModuleFamily' is not defined"),
        ("family", "LayerSize, Mod", "LayerSizes, Mod", "line 3: ImportError: .*'LayerSizes'"),
    ],
)
def test_a_mistake_in_a_declaration_is_named_with_its_file(declared, kind, omitted, instead, said):
    package = KINDS[kind][0].__name__.replace(".", "/")
    with pytest.raises(FlatlasError, match=said) as raised:
        declared(kind, omitted, instead)
    # Python itself says where a syntax error is.
    place = "" if "syntax" in said else f"workflow/{package}"
    assert f"{place}/made_up.py" in str(raised.value)


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        ({}, r'MadeUp has no tag name: Literal\["<name>"\]\. docs/add-an-optimizer\.md'),
        ({"name": Literal["sgd"]}, "MadeUp has the tag 'sgd' of Sgd: change it"),
    ],
)
def test_an_optimizer_without_a_tag_of_its_own_is_refused(annotations, said):
    members = {"__annotations__": annotations, "__module__": "flatlas.plan.training_specs"}
    made_up = type(Optimizer)("MadeUp", (Optimizer,), members)
    with pytest.raises(FlatlasError, match=rf"^workflow/flatlas/plan/training_specs\.py: {said}"):
        by_tag([Sgd, made_up], "name")
