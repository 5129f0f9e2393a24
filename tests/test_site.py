"""The site of `make site` has every page with all its words, and no broken link."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from browser import found_on

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "tests")
BROKEN = {
    "docs/speed.md": "[a file](no-such-file.csv)",
    "docs/faults.md": "[an anchor](speed.md#no-such-heading)",
    "docs/symbols.md": "[an anchor here](#no-such-heading)",
    "docs/scale.md": "![a picture](no-such-picture.png)",
    "docs/new.md": "# No menu has this page",
}
EXPLORER = "docs/gallery/atlas/explorer.html"
# Markup that is no text of a page: addresses, comments, numbers of a list, languages of code.
MARKUP = re.compile(r"(?s)<!--.*?-->|\]\([^)]*\)|<a id.*?</a>|(?m:^\d+\. |^```\w+)")


class Built(HTMLParser):
    """A built page: its ids, where its links lead, what it loads, and its text."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads, self.texts = set(), [], [], []
        self.feed(path.read_text(encoding="utf-8"))
        self.words = Counter(re.findall(r"\w+", "".join(self.texts)))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "stylesheet" in given.get("rel", ""):
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
            self.texts.append(f" {given.get('alt')} ")

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site of a copy of the repository with a few mistakes, and the warnings about them."""
    folder = tmp_path_factory.mktemp("site")
    copy, site = folder / "copy", folder / "site"
    (copy / "results").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in ("config", "docs", "envs", "profiles", "workflow"):
            shutil.copytree(path, copy / path.name, ignore=LEFT_OUT)
        elif path.is_file():
            shutil.copy(path, copy)
    shutil.copy(ROOT / "results" / "README.md", copy / "results")
    (copy / EXPLORER).write_text("<p>An explorer</p>")
    with (copy / "docs" / "reruns.md").open("a", encoding="utf-8") as page:
        page.write("\n[Explore](gallery/atlas/explorer.html)\n")
    for name, mistake in BROKEN.items():
        with (copy / name).open("a", encoding="utf-8") as page:
            page.write(f"\n{mistake}\n")
    done = subprocess.run(
        [sys.executable, copy / "docs" / "site", site], stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 1, done.stderr
    return site, done.stderr.splitlines()


@pytest.fixture(scope="module")
def pages(built):
    site, _ = built
    paths = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(site).as_posix(): Built(path) for path in paths}


def test_warnings_name_broken_links_and_pictures_and_pages_outside_the_menu_alone(built):
    _, said = built
    mistakes = [line for line in said if "WARNING" in line]
    named = {next((page for page in BROKEN if page in line), line) for line in mistakes}
    assert named == set(BROKEN)
    assert len([line for line in mistakes if "no-such" in line]) == len(BROKEN) - 1


def test_every_link_of_the_built_pages_leads_to_a_file_and_an_element(built, pages):
    site, _ = built
    lost = []
    for name, page in pages.items():
        for link in page.links + page.loads:
            address = urlsplit(link)
            if address.scheme or "no-such" in link:
                continue
            target = (site / name).parent / unquote(address.path) if address.path else site / name
            target = target.resolve()
            inside = target.relative_to(site.resolve()).as_posix()
            anchor = unquote(address.fragment) if inside in pages else ""
            if not target.is_file() or (anchor and anchor not in pages[inside].ids):
                lost.append((name, link))
    assert lost == []


def test_pages_load_nothing_from_elsewhere(pages):
    loaded = {address for page in pages.values() for address in page.loads}
    assert len(loaded) > 80
    assert not [address for address in loaded if urlsplit(address).scheme not in ("", "data")]


def test_every_page_is_there_with_all_its_words_and_pictures(pages):
    written = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*/*.md")]
    assert len(written) > 30
    for path in written:
        page = pages[path.relative_to(ROOT).with_suffix(".html").as_posix()]
        text = path.read_text(encoding="utf-8")
        words = Counter(re.findall(r"\w+", MARKUP.sub(" ", text).replace("`", "")))
        assert words - page.words == Counter(), path
        pictures = {Path(one).name for one in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)}
        shown = {re.sub(r"\d+(?=\.png)", "", Path(one).name) for one in page.loads}
        assert {re.sub(r"\d+(?=\.png)", "", one) for one in pictures} <= shown, path


def test_the_explorer_is_a_page_in_every_menu_with_its_pictures(built, pages):
    site, _ = built
    assert (site / EXPLORER).read_text() == "<p>An explorer</p>"
    assert (site / EXPLORER).with_name("fig1.png").is_file()
    assert EXPLORER in pages["README.html"].links
    assert pages["docs/reruns.html"].links.count("gallery/atlas/explorer.html") == 2


def test_the_index_of_a_folder_is_its_readme(built):
    site, _ = built
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()
    assert (site / "docs" / "gallery" / "duality" / "index.html").is_file()


@pytest.mark.browser
@pytest.mark.parametrize("name", ["README.html", "docs/gallery/prior/README.html"])
def test_in_a_browser_pictures_show_and_no_request_leaves_the_site(chromium, built, name):
    site, _ = built
    found = found_on(chromium, site / name)
    assert len(found["pictures"]) > 4
    assert all(width > 100 for _, width in found["pictures"]), found["pictures"]
    assert not [address for address in found["fetched"] if not address.startswith("file://")]
    assert not found["wide"], "nothing sticks out to the right"
