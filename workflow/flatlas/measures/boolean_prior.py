"""P(f) of the Boolean function f that a net expresses, by sampling random nets (§5.1, Fig. 2)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pandas import DataFrame

from flatlas.errors import FlatlasError
from flatlas.measures.solution import Solution
from flatlas.nets.functions import expressed, packed

COUNTED = ["count", "draws", "probability", "standard_error"]


def measure(solution: Solution, options: Mapping[str, Any]) -> dict[str, DataFrame]:
    """`summary` is one row: f in hexadecimal, whether it is the target, and log10 P(f).

    A function that is not among the run's targets was not counted and gets NaN.
    """
    if solution.functions is None:
        raise FlatlasError("no functions were counted: measure a run that has data.functions.")
    (function,) = expressed(solution.net, solution.parameters, solution.inputs.squeeze(0))
    (target,) = packed(solution.labels)
    summary = solution.functions.set_index("function")[COUNTED].reindex([function.hex()])
    summary = summary.astype("float64").rename_axis("function").reset_index()
    summary.insert(1, "is_target", function == target)
    return {"summary": summary.assign(log10_p=np.log10(summary["probability"]))}
