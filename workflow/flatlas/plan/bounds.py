"""The bounds of the numbers, names and paths in a configuration.

Every number has an upper bound, so a number with too many zeros is refused before anything expands.
No study comes near a bound; the comment at each bound gives its reason.
"""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer

# Far below the largest number of float32, 3e38. A training diverges long before.
LARGEST = 1e30
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]


def _not_one_in_float32(share: float) -> float:
    # Half of the way from 1 to the next smaller number of float32.
    if share >= 1 - 2**-25:
        raise ValueError("float32 rounds it to 1: choose at most 0.9999999")
    return share


# Shares: `BelowOne` may be 0 but not 1, `UpToOne` may be 1 but not 0.
BelowOne = Annotated[float, Field(ge=0, lt=1)]
UpToOne = Annotated[float, Field(gt=0, le=1)]
# What a running mean keeps in each step. With 1 it would never change.
Kept = Annotated[BelowOne, AfterValidator(_not_one_in_float32)]

# Counts of what a job computes or holds in memory: pairs, probes, minibatches, steps. A million
# takes weeks.
Count = Annotated[int, Field(gt=0, le=10**6)]
AtLeastTwo = Annotated[int, Field(ge=2, le=10**6)]

# ImageNet-21k has 14 million images.
Images = Annotated[int, Field(gt=0, le=10**9)]
# ImageNet-21k has 22,000 classes.
MOST_CLASSES = 10**5
Class = Annotated[int, Field(ge=0, lt=MOST_CLASSES)]
# Cameras have images of this width, in pixels.
Side = Annotated[int, Field(gt=0, le=10**4)]

# Neurons or channels of a layer. The largest language models have 10**5.
Width = Annotated[int, Field(gt=0, le=10**7)]
# Layers, or blocks of them. ResNets have been trained with a thousand.
MOST_LAYERS = 1000
Depth = Annotated[int, Field(gt=0, le=MOST_LAYERS)]

# At a thousand epochs a second, 10**7 epochs take three hours, and 10**8 more than a day.
Epoch = Annotated[int, Field(ge=0, le=10**8)]
LaterEpoch = Annotated[int, Field(gt=0, le=10**8)]
# Moments at which weights are kept, or values of a list. A plan names each of them in every job.
MOST_LISTED = 10_000
# A plan also lists the seeds in every job. The papers have at most a thousand.
MOST_REALIZATIONS = 100_000
_Group = Annotated[int, Field(gt=0, le=MOST_REALIZATIONS)]


def _number(given: Any) -> Any:
    return int(given) if isinstance(given, str) and given.isdecimal() else given


# Reads a text from the command line as a number, for a choice among numbers.
AsNumber = BeforeValidator(_number)


def _as_groups(sizes: Any) -> Any:
    return sizes if isinstance(sizes, list | tuple) else (sizes,)


def _together(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if not sizes:
        raise ValueError("the list is empty. Allowed: a number, or a list of at least one")
    if sum(sizes) > MOST_REALIZATIONS:
        raise ValueError(
            f"{sum(sizes):,} realizations in all groups are more than {MOST_REALIZATIONS:,}"
        )
    return sizes


def _as_written(sizes: tuple[int, ...]) -> int | tuple[int, ...]:
    return sizes if len(sizes) > 1 else sizes[0]


# The size of each group of realizations; a number if there is only one.
Realizations = Annotated[
    tuple[_Group, ...],
    Field(max_length=1000),
    BeforeValidator(_as_groups, json_schema_input_type=_Group | tuple[_Group, ...]),
    AfterValidator(_together),
    PlainSerializer(_as_written),
]
# Tables store seeds as 64-bit integers.
Seed = Annotated[int, Field(ge=0, lt=2**63)]


def _name(name: str) -> str:
    """The name, if it can be part of a file's name and of a target on the command line."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}", name):
        raise ValueError(
            "a name has at most 100 letters (A to Z), digits, _ and -, and does not begin with -, "
            f"unlike {name[:100]!r}"
        )
    return name


Name = Annotated[str, AfterValidator(_name)]


def _path(path: str) -> str:
    """The path without `./` and double slashes: one file has one name.

    Snakemake takes braces for wildcards, and file systems limit the parts of a path.
    """
    if re.search(r"[{}\x00-\x1f\x7f]", path):
        raise ValueError("a path can't have braces, line breaks or other control characters")
    if any(len(part.encode(errors="replace")) > 255 for part in path.split("/")):
        raise ValueError("a part of the path is longer than 255 bytes, the limit of file systems")
    return str(Path(path))


PathText = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_path)]


def _in_a_home(path: str) -> str:
    try:
        Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"'{path}' is in the home folder of a user who does not exist") from None
    return path


# A path that may begin with ~.
HomePath = Annotated[PathText, AfterValidator(_in_a_home)]
