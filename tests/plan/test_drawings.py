"""A figure without its module or its caption is told before anything is trained for it."""

import shutil

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan import drawings
from flatlas.plan.drawings import check_drawings


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A house with the drawings of the study `flat` (figures fig1 and fig2), and their captions."""
    library = tmp_path / "workflow" / "flatlas"
    monkeypatch.setattr(drawings, "STUDIES", library / "studies")
    for path, text in {
        "flatlas/studies/flat/__init__.py": "",
        "flatlas/studies/flat/fig1.py": "\ndef draw(material): ...\n",
        "flatlas/studies/flat/fig2.py": "\ndef draw(material): ...\n",
        "flatlas/studies/flat/fig1.rst": "One.",
        "flatlas/studies/flat/fig2.rst": "Two.",
    }.items():
        file = tmp_path / "workflow" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "workflow"


def message_of(plan):
    with pytest.raises(FlatlasError) as raised:
        check_drawings(plan)
    return str(raised.value)


def test_figures_with_module_and_caption_pass(house, plan_of):
    check_drawings(plan_of())


def test_a_figure_without_a_module_is_told_where_it_belongs(house, plan_of):
    more = {"title": "Three", "sweeps": ["alpha"]}
    assert message_of(plan_of(study={"figures.fgi2": more})) == (
        "config/studies/flat.yaml: figures.fgi2 needs a function draw(material) in "
        "workflow/flatlas/studies/flat/fgi2.py, which is not there. Did you mean 'fig2'?"
    )


def test_the_first_figure_of_a_study_is_told_so_too(house, plan_of):
    shutil.rmtree(house / "flatlas" / "studies" / "flat")
    assert message_of(plan_of()).endswith("flatlas/studies/flat/fig1.py, which is not there.")


def test_a_figure_without_a_caption_is_told_where_it_belongs(house, plan_of):
    (house / "flatlas" / "studies" / "flat" / "fig2.rst").unlink()
    assert message_of(plan_of()) == (
        "config/studies/flat.yaml: figures.fig2 needs a caption in "
        "workflow/flatlas/studies/flat/fig2.rst."
    )
