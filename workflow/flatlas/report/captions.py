"""Captions as HTML. Snakemake's own report wants them as reStructuredText."""

import re

from docutils.core import publish_parts
from markupsafe import Markup

from flatlas.report.rendering import with_symbols

# The first sentence is the figure's title, which a page has in its heading.
TITLE = re.compile(r"\s*\*\*.*?\*\*\s*", re.DOTALL)

# A caption may neither read files nor contain HTML.
SETTINGS = {"file_insertion_enabled": False, "raw_enabled": False, "report_level": 5}


def without_title(source: str) -> str:
    """The paragraphs of a caption, which Markdown and reStructuredText write alike."""
    return TITLE.sub("", source, count=1).strip()


def caption(source: str) -> Markup:
    """The paragraphs of a caption without its title, as HTML."""
    parts = publish_parts(without_title(source), writer="html5", settings_overrides=SETTINGS)
    return with_symbols(str(parts["body"]))
