"""Pages agree with the specs, the configuration and the galleries, as `make docs` writes them."""

import re
from pathlib import Path

import cited
import dag
import gallery
import library
import pages
import pytest
import settings
import torch
from claims import MAIN
from parts import PARTS
from PIL import Image

import flatlas
from flatlas.library.call import MEASURES, declared

ROOT = Path(__file__).resolve().parents[1]
STUDIES = sorted(path.parent.name for path in (ROOT / "docs" / "gallery").glob("*/README.md"))


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def test_generated_parts_are_up_to_date():
    texts = {page: read(page) for page in pages.PAGES}
    filled = {page: pages.filled(text, PARTS) for page, text in texts.items()}
    outdated = [page for page, text in texts.items() if text != filled[page]]
    assert not outdated, "run `make docs`"


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{study}.md" for study in STUDIES)])
def test_the_numbers_of_claims_in_sentences_are_those_of_the_scorecards(page):
    claims, text = cited.scorecards(), read(page)
    rest, references = cited.REFERENCE.subn("", text)
    assert references
    assert re.findall(r"<!--(?! (?:made|end): ).*?-->", rest) == [], "not as in cited.py"
    assert cited.updated(text, claims) == text, "run `make docs`"
    assert cited.misjudged(text, claims) == [], "read these sentences again"


def test_main_claims_are_claims_of_the_papers():
    claims = cited.scorecards()
    for study, names in MAIN.items():
        main = claims.loc[[f"{study}_{name}" for name in names]]
        assert main.index.is_unique
        assert set(main["whose"]) == {"paper"}


def test_the_pages_of_galleries_are_up_to_date():
    made = gallery.galleries()
    assert [path.name for path in made] == [*6 * ["README.md"], "networks.md"]
    assert not [path for path, text in made.items() if path.read_text() != text], "run `make docs`"


def test_the_picture_of_the_plan_is_up_to_date():
    with Image.open(dag.PICTURE) as picture:
        assert picture.text[dag.SHOWN] == dag.shown(), "run `make docs`"


def test_every_part_is_on_a_page():
    text = "".join(read(page) for page in pages.PAGES)
    assert set(re.findall(r"<!-- made: ([\w-]+) -->", text)) == set(PARTS)


def test_every_key_is_described():
    """By its docstring, or in backticks by that of its class."""
    for name in ("Settings", "Study", "Data", "Run", "Sweep", "Borrowed", "Figure", "Preset"):
        spec = getattr(settings, name)
        meanings = {"": settings.on_one_line(spec.__doc__)}
        for key, _, _, meaning in settings.described(spec):
            parent, _, leaf = key.rpartition(".")
            assert meaning or f"`{leaf}`" in meanings[parent], f"{name}: {key} is not described"
            meanings[key] = meaning


@pytest.fixture(scope="module")
def of_measures():
    """What the page of the library says of each measure and of shared options."""
    parts = re.split(r"^### (.+)$", library.measures(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@pytest.mark.parametrize("measure", MEASURES)
def test_every_option_of_the_library_is_described(measure, of_measures):
    """In backticks, by its measure or where shared options are."""
    own = re.split("^(?:Allowed|Result): ", of_measures[f"`{measure}`"], flags=re.MULTILINE)[0]
    shared = [of_measures[head] for head in re.findall(r"^See \[(.+?)\]", own, re.MULTILINE)]
    meaning = "".join([own, *shared])
    assert not {one for one in declared(measure).model_fields if f"`{one}`" not in meaning}


def test_the_library_lists_every_attribute_of_a_result(of_measures):
    data = [(torch.rand(4, 3), torch.arange(4) % 2)]
    found = flatlas.measure(torch.nn.Linear(3, 2), data, ["norms", "spectral_density"])
    for measure in found:
        listed = of_measures[f"`{measure}`"].partition("Result: ")[2]
        values = {one: getattr(found[measure], one) for one in dir(found[measure])}
        public = {one for one, value in values.items() if one[0] != "_" and not callable(value)}
        assert set(re.findall(r"`(\w+)`", listed)) == public
