"""Arguments of a user's own net are compared with the text of its file, which is not run."""

import inspect

import pytest
from small_configuration import STUDY

from flatlas.plan.families.own import Own

NEVER_RUN = "raise SystemExit('was run')\n"
SIGNATURE = "width, depth=2, *layers, classes, bias=True"
CLASS = f"class Net(nn.Module):\n    def __init__(self, {SIGNATURE}):\n        pass\n"
FUNCTION = f"def Net({SIGNATURE}):\n    return 1\n"
# Texts that do not show for certain which arguments are allowed.
UNCERTAIN = {
    "inherited": "class Net(Base):\n    pass\n",
    "decorated": f"@wrapped\n{FUNCTION}",
    "dataclass": "@dataclass\nclass Net(nn.Module):\n    width: int\n",
    "metaclass": CLASS.replace("nn.Module", "metaclass=Meta"),
    "two meanings": f"{FUNCTION}if big:\n    Net = Other\n",
    "conditional": "if big:\n    def Net():\n        pass\nelse:\n    from other import Net\n",
    "imported": "from other import Net\n",
    "only by place": "def Net(width, /):\n    pass\n",
    "made otherwise": CLASS + "    def __new__(cls, *given, **named):\n        pass\n",
}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study with a net from a file with this text and these arguments."""
    monkeypatch.chdir(tmp_path)

    def made(text, arguments, **changes):
        (tmp_path / "own_text.py").write_text(text + NEVER_RUN)
        net = {"family": "own", "module": "own_text:Net", "arguments": arguments}
        return {"runs.base.net": net, "measures.hidden.layer": "fc", **changes}

    return made


GIVEN = [
    {"width": 1, "classes": 2},
    {"width": 1, "depth": 3, "classes": 2, "bias": False},
    {"width": 1, "widht": 2, "classes": 2},
    {"width": 1},
    {},
    {"classes": 2, "layers": 3},
]


@pytest.mark.parametrize("text", [CLASS, FUNCTION], ids=["class", "function"])
@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("more", [False, True])
def test_arguments_that_python_would_refuse_are_refused(study, plan_of, refusal, text, given, more):
    """Python's own `inspect` decides which ones these are."""
    signature = SIGNATURE + (", **more" if more else "")
    text = text.replace(SIGNATURE, signature)
    names: dict = {}
    exec(f"def same({signature}): pass", names)
    try:
        inspect.signature(names["same"]).bind(**given)
    except TypeError:
        message = refusal(study(text, given))
        assert message.startswith("runs.base.net.arguments ")
        assert "'Net' (own_text.py:" in message
        assert "Allowed: width, depth, classes, bias." in message
    else:
        plan_of(study=study(text, given))


def test_the_error_names_all_missing_arguments_or_the_nearest_allowed_one(study, refusal):
    assert " lacks width, classes, " in refusal(study(CLASS, {}))
    wrong = refusal(study(CLASS, {"widht": 1, "classes": 2}))
    assert " has 'widht', " in wrong and "Did you mean 'width'?" in wrong
    assert "Allowed: none." in refusal(study("def Net():\n    pass\n", {"width": 1}))


@pytest.mark.parametrize("text", UNCERTAIN.values(), ids=UNCERTAIN)
def test_arguments_are_left_to_the_job_if_the_text_is_unclear(study, plan_of, text):
    plan_of(study=study(text, {"surely": "wrong"}))


def test_a_file_that_python_can_not_parse_is_refused_with_its_line(study, refused):
    said = refused(study=study("\ndef Net(:\n", {}))
    assert "net.module is 'own_text:Net'" in said and "own_text.py, line 2: " in said
    assert "own_text.py: " in refused(study=study("\0", {}))


def test_a_module_that_it_imports_is_read_too(study, refused, tmp_path):
    (tmp_path / "own_part.py").write_text("PART = (\n")
    said = refused(study=study("import own_part\nclass Net: ...\n", {}))
    assert "net.module is 'own_text:Net'" in said and "own_part.py, line 1: " in said


def test_swept_arguments_count_as_given(study, plan_of, refusal):
    def swept(key, arguments):
        sweeps = {"alpha": {"run": "base", "grid": {f"net.arguments.{key}": [1, 2]}}}
        return study(CLASS, arguments, sweeps=sweeps, figures={"fig1": STUDY["figures"]["fig1"]})

    plan = plan_of(study=swept("width", {"classes": 2}))
    assert {run.net.arguments["width"] for run in plan.runs.values()} == {1, 2}
    said = refusal(swept("widht", {"width": 1, "classes": 2}))
    assert said.startswith("sweeps.alpha.grid")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("4", 4),
        ("1e-3", 1e-3),
        ("false", False),
        ("True", True),
        ("null", None),
        ('"ReLU"', '"ReLU"'),
        ("010", "010"),
    ],
)
def test_arguments_from_the_command_line_are_what_they_read_as(text, meant):
    """Snakemake gives texts, and 'false' would count as true."""
    own = Own(family="own", module="nets:Net", arguments={"a": [text], "b": {"c": text}})
    assert own.arguments == {"a": [meant], "b": {"c": meant}}
