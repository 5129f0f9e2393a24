"""Every spec that differs from a plain one in a single value, derived from the fields' types.

A new field or spec is covered automatically; an unknown type is refused, not skipped.
"""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from flatlas.plan.data_specs import Normalize

POOLS = {
    bool: (False, True),
    int: (1, 2, 3, 0, 8, 11),
    float: (1.0, 0.25, 0.5, 0.0, 2.0, 3.0),
    str: ("fc1", "fc2", "duality"),
    NoneType: (None,),
    # For images of one channel and of three.
    Normalize: tuple(
        {"mean": [mean] * channels, "std": [std] * channels}
        for mean, std in ((0.5, 0.25), (0.25, 0.5))
        for channels in (1, 3)
    ),
}

# Tried if no other value is valid: names of a user's own nets, and their weights.
ELSE = ("nets:One", "nets:Two", "one.safetensors", "two.safetensors")

# Models whose variations are being made, the outermost first.
BEGUN: list[type[BaseModel]] = []


def variations(model: type[BaseModel]) -> list[dict[str, Any]]:
    """Settings of the model: the fewest that are valid, then each allowed value of each field.

    If a value is invalid with the plain settings (snapshots need extra epochs), it is combined with
    the first variation that allows it, or with a value of one other field (a schedule in steps and
    its epochs). Inside itself (a run that starts from a run), a model has only two variations: this
    ends the recursion.
    """
    within = model in BEGUN
    BEGUN.append(model)
    fields = {n: f for n, f in model.model_fields.items() if f.is_required() or not within}
    candidates = {
        name: admitted(field.annotation, tuple(field.metadata)) for name, field in fields.items()
    }
    BEGUN.pop()
    required = {n: v[0] for n, v in candidates.items() if model.model_fields[n].is_required()}
    found = [required] if _valid(model, required) else []
    others = [{**required, name: value} for name in candidates for value in candidates[name]]
    for name, values in candidates.items():
        for value in values:
            beside = next(
                (one for one in [*found, *others] if _valid(model, {**one, name: value})), None
            )
            if beside is not None and {**beside, name: value} not in found:
                found.append({**beside, name: value})
    return found[:2] if within else found


def admitted(kind: Any, constraints: tuple[Any, ...] = ()) -> list[Any]:
    """Valid values of a type: several if it has several."""
    adapter = TypeAdapter(Annotated[kind, *constraints] if constraints else kind)
    found = [value for value in _proposed(kind) if _valid(adapter, value)]
    return found or [value for value in ELSE if _valid(adapter, value)]


def _proposed(kind: Any) -> Iterator[Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from admitted(arguments[0], arguments[1:])
    elif origin is Literal:
        yield from arguments
    elif origin in (Union, UnionType):
        for member in arguments:
            yield from admitted(member)
    elif origin is dict:
        # Arguments of a user's own code.
        yield from ({}, {"width": 1}, {"width": 2}, {"widths": [1, 2]})
    elif origin is tuple and arguments[-1] is Ellipsis:
        some = admitted(arguments[0])
        yield from ([], *([one] for one in some), some[:2], some[1::-1])
    elif origin is tuple:
        places = [admitted(member) for member in arguments]
        plain = [values[0] for values in places]
        yield plain
        for place, values in enumerate(places):
            yield [*plain[:place], values[1], *plain[place + 1 :]]
    elif kind in POOLS:
        yield from POOLS[kind]
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from variations(kind)
    else:
        raise TypeError(f"no values are known for {kind}: add some to {__name__}")


def _valid(model: Any, value: Any) -> bool:
    validate = model.validate_python if isinstance(model, TypeAdapter) else model.model_validate
    try:
        validate(value)
    except ValidationError:
        return False
    return True
