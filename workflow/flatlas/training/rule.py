"""The rules of the compiled kernel's steps; the module of an optimizer declares its rule."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One of the steps in `kernel.c`.

    `numbers` have the order in the comments of `kernel.c`. `slots` name the values kept for each
    weight. They start at 0, or as copies of the weights if the `solution` is one of them. A `noisy`
    rule gets a standard normal number for each weight and step.
    """

    name: str
    numbers: tuple[float, ...] = ()
    slots: tuple[str, ...] = ()
    solution: str | None = None
    noisy: bool = False


GRADIENT = Rule("gradient", slots=("gradient",))
