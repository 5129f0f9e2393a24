"""A figure without its function or its caption is told before anything is trained for it."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import drawings
from flatlas.plan.drawings import check_drawings

MODULE = "def fig1(material): ...\n\n\ndef fig2(material): ...\n\n\ndef _panel(ax): ...\n"


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A house with the drawings of the study `flat` (figures fig1 and fig2), and their captions."""
    library = tmp_path / "workflow" / "flatlas"
    monkeypatch.setattr(drawings, "LIBRARY", library)
    monkeypatch.setattr(drawings, "FIGURES", library / "figures")
    monkeypatch.setattr(drawings, "CAPTIONS", tmp_path / "workflow" / "report")
    for path, text in {
        "flatlas/figures/flat.py": MODULE,
        "report/flat_fig1.rst": "One.",
        "report/flat_fig2.rst": "Two.",
    }.items():
        file = tmp_path / "workflow" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "workflow"


def message_of(plan):
    with pytest.raises(FlatlasError) as raised:
        check_drawings(plan)
    return str(raised.value)


def test_figures_with_function_and_caption_pass(house, plan_of):
    check_drawings(plan_of())


def test_a_figure_without_a_function_is_told_those_that_there_are(house, plan_of):
    more = {"title": "Three", "sweeps": ["alpha"]}
    assert message_of(plan_of(study={"figures.fgi2": more})) == (
        "config/studies/flat.yaml: figures.fgi2 needs a function fgi2(material) in "
        "workflow/flatlas/figures/flat.py; there are fig1, fig2. Did you mean 'fig2'?"
    )


@pytest.mark.parametrize("text", [None, "def _panel(ax): ...\n"])
def test_a_study_without_drawings_is_told_so(house, plan_of, text):
    module = house / "flatlas" / "figures" / "flat.py"
    module.unlink()
    if text:
        module.write_text(text)
    message = message_of(plan_of())
    assert "figures.fig1 needs a function fig1(material) in " in message
    assert message.endswith("workflow/flatlas/figures/flat.py; there is none yet.")


def test_a_figure_without_a_caption_is_told_where_it_belongs(house, plan_of):
    (house / "report" / "flat_fig2.rst").unlink()
    assert message_of(plan_of()) == (
        "config/studies/flat.yaml: figures.fig2 needs a caption in workflow/report/flat_fig2.rst."
    )
