"""How the compiled kernel makes a step: what an optimizer's module says of itself."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One of the steps that `kernel.c` has.

    `numbers` are those that its comments name, in that order. `slots` name what is kept beside each
    weight: zeros at first, or copies of the weights where the `solution` is one of them. A `noisy`
    rule gets a standard normal number for each weight and step.
    """

    name: str
    numbers: tuple[float, ...] = ()
    slots: tuple[str, ...] = ()
    solution: str | None = None
    noisy: bool = False


GRADIENT = Rule("gradient", slots=("gradient",))
