"""Captions, which are reStructuredText for Snakemake's own report, as HTML."""

import re

from docutils.core import publish_parts

from flatlas.report.markup import with_symbols

# The first sentence is the figure's title, which a page has in its heading.
TITLE = re.compile(r"\s*\*\*.*?\*\*\s*", re.DOTALL)

# A caption may neither read files nor bring HTML of its own.
SETTINGS = {"file_insertion_enabled": False, "raw_enabled": False, "report_level": 5}


def caption(written: str) -> str:
    """The paragraphs of a caption without its title."""
    text = TITLE.sub("", written, count=1)
    parts = publish_parts(text, writer="html5", settings_overrides=SETTINGS)
    return with_symbols(str(parts["body"]))
