"""The pages' templates, and how they print numbers, pictures and the papers' symbols."""

import re
from base64 import b64encode
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from flatlas.minus import with_minus
from flatlas.report.readable import duration, short
from flatlas.report.strip import place
from flatlas.report.verdicts import SIGNS, count_verdicts, in_words

TEMPLATES = Path(__file__).with_name("templates")
# σ_g, ΔL_s, N_te, t_β, µ_w,n, p_49, F_1i, M_ii: a subscript in the paper is one here. The name
# duality_s14 has none.
SUBSCRIPT = re.compile(r"_((?:te|ii|β|[0-9]+i?|[a-z])(?:,n)?)(?![a-z0-9])", re.IGNORECASE)
# As in F_i^−ψ and L^µ.
SUPERSCRIPT = re.compile(r"\^(−?\w+)")


def render(template: str, **values: Any) -> str:
    """The page of a template, filled with these values."""
    return ENVIRONMENT.get_template(template).render(values)


def with_symbols(html: str) -> Markup:
    """HTML with the papers' subscripts and superscripts."""
    lowered = SUBSCRIPT.sub(r"<sub>\1</sub>", str(html))
    return Markup(SUPERSCRIPT.sub(r"<sup>\1</sup>", lowered))


def _text(value: Any) -> Any:
    """The text of a cell. An empty cell is NaN when it is read."""
    return "" if isinstance(value, float) and pd.isna(value) else value


def _embedded(picture: Path) -> str:
    return f"data:image/png;base64,{b64encode(picture.read_bytes()).decode()}"


FILTERS: dict[str, Callable[..., str]] = {
    "symbols": lambda text: with_symbols(escape(_text(text))),
    "short": short,
    "minus": lambda text: with_minus(str(_text(text))),
    # A bar would end the cell of a Markdown table.
    "cell": lambda text: str(_text(text)).replace("|", "\\|"),
    "embedded": _embedded,
    "duration": duration,
}
ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    finalize=_text,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters |= FILTERS
ENVIRONMENT.tests["finite"] = isfinite
ENVIRONMENT.globals |= {
    "signs": SIGNS,
    "place": place,
    "count_verdicts": count_verdicts,
    "in_words": in_words,
}
