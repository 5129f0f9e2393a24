"""The families of networks, one module each, and their union: the type of a run's `net`.

A new family is a module here, found by its name, and a builder `flatlas/nets/<family>.py`.
"""

from functools import reduce
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import Field

from flatlas.errors import FlatlasError
from flatlas.plan.declarations import load
from flatlas.plan.family import Family


def declared(name: str) -> type[Family]:
    """The family that a module declares. Its tag is the module's name."""
    there = vars(load(f"{__name__}.{name}")).values()
    for one in [one for one in there if isinstance(one, type) and issubclass(one, Family)]:
        if get_args(one.model_fields["family"].annotation) == (name,):
            return one
    raise FlatlasError(
        f"workflow/flatlas/plan/families/{name}.py has no subclass of Family with the tag "
        f'family: Literal["{name}"]. docs/add-a-net.md has an example.'
    )


FAMILIES = {module.name: declared(module.name) for module in iter_modules(__path__)}

if TYPE_CHECKING:
    NetSpec = Family
else:
    NetSpec = Annotated[reduce(or_, FAMILIES.values()), Field(discriminator="family")]
