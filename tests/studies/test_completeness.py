"""Each figure that a study names can be drawn, and explained."""

from importlib import import_module
from pathlib import Path

import pytest
from declared import STUDIES, declared, figure_of, module_of

from flatlas import studies

FOLDER = Path(studies.__file__).parent
FIGURES = [
    (study, name, settings["title"])
    for study in STUDIES
    for name, settings in declared(study)["figures"].items()
]
MODULES = {(study, module_of(study, name)) for study, name, _ in FIGURES}


@pytest.mark.parametrize(("study", "name", "title"), FIGURES)
def test_a_figure_has_a_caption(study, name, title):
    caption = " ".join((FOLDER / study / f"{name}.rst").read_text().split())
    assert caption.startswith(f"**{title}.** ")
    known = ("*The paper's claim:* ", "Not in the paper", "Not among the paper's", "A schematic")
    assert any(words in caption for words in known), "what the paper has to do with it"


def test_no_caption_is_left_of_a_figure_that_is_gone():
    captions = {(path.parent.name, path.stem) for path in FOLDER.glob("*/*.rst")}
    assert captions == {(study, name) for study, name, _ in FIGURES}


def test_no_module_draws_a_figure_that_is_gone():
    drawing = {
        (path.parent.name, path.stem)
        for path in FOLDER.glob("*/*.py")
        if any(start in path.read_text() for start in ("\ndef draw(", "\nFIGURES ="))
    }
    assert drawing == MODULES


@pytest.mark.parametrize(("study", "name", "title"), FIGURES)
def test_a_figure_judges_claims_unless_its_study_says_that_it_has_none(study, name, title):
    claims = declared(study)["figures"][name].get("claims", True)
    assert hasattr(figure_of(study, name), "claims") is claims


@pytest.mark.parametrize(("study", "module"), sorted(MODULES))
def test_every_entry_of_a_module_is_a_figure_of_its_study(study, module):
    entries = getattr(import_module(f"flatlas.studies.{study}.{module}"), "FIGURES", {})
    figures = {name for name in declared(study)["figures"] if module_of(study, name) == module}
    assert entries.keys() == figures - {module}
