"""Errors in a configuration: the file, the key, the value, what is allowed, the nearest match."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from reprlib import Repr
from types import UnionType
from typing import Annotated, Any, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from flatlas.errors import FlatlasError, nearest
from flatlas.plan.declarations import undeclared
from flatlas.plan.trees import CHOOSING, Location, has

Model = TypeVar("Model", bound=BaseModel)
# A place in a tree as 'file: dotted.key'.
Origin = Callable[[Location], str]
Hint = Callable[[Location], str]


def shown(given: Any) -> str:
    """A value as a message shows it: as Python writes it, and cut if it is long."""
    text = _SHORT.repr(given)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


_SHORT = Repr()
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = 8
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 4, 80, 80, 80
LONGEST = 200
# The most names, and the most mistakes, that a message lists.
MOST_NAMES, MOST_MISTAKES = 100, 20


def refuse(place: str, given: str, allowed: Iterable[str], why: str = "") -> NoReturn:
    """The error for a name that is not allowed."""
    known = list(allowed)
    do = undeclared(place.rpartition(".")[2], given) or nearest(given, known)
    raise FlatlasError(f"{place} names {shown(given)}{why}. Allowed: {listed(known)}.{do}")


def listed(names: Sequence[str]) -> str:
    """All names; if there are very many, the first ones and the last."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:3])}, …, {names[-1]}"
    return ", ".join(names) or "none yet"


def validated(
    model: type[Model], tree: Any, origin: Origin, hint: Hint = lambda missing: ""
) -> Model:
    """`tree` as a `model`; `origin` turns a location in the tree into 'file: dotted.key'.

    `hint` may add a sentence about a key that is missing at a location.
    """
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        mistakes: dict[str, _Mistake] = {}
        for problem in _without_echoes(error.errors()):
            mistake = _mistake(model, tree, problem, origin, hint)
            mistakes.setdefault(mistake.said, mistake).allowed.extend(
                one for one in mistake.allowed if one not in mistakes[mistake.said].allowed
            )
        said = [str(mistake) for mistake in mistakes.values()]
        more = [f"… and {len(said) - MOST_MISTAKES} more."] if len(said) > MOST_MISTAKES else []
        raise FlatlasError("\n".join([*said[:MOST_MISTAKES], *more])) from None


def _without_echoes(problems: Sequence[Any]) -> list[Any]:
    """Drop pydantic's 'too short' for a list if its elements are wrong anyway."""
    return [
        one
        for one in problems
        if one["type"] != "too_short"
        or not any(
            other["loc"][: len(one["loc"])] == one["loc"] for other in problems if other is not one
        )
    ]


@dataclass
class _Mistake:
    """One mistake: what is wrong, where, what is allowed. Each alternative of a union is one."""

    said: str
    allowed: list[str]
    given: str = ""
    hint: str = ""

    def __str__(self) -> str:
        if not self.allowed:
            return f"{self.said}.{self.hint}"
        return (
            f"{self.said}. Allowed: {', '.join(self.allowed)}."
            f"{self.hint or nearest(self.given, self.allowed)}"
        )


def _mistake(
    model: type[BaseModel], tree: Any, problem: Any, origin: Origin, hint: Hint
) -> _Mistake:
    """A problem that pydantic found, in our words."""
    location, known = _located(tree, problem["loc"], model)
    kind, context, given = problem["type"], problem.get("ctx", {}), problem.get("input")
    if kind == "extra_forbidden":
        return _Mistake(
            f"{origin(location)} is not a key that is known here", known, str(location[-1])
        )
    if kind == "missing":
        return _Mistake(f"{origin(location)} is missing", [], hint=hint(location))
    if kind.startswith("union_tag"):
        location = (*location, context["discriminator"].strip("'"))
        if kind == "union_tag_not_found":
            return _Mistake(f"{origin(location)} is missing", [])
        given = context["tag"]
        said = f"{origin(location)} is {shown(given)}"
        do = undeclared(str(location[-1]), str(given))
        return _Mistake(said, _names(context["expected_tags"]), str(given), do)
    if location[-1:] == ("[key]",):
        return _Mistake(
            f"{origin(location[:-2])}: {shown(given)} is not a name", [_allowed(problem)]
        )
    while not has(tree, location):
        location = location[:-1]
    if kind == "value_error":
        return _Mistake(f"{origin(location)}: {context['error']}", [])
    said = f"{origin(location)} is {shown(given)}"
    if kind == "literal_error":
        return _Mistake(said, _names(context["expected"]), str(given))
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return _Mistake(said, ["a mapping of keys to values"])
    if kind in ("list_type", "tuple_type"):
        return _Mistake(said, [_list_instead(given, location)])
    return _Mistake(said, [_allowed(problem)], shown(given))


