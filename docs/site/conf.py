"""The site of `make site`: the repository's Markdown pages, with README.md as the front page.

Pages are read where they are, so their links are written for GitHub and hold here, too.
"""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.transforms import Transform
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
STUDIES = sorted(path.parent.name for path in GALLERY.glob("*/README.md"))


def _gallery(study: str) -> list[tuple[str, str]]:
    """The page of a gallery, then the others in its folder: title and page."""
    others = sorted(path.stem for path in (GALLERY / study).glob("*.md") if path.stem != "README")
    titles = {study: "README", **{f"{study}: {name}": name for name in others}}
    return [(title, f"docs/gallery/{study}/{name}") for title, name in titles.items()]


# The menu: titles and pages, in groups.
MENU: dict[str, dict[str, str]] = {
    "Results": {
        "All claims": "docs/claims",
        **{title: page for study in STUDIES for title, page in _gallery(study)},
    },
    "Studies": {f"About {study}": f"docs/{study}" for study in STUDIES},
    "Use": {
        "Your own images or network": "docs/bring-your-own",
        "Measures, as a library": "docs/library",
        "Settings": "config/README",
        "Figures and their costs": "docs/figures",
        "Files of results": "results/README",
        "Columns of tables": "docs/columns",
        "Symbols": "docs/symbols",
    },
    "Run": {
        "What reruns when": "docs/reruns",
        "Clusters": "docs/scale",
        "Speed": "docs/speed",
        "Faults": "docs/faults",
    },
    "Extend": {
        "Contributing": "CONTRIBUTING",
        "Add a study": "docs/add-a-study",
        "Add a figure": "docs/add-a-figure",
        "Add a claim": "docs/add-a-claim",
        "Add a measure": "docs/add-a-measure",
        "Add a network family": "docs/add-a-net",
        "Add an optimizer": "docs/add-an-optimizer",
    },
    "About": {
        "Decisions": "docs/decisions",
        "Dependencies": "docs/dependencies",
        "Changes": "CHANGELOG",
    },
}

project = "flatlas"
copyright = "the authors of flatlas"
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = [
    *("*.md", "docs/*.md", "docs/gallery/*/*.md", "config/README.md", "results/README.md"),
]
exclude_patterns = [".*", "results/*/**", "tests", "workflow"]
extensions = ["myst_parser", "sphinx.ext.githubpages"]
myst_heading_anchors = 4
# What GitHub takes for text: a line that begins with a percent sign would be a comment.
myst_disable_syntax = ["myst_line_comment", "myst_block_break", "myst_target", "myst_role"]

html_theme = "pydata_sphinx_theme"
html_title = "flatlas"
html_copy_source = False
html_show_sourcelink = False
templates_path = ["templates"]
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"**": ["menu.html"]}
# This page is published as it is, in the same place, with the pictures that it shows.
EXPLORER = Path("docs/gallery/atlas/explorer.html")
html_context = {"explorer": str(EXPLORER) if (ROOT / EXPLORER).is_file() else ""}
html_theme_options = {
    "logo": {"text": "flatlas"},
    "navbar_center": [],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": False,
    "show_toc_level": 2,
    "search_bar_text": "Search",
}
# GitHub's own machine says where the repository is.
if repository := os.environ.get("GITHUB_REPOSITORY"):
    html_theme_options["github_url"] = f"https://github.com/{repository}"


class Anchors(Transform):
    """Lets links find the anchors that pages write in HTML, as the galleries do for figures."""

    default_priority = 100
    anchor = re.compile(r'<a id="([^"]+)">')

    def apply(self, **_: Any) -> None:
        """Add them to the headings, which links find."""
        for line in self.document.findall(nodes.raw):
            for name in self.anchor.findall(line.astext()):
                self.document.myst_slugs[name] = (line.line, name, name)


class Explorer(Transform):
    """Lets links open the explorer, where Sphinx would offer it as a file to save."""

    default_priority = 100

    def apply(self, **_: Any) -> None:
        """Link to its place in the site, which is that in the repository."""
        for link in [*self.document.findall(addnodes.download_reference)]:
            if Path(link["reftarget"]).name == EXPLORER.name:
                link.replace_self(nodes.reference("", "", *link, refuri=link["reftarget"]))


class Pictures(Transform):
    """Makes pictures links to themselves in full size, as Sphinx does with scaled ones."""

    default_priority = 100

    def apply(self, **_: Any) -> None:
        """Give each a scale."""
        for picture in self.document.findall(nodes.image):
            picture["scale"] = 100


def add_menu(_: Sphinx, page: str, source: list[str]) -> None:
    """The front page has the menu, invisibly: GitHub would show it."""
    if page == root_doc:
        for group, pages in MENU.items():
            lines = [f"{title} <{target}>" for title, target in pages.items()]
            options = [":hidden:", f":caption: {group}", ""]
            source[0] += "\n".join(["", "", "```{toctree}", *options, *lines, "```", ""])


def add_files(app: Sphinx, exception: Exception | None) -> None:
    """The explorer; and index.html, which servers show where GitHub shows README.md."""
    if exception is not None:
        return
    site = Path(app.outdir)
    for page in site.rglob("README.html"):
        shutil.copy(page, page.with_name("index.html"))
    if html_context["explorer"]:
        for file in (ROOT / EXPLORER, *GALLERY.glob("*/*.png")):
            shutil.copy(file, site / file.relative_to(ROOT))


def setup(app: Sphinx) -> None:
    app.add_transform(Anchors)
    app.add_transform(Explorer)
    app.add_transform(Pictures)
    app.connect("source-read", add_menu)
    app.connect("build-finished", add_files)
