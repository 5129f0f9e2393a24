"""How the compiled kernel takes a step: the rule that an optimizer's module declares."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One of the steps in `kernel.c`.

    `numbers` come in the order in which its comments name them. `slots` are the values kept for
    each weight: zeros at first, or copies of the weights if the `solution` is one of the slots. A
    `noisy` rule gets a standard normal number for each weight and step.
    """

    name: str
    numbers: tuple[float, ...] = ()
    slots: tuple[str, ...] = ()
    solution: str | None = None
    noisy: bool = False


GRADIENT = Rule("gradient", slots=("gradient",))
