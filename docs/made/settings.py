"""Tables of the configuration's keys, from the specs of workflow/flatlas/plan.

The docstring of a key or of its class says what the key means.
"""

import inspect
from collections.abc import Collection, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import yaml
from pages import ROOT, table
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo

from flatlas.plan.data_specs import SourceSpec
from flatlas.plan.families import NetSpec
from flatlas.plan.families.convolutional import ConvolutionalNet, ConvolutionStage
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
# Bounds from here on only catch mistakes (flatlas/plan/bounds.py) and are not listed.
FAR_ABOVE = 1000
# Values that another table of the page describes.
ELSEWHERE = {
    (Settings, "sources"): "data sources by name",
    (Study, "runs"): "runs by name",
    (Study, "sweeps"): "sweeps by name",
    (Study, "measures"): "measures by name",
    (Study, "borrowed"): "borrowed runs by name",
    (Study, "figures"): "figures by name",
    (Run, "net"): "net",
    (Run, "optimizer"): "optimizer",
    (ConvolutionalNet, "stages"): "[stage]",
}


def keys(spec: type[Spec], prefix: str = "", without: Collection[str] = ()) -> str:
    """Every key of a spec, those of the specs inside it dotted."""
    rows = [
        (name, values, what)
        for key, name, values, what in described(spec, prefix)
        if key not in without and not key.startswith(tuple(f"{one}." for one in without))
    ]
    return table(("key", "values", "meaning"), rows)


def members(union: Any, tag: str) -> str:
    """A row for each member of a union: its tag, what it is, its options."""
    rows = []
    for spec in get_args(get_args(union)[0]):
        name = get_args(spec.model_fields[tag].annotation)[0]
        rows.append((f"`{name}`", on_one_line(spec.__doc__), _options(spec, {tag})))
    return table((f"`{tag}`", "meaning", "options"), rows)


def measures() -> str:
    """A row for each measure; the page says above the table what all of them share."""
    shared = {"measure", *Measurement.model_fields}
    rows = [
        (_declaration(name, one), on_one_line(one.__doc__), _options(one, shared), _tables(one))
        for name, one in MEASURES.items()
    ]
    return table(("`measure`", "meaning", "options", "tables"), rows)


def _declaration(name: str, measure: type[Measurement]) -> str:
    """A measure's name, with a link to its declaration."""
    file = Path(inspect.getfile(measure)).relative_to(ROOT)
    return f"[`{name}`](../{file})"


def _tables(measure: type[Measurement]) -> str:
    return ", ".join(f"`{name}`" for name in measure.tables)


def described(spec: type[Spec], prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    """Each key, how the page writes it, its values and its meaning."""
    schema = TypeAdapter(spec).json_schema()
    for name, field in spec.model_fields.items():
        inner, key = _spec_in(field.annotation), prefix + name
        if inner is None:
            values = _values(spec, name, schema["properties"][name])
            yield key, _written(key, field), values, on_one_line(field.description)
        else:
            written = _bold(key) if field.is_required() else f"`{key}`"
            yield key, written, "", on_one_line(inner.__doc__)
            yield from described(inner, f"{key}.")


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
        values = _values(spec, name, schema["properties"][name])
        what = f": {on_one_line(field.description).rstrip('.')}" if field.description else ""
        options.append(_written(name, field) + (f" ({values})" if values else "") + what)
    return "; ".join(options) or "–"


def _bold(key: str) -> str:
    return f"**`{key}`**"


def _written(key: str, field: FieldInfo) -> str:
    """A key with its default, or in bold if it is needed."""
    if field.is_required():
        return _bold(key)
    return f"`{key}`" if field.default is None else f"`{key}: {_yaml(field.default)}`"


def _values(spec: type[Spec], name: str, schema: Schema) -> str:
    """Which values are allowed; no type where the default shows it."""
    field = spec.model_fields[name]
    if (spec, name) in ELSEWHERE:
        return ELSEWHERE[spec, name]
    shown = not field.is_required() and field.default not in (None, (), {})
    return limits(schema) if shown else _value(schema)


def _yaml(default: Any) -> str:
    value = TypeAdapter(Any).dump_python(default, mode="json")
    text = yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True)
    return text.partition("...")[0].strip()


def _value(schema: Schema) -> str:
    """A value's type and bounds, from its JSON schema, in words."""
    if "anyOf" in schema:
        kinds = [_value(one) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema.get("enum", [schema.get("const")]))
    kind = "object" if "$ref" in schema else schema.get("type")
    if kind == "array":
        inner = schema.get("items", {}) or schema.get("prefixItems", [{}])[0]
        return f"[{_value(inner)}]" if inner else "list"
    if kind in ("integer", "number"):
        return f"{kind} {limits(schema)}".strip()
    return {"object": "mapping", "string": "text", "boolean": "boolean"}[kind]


def limits(schema: Schema) -> str:
    """Which values of its type are allowed. Most numbers are positive, so that is not written."""
    if "items" in schema or "prefixItems" in schema:
        return limits(schema.get("items") or schema["prefixItems"][0])
    if {"enum", "const", "anyOf"} & {*schema}:
        return _value(schema)
    if schema.get("type") not in ("integer", "number"):
        return ""
    bounds = [
        f"{sign} {schema[key]:g}"
        for key, sign in COMPARISONS.items()
        if schema.get(key, FAR_ABOVE) < FAR_ABOVE
    ]
    return "" if bounds == ["> 0"] else ", ".join(bounds) or "of any sign"


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
