"""Each figure that a study names can be drawn, and explained."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
FIGURES = [
    (path.stem, name, settings["title"])
    for path in sorted((ROOT / "config" / "studies").glob("*.yaml"))
    for name, settings in yaml.safe_load(path.read_text())["figures"].items()
]


@pytest.mark.parametrize(("study", "name", "title"), FIGURES)
def test_a_figure_has_a_function_and_a_caption(study, name, title):
    draw = getattr(import_module(f"flatlas.figures.{study}"), name)
    assert list(inspect.signature(draw).parameters) == ["material"]
    caption = (ROOT / "workflow" / "report" / f"{study}_{name}.rst").read_text()
    assert f"**{title}.**" in " ".join(caption.split())


def test_no_caption_is_left_of_a_figure_that_is_gone():
    captions = {path.stem for path in (ROOT / "workflow" / "report").glob("*.rst")}
    assert captions - {"dag", "overview"} == {f"{study}_{name}" for study, name, _ in FIGURES}
