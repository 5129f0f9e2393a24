"""Pages agree with the specs, the configuration and the galleries, as `make docs` writes them."""

import re
import sys
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "config/README.md", "docs/figures.md", "docs/add-a-claim.md")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def made():
    """The parts of pages that are made, by name, and the function that fills them in."""
    sys.path.insert(0, str(ROOT / "docs" / "made"))
    try:
        import dag
        import figures
        import pages
        import settings
        import verdicts
    finally:
        sys.path.pop(0)
    return (
        {**settings.SETTINGS, **figures.FIGURES, **verdicts.VERDICTS},
        pages.filled,
        settings,
        dag,
    )


@pytest.mark.parametrize("page", PAGES)
def test_what_is_made_is_as_it_would_be_made_now(made, page):
    parts, filled, *_ = made
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- made: " in text
    assert text == filled(text, parts), f"{page} is out of date: run `make docs`"


def test_the_picture_of_the_plan_shows_it_as_it_is_now(made):
    *_, dag = made
    with Image.open(dag.PICTURE) as picture:
        assert picture.text[dag.SHOWN] == dag.shown(), (
            "docs/dag.png is out of date: run `make docs`"
        )


def test_every_part_is_on_a_page(made):
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    assert set(re.findall(r"<!-- made: ([\w-]+) -->", text)) == set(made[0])


def test_every_key_is_described(made):
    """By the docstring under it, or in backticks by that of its class."""
    _, _, settings, _ = made
    for name in ("Settings", "Study", "Data", "Run", "Sweep", "Borrowed", "Figure", "Preset"):
        spec = getattr(settings, name)
        said = {"": settings.on_one_line(spec.__doc__)}
        for key, _, _, told in settings._rows(spec, ""):
            parent, _, leaf = key.rpartition(".")
            assert told or f"`{leaf}`" in said[parent], f"{name}: nothing says what {key} is"
            said[key] = told


@pytest.mark.parametrize(
    "page",
    [
        *("README.md", "CONTRIBUTING.md", "config/README.md", "results/README.md"),
        *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
    ],
)
def test_links_lead_to_files_that_are_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if "://" not in link:
            assert (ROOT / page).parent.joinpath(link).exists(), f"{page} links to {link}"