def _list_instead(given: Any, location: Location) -> str:
    """Which list may be meant by a value that is none."""
    if isinstance(given, dict) and all(str(key).isdecimal() for key in given):
        return "a list; a single entry of it can't be set"
    if isinstance(given, dict) and location[-2:-1] == ("grid",):
        mapping, key = str(location[-1]), next(iter(given), "")
        if CHOOSING.get(mapping.rpartition(".")[2], ("",))[0] == key:
            # The other options of one kind need not be allowed for another.
            return f"a list of mappings, as in [{{{key}: …}}, …]"
        return f"a list for each dotted key, as in {mapping}.{key}: […]"
    if isinstance(given, str) and "," in given:
        # As on a command line.
        return f"a list, as in [{', '.join(part.strip() for part in given.split(','))}]"
    return f"a list, as in [{'' if given is None else shown(given)}]"


def _allowed(problem: Any) -> str:
    """What pydantic would have accepted."""
    context = problem.get("ctx", {})
    if problem["type"] in ("too_long", "string_too_long"):
        what = "values" if problem["type"] == "too_long" else "characters"
        return f"at most {context['max_length']} {what}"
    if problem["type"] in ("too_short", "string_too_short"):
        least = context["min_length"]
        what = "value" if problem["type"] == "too_short" else "character"
        return f"at least {least} {what}{'s' * (least > 1)}"
    if problem["type"] == "int_parsing" and _is_whole(problem["input"]):
        return f"a valid integer, as in {float(problem['input']):.0f}"
    if problem["type"] == "int_parsing_size":
        return "a number with fewer digits"
    if problem["type"] == "value_error":
        return str(context["error"])
    # After the comma, pydantic says how it tried to read the value.
    return str(problem["msg"].removeprefix("Input should be ").partition(",")[0])


def _is_whole(text: Any) -> bool:
    """Whether a text is a whole number in another form, as 1e3."""
    try:
        return abs(float(text)) < 1e15 and float(text).is_integer()
    except (TypeError, ValueError):
        return False


def _names(listed: str) -> list[str]:
    """["a", "b"] from pydantic's "'a' or 'b'"."""
    return [name.strip().strip("'") for name in listed.replace(" or ", ",").split(",")]


def _located(tree: Any, loc: Location, model: type[BaseModel]) -> tuple[Location, list[str]]:
    """Pydantic's location without the tags of unions, and the keys allowed at its last step."""
    path: list[str | int] = []
    here: list[Any] = [model]
    for step, part in enumerate(loc):
        tagged = [kind for kind in here if _is_model(kind) and _tag(kind) == part]
        if tagged and not has(tree, (*path, part)):
            here = tagged
            continue
        path.append(part)
        if step < len(loc) - 1:
            here = [inner for kind in here for inner in _inside(kind, part)]
    known = {name for kind in here if _is_model(kind) for name in kind.model_fields}
    return tuple(path), sorted(known)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _tag(kind: type[BaseModel]) -> Any:
    """The tag of a member of a union: the only value that its first field allows."""
    return next(iter(get_args(next(iter(kind.model_fields.values())).annotation)), None)


def _inside(kind: Any, step: str | int) -> list[Any]:
    """The types allowed one level deeper: of a field, or of a container's elements."""
    if _is_model(kind):
        field = kind.model_fields.get(str(step))
        return _alternatives(field.annotation) if field else []
    return [inner for element in get_args(kind) for inner in _alternatives(element)]


def _alternatives(kind: Any) -> list[Any]:
    """The members of a union (however annotated), or the type itself."""
    if get_origin(kind) in (Union, UnionType, Annotated):
        return [inner for member in get_args(kind) for inner in _alternatives(member)]
    return [kind]
