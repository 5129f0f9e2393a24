"""Each figure that a study names can be drawn, and explained."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "workflow" / "flatlas" / "studies"
FIGURES = [
    (path.stem, name, settings["title"])
    for path in sorted((ROOT / "config" / "studies").glob("*.yaml"))
    for name, settings in yaml.safe_load(path.read_text())["figures"].items()
]


@pytest.mark.parametrize(("study", "name", "title"), FIGURES)
def test_a_figure_has_a_module_that_draws_it_and_a_caption(study, name, title):
    module = import_module(f"flatlas.studies.{study}.{name}")
    assert list(inspect.signature(module.draw).parameters) == ["material"]
    caption = " ".join((STUDIES / study / f"{name}.rst").read_text().split())
    assert caption.startswith(f"**{title}.** ")
    told = ("*The paper's claim:* ", "Not in the paper", "Not among the paper's", "A schematic")
    assert any(words in caption for words in told), "what the paper has to do with it"


def test_no_caption_is_left_of_a_figure_that_is_gone():
    captions = {(path.parent.name, path.stem) for path in STUDIES.glob("*/*.rst")}
    assert captions == {(study, name) for study, name, _ in FIGURES}


def test_no_module_draws_a_figure_that_is_gone():
    drawing = {
        (path.parent.name, path.stem)
        for path in STUDIES.glob("*/*.py")
        if "\ndef draw(" in path.read_text()
    }
    assert drawing == {(study, name) for study, name, _ in FIGURES}
