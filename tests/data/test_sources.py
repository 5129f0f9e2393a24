"""Sources by their kind."""

from pathlib import Path

import pytest
from PIL import Image

from flatlas.data.sources import load_source
from flatlas.plan.data_specs import Folder, Textures
from flatlas.plan.fingerprint import closure

KINDS = ["mnist", "cifar10", "cifar100", "folder", "digits", "textures", "boolean"]


def test_a_source_is_loaded_by_its_kind_and_reports_counts():
    reports = []
    spec = Textures(kind="textures", classes=2, side=4, train_per_class=3, test_per_class=1)
    images = load_source(
        spec, Path(), "a file", lambda *steps, **facts: reports.append((steps, facts))
    )
    assert images.train_images.shape == (6, 3, 4, 4)
    assert reports == [((1, 1), {"training": 6, "test": 2})]


def test_the_home_directory_is_expanded(tmp_path, monkeypatch):
    for part in ("train", "test"):
        (tmp_path / "sets" / part / "only").mkdir(parents=True)
        Image.new("L", (2, 2)).save(tmp_path / "sets" / part / "only" / "0.png")
    monkeypatch.setenv("HOME", str(tmp_path))
    spec = Folder(kind="folder", path="sets", classes=1, channels=1, side=2)
    images = load_source(spec, Path("~"), "a file", lambda *steps, **facts: None)
    assert len(images.train_labels) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_stage_has_the_code_of_its_own_kind_only(kind):
    modules = closure({"flatlas.data.sources", f"flatlas.data.sources.{kind}"})
    assert f"flatlas.data.sources.{kind}" in modules
    others = {f"flatlas.data.sources.{other}" for other in KINDS if other != kind}
    assert not others & modules
