"""A user's own net. The plan knows only where its code is."""

import json
import re
from collections.abc import Iterator
from math import prod
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue
from safetensors import SafetensorError, safe_open

from flatlas.plan.bounds import PathText
from flatlas.plan.family import LayerSize, ModuleFamily, NetSize, Shape

# The plan does not load a user's net. It assumes as many weights as in a ResNet-50 and as many
# multiplications as in a ResNet-18.
LIKE_A_RESNET = LayerSize(25 * 10**6, places=20)


def _where_and_what(module: str) -> str:
    where, _, what = module.partition(":")
    if where.endswith(".py") or not _is_name(where, what):
        dotted = where.removeprefix("./").removesuffix(".py").replace("/", ".")
        meant = f"{dotted}:{what}" if _is_name(dotted, what) else "my_nets:Tiny"
        raise ValueError(f"'{module}' must be written as '{meant}'")
    return module


def _is_name(where: str, what: str) -> bool:
    return all(part.isidentifier() for part in [*where.split("."), what])


def _safetensors(file: str) -> str:
    if not file.endswith(".safetensors"):
        raise ValueError(
            f"'{file}' must be a .safetensors file, because reading one runs no code. Make it "
            "as in docs/bring-your-own.md, with safetensors.torch.save_file"
        )
    return file


# A number, true, false or null in JSON.
_PLAIN = re.compile(r"-?(0|[1-9]\d{0,300})(\.\d+)?(e[+-]?\d{1,2})?|true|false|null", re.IGNORECASE)


def _typed(given: Any) -> Any:
    """The same, with each text that is a number, true, false or null in JSON as that value.

    Values from the command line are texts, and the plan does not know which types a module takes.
    """
    if isinstance(given, dict):
        return {name: _typed(value) for name, value in given.items()}
    if isinstance(given, list | tuple):
        return [_typed(value) for value in given]
    if isinstance(given, str) and _PLAIN.fullmatch(given):
        return json.loads(given.lower())
    return given


WeightsFile = Annotated[PathText, AfterValidator(_safetensors)]


class Own(ModuleFamily):
    """A torch module that ends with an nn.Linear, from a class or function with `arguments`.

    `module: my_nets:Tiny` is in my_nets.py in the folder in which Snakemake works.
    """

    family: Literal["own"]
    module: Annotated[str, Field(max_length=200), AfterValidator(_where_and_what)]
    arguments: Annotated[dict[str, JsonValue], BeforeValidator(_typed)] = Field(default={})
    """A text such as `false` or `4` counts as that value, because --config has only texts."""
    weights: WeightsFile | None = None
    """safetensors file with its `state_dict`, instead of random weights"""

    @property
    def slug(self) -> str:
        """The name of the class or function."""
        return self.module.partition(":")[2].lower()

    def layer_sizes(self, input_shape: Shape, outputs: int) -> Iterator[LayerSize]:
        """The assumed size, that of a ResNet: the plan does not load the net."""
        yield LIKE_A_RESNET

    def size(self, input_shape: Shape, outputs: int) -> NetSize:
        """The assumed size; with given weights, the number of weights in their file."""
        assumed = super().size(input_shape, outputs)
        weights = None if self.weights is None else _count(self.weights)
        return assumed if weights is None else assumed._replace(weights=weights)


def _count(file: str) -> int | None:
    """How many numbers a safetensors file has, by its header; None if it can't be read."""
    try:
        with safe_open(file, framework="numpy") as tensors:
            names = tensors.keys()
            return sum(prod(tensors.get_slice(name).get_shape()) for name in names)
    except (OSError, SafetensorError):
        return None
