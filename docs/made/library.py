"""The options and results of the library's measures, from their declarations."""

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

from pages import table
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from settings import on_one_line

from flatlas.library.call import MEASURES, declared, module
from flatlas.library.options import Options


def measures() -> str:
    """A row for each measure: its options with their defaults, what they mean, its result."""
    rows = [
        (f"`{name}`", _options(declared(name)), _meaning(name), _attributes(name))
        for name in MEASURES
    ]
    return table(("measure", "options", "meaning", "attributes of the result"), rows)


def _options(spec: type[BaseModel]) -> str:
    return ", ".join(_written(name, one) for name, one in spec.model_fields.items()) or "–"


def _written(name: str, option: FieldInfo) -> str:
    """An option with its default and what else is allowed, or in bold if it is needed."""
    if option.is_required():
        return f"**`{name}`**"
    if option.default is None:
        return f"`{name}`"
    text = f"`{name}={option.default!r}`"
    others = [one for one in _choices(option.annotation) if one != option.default]
    return f"{text} ({', '.join(f'`{one!r}`' for one in others)})" if others else text


def _choices(annotation: Any) -> list[Any]:
    return [*get_args(annotation)] if get_origin(annotation) is Literal else []


def _meaning(name: str) -> str:
    """What the measure says of itself, and what the classes of its options say."""
    classes = [
        one
        for one in declared(name).__mro__
        if issubclass(one, Options) and one is not Options and one.__doc__
    ]
    return " ".join(on_one_line(one.__doc__) for one in (module(name).measure, *classes))


def _attributes(name: str) -> str:
    result = module(name).measure.__annotations__["return"]
    return ", ".join(f"`{one.name}`" for one in fields(result))


LIBRARY = {"library": measures}
