"""The base of every spec: frozen, strict about its keys, with a stable hash.

A spec has everything that defines a result. Device, threads and paths are not part of it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError


class Spec(BaseModel):
    """Frozen, and strict about its keys: a mistyped one is an error, never ignored.

    A job takes all its values from its spec. So the spec has all decisions of `plan`, and a stage's
    fingerprint can leave `plan` out.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        # The longest text is a citation.
        str_max_length=2000,
    )

    @model_validator(mode="before")
    @classmethod
    def _yes_is_no_number(cls, given: Any) -> Any:
        """YAML reads `yes` and `on` as true, which pydantic would take for 1."""
        said = given if isinstance(given, Mapping) else {}
        wrong = [
            InitErrorDetails(type=PydanticCustomError("bool", "a number"), loc=loc, input=value)
            for name in _numbers(cls).intersection(said)
            for loc, value in _elements(name, said[name])
            if isinstance(value, bool)
        ]
        if wrong:
            raise ValidationError.from_exception_data(cls.__name__, wrong)
        return given

    def resolved(self) -> dict[str, Any]:
        """Every value, defaults included, as JSON types: the form in which a job gets the spec.

        Options that are None (off) are left out, so a new option that is off by default reruns
        nothing.
        """
        return self.model_dump(mode="json", exclude_none=True)


@cache
def _numbers(model: type[Spec]) -> set[str]:
    """The fields that may be numbers and may not be true or false."""
    kinds = {name: [*_kinds(field.annotation)] for name, field in model.model_fields.items()}
    return {name for name, of in kinds.items() if {int, float} & {*of} and bool not in of}


def _elements(name: str, value: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """A value, or those of a list, each with its place."""
    if isinstance(value, list | tuple):
        yield from (((name, number), one) for number, one in enumerate(value))
    else:
        yield (name,), value


def _kinds(annotation: Any) -> Iterator[type]:
    """The types in an annotation."""
    if isinstance(annotation, type) and not get_args(annotation):
        yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) < len(values):
        raise ValueError(f"list each only once, not {', '.join(map(str, values))}")
    return values


# For a list without duplicates.
Distinct = AfterValidator(_distinct)
# Sorted, for a list whose order does not matter: it has one id, however it is written.
InOrder = AfterValidator(lambda values: tuple(sorted(values)))
# On or off; false has the id of what holds without it.
Switch = Annotated[bool | None, AfterValidator(lambda given: given or None)]


def digest(spec: Spec) -> str:
    """Twelve hexadecimal digits that change with every value that differs from its default.

    Defaults are left out, so a new field with a default changes no existing id. (The tag of a union
    has no default, so it always counts.) A changed default still reruns the affected jobs, since
    jobs have the resolved spec as a parameter.
    """
    chosen = spec.model_dump(mode="json", exclude_defaults=True)
    text = json.dumps(chosen, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
