"""The options and results of the library's measures, from their declarations."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from settings import limits, on_one_line

from flatlas.library.call import MEASURES, declared, module
from flatlas.library.options import Options

# A class of options that several measures have, with the head of its section.
Heads = Mapping[type[Options], str]


class _Schema(GenerateJsonSchema):
    """The schema of options, some of which are Python objects, such as a model."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> dict[str, Any]:
        """The schema of such an object, which has no bounds."""
        return {"type": "object"}


def measures() -> str:
    """A section for each class of shared options and each measure."""
    heads = _heads()
    sections = [(head, _text(one)) for one, head in heads.items()]
    sections += [(f"`{name}`", _section(name, heads)) for name in MEASURES]
    return "\n\n".join(f"### {head}\n\n{text}" for head, text in sections)


def _heads() -> Heads:
    users: dict[type[Options], list[str]] = {}
    for name in MEASURES:
        for one in _classes(name):
            users.setdefault(one, []).append(name)
    shared = {one: names for one, names in users.items() if len(names) > 1}
    return {one: f"Options of {' and '.join(names)}" for one, names in shared.items()}


def _classes(name: str) -> list[type[Options]]:
    """The classes of a measure's options, the most general first."""
    found = (one for one in reversed(declared(name).__mro__) if issubclass(one, Options))
    return [one for one in found if one is not Options]


def _section(name: str, heads: Heads) -> str:
    """A measure's call, what it and its options mean, their bounds, and its result."""
    spec, classes = declared(name), _classes(name)
    shared = [heads[one] for one in classes if one in heads]
    texts = [module(name).measure, *(one for one in classes if one not in heads)]
    parts = [
        f"`{name}({', '.join(_call(spec))})`",
        " ".join(map(_text, texts)),
        *(f"See [{head}](#{head.lower().replace(' ', '-')})." for head in shared),
        _listed("Allowed", _bounded(spec)),
        _listed("Result", (f"`{one}`" for one in _attributes(name))),
    ]
    return "\n\n".join(filter(None, parts))


def _text(of: Any) -> str:
    """A docstring on one line; a third paragraph and later ones stay apart."""
    begin, _, rest = inspect.cleandoc(of.__doc__).replace("\n\n", " ", 1).partition("\n\n")
    return "\n\n".join(map(on_one_line, (begin, *rest.split("\n\n")))).strip()


def _listed(what: str, found: Iterable[str]) -> str:
    return f"{what}: {text}." if (text := ", ".join(found)) else ""


def _call(spec: type[BaseModel]) -> Iterator[str]:
    """Each option with its default, if it has one."""
    for name, option in spec.model_fields.items():
        yield name if option.is_required() else f"{name}={_default(option)}"


def _default(option: FieldInfo) -> str:
    value = option.default
    if isinstance(value, float):
        return f"{value:.4g}"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _bounded(spec: type[BaseModel]) -> Iterator[str]:
    """Each option that has bounds or few values, with these."""
    schema = spec.model_json_schema(schema_generator=_Schema)
    for name, one in schema["properties"].items():
        text = limits(one)
        if any(sign in text for sign in "`<>≤≥"):
            yield f"`{name}` ({text})"


def _attributes(name: str) -> list[str]:
    """The fields of a measure's result, and its properties."""
    result = module(name).measure.__annotations__["return"]
    computed = inspect.getmembers(result, lambda one: isinstance(one, property))
    return [one.name for one in fields(result)] + [key for key, _ in computed]


LIBRARY = {"library": measures}
