"""Tables of the keys of the configuration, from the specs of workflow/flatlas/plan.

What a key means is in the docstring under it or, in backticks, in that of its class.
"""

import inspect
import sys
from collections.abc import Collection, Iterator
from types import UnionType
from typing import Any, get_args, get_origin

import yaml
from pages import ROOT, table
from pydantic import TypeAdapter

sys.path.insert(0, str(ROOT / "workflow"))

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.families import NetSpec
from flatlas.plan.families.convolutional import ConvolutionStage
from flatlas.plan.initializations import InitSpec
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.measurements.measurement import Measurement
from flatlas.plan.settings import Preset, Settings
from flatlas.plan.spec import Spec
from flatlas.plan.studies import Borrowed, Data, Figure, Run, Study, Sweep
from flatlas.plan.training_specs import OptimizerSpec

Schema = dict[str, Any]
COMPARISONS = {
    "minimum": "≥",
    "exclusiveMinimum": ">",
    "maximum": "≤",
    "exclusiveMaximum": "<",
}
# Keys that a section of their own describes, and mappings of names to what sections describe.
ELSEWHERE = {
    (Settings, "sources"): "names, each with a source",
    (Study, "runs"): "names, each with a run",
    (Study, "sweeps"): "names, each with a sweep",
    (Study, "measures"): "names, each with a measure",
    (Study, "borrowed"): "names, each with sweeps",
    (Study, "figures"): "names, each with a figure",
    (Run, "net"): "see *Nets*",
    (Run, "optimizer"): "see *Optimizers*",
}


def keys(spec: type[Spec], prefix: str = "", without: Collection[str] = ()) -> str:
    """Every key of a spec, those of the specs inside it dotted."""
    rows = [
        (f"`{key}`", value, default, what)
        for key, value, default, what in _rows(spec, prefix)
        if key not in without and not key.startswith(tuple(f"{one}." for one in without))
    ]
    return table(("key", "value", "default", "what it is"), rows)


def members(union: Any, tag: str) -> str:
    """A row for each member of a union: its tag, what it is, its options."""
    rows = []
    for spec in get_args(get_args(union)[0]):
        name = get_args(spec.model_fields[tag].annotation)[0]
        rows.append((f"`{name}`", on_one_line(spec.__doc__), _options(spec, {tag})))
    return table((f"`{tag}`", "what it is", "options"), rows)


def measures() -> str:
    """A row for each measure; the page says above the table what all of them share."""
    shared = {"measure", *Measurement.model_fields}
    rows = [
        (f"`{name}`", on_one_line(one.__doc__), _options(one, shared), _tables(one))
        for name, one in MEASURES.items()
    ]
    return table(("`measure`", "what it is", "options", "tables"), rows)


def _tables(measure: type[Measurement]) -> str:
    return "; ".join(f"`{name}`: {', '.join(own)}" for name, own in measure.tables.items())


def _rows(spec: type[Spec], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    schema = TypeAdapter(spec).json_schema()
    for name, field in spec.model_fields.items():
        inner, key = _spec_in(field.annotation), prefix + name
        if inner is None:
            value = ELSEWHERE.get((spec, name)) or _value(schema["properties"][name])
            yield key, value, _default(field), on_one_line(field.description)
        else:
            yield (
                key,
                "keys of its own",
                "off" if field.default is None else "",
                on_one_line(inner.__doc__),
            )
            yield from _rows(inner, f"{key}.")


def _spec_in(annotation: Any) -> type[Spec] | None:
    """The one spec that a field holds, if it holds one."""
    kinds = (annotation, *(get_args(annotation) if get_origin(annotation) is UnionType else ()))
    specs = [kind for kind in kinds if inspect.isclass(kind) and issubclass(kind, Spec)]
    return specs[0] if len(specs) == 1 else None


def on_one_line(docstring: str | None) -> str:
    """A docstring, of a key or of a spec, as it fits into a table."""
    return " ".join((docstring or "").split())


def _options(spec: type[Spec], without: set[str]) -> str:
    schema = TypeAdapter(spec).json_schema()
    options = []
    for name, field in spec.model_fields.items():
        if name in without:
            continue
        value = _value(schema["properties"][name])
        default = "" if field.is_required() else f", by default {_default(field)}"
        what = f": {on_one_line(field.description).rstrip('.')}" if field.description else ""
        options.append(f"`{name}` ({value}{default}){what}")
    return "; ".join(options) or "–"


def _default(field: Any) -> str:
    if field.is_required():
        return "**needed**"
    value = TypeAdapter(Any).dump_python(field.default, mode="json")
    if value is None:
        return "–"
    text = yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True)
    return f"`{text.partition('...')[0].strip()}`"


def _value(schema: Schema) -> str:
    """A value's type and bounds, from its JSON schema, in words."""
    if "anyOf" in schema:
        kinds = [_value(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "array":
        inner = schema.get("items", {}) or schema.get("prefixItems", [{}])[0]
        return f"list: {_value(inner)}" if inner else "list"
    if kind in ("integer", "number"):
        word = "whole number" if kind == "integer" else "number"
        bounds = [f"{sign} {schema[key]:g}" for key, sign in COMPARISONS.items() if key in schema]
        return " ".join([word, ", ".join(bounds)]).strip()
    if kind == "boolean":
        return "`true` or `false`"
    return {"object": "mapping", "string": "text"}.get(kind or "", "see below")


SETTINGS = {
    "settings": lambda: keys(Settings),
    "sources": lambda: members(SourceSpec, "kind"),
    "study": lambda: keys(Study),
    "data": lambda: keys(Data, "data."),
    "run": lambda: keys(Run, without=["data"]),
    "nets": lambda: members(NetSpec, "family"),
    "stages": lambda: keys(ConvolutionStage),
    "inits": lambda: members(InitSpec, "scheme"),
    "optimizers": lambda: members(OptimizerSpec, "name"),
    "borrowed": lambda: keys(Borrowed),
    "sweep": lambda: keys(Sweep),
    "figure": lambda: keys(Figure),
    "measures": measures,
    "preset": lambda: keys(Preset),
}
