"""The function of a net, and what was counted of it."""

from dataclasses import replace
from math import log10

import numpy as np
import pandas as pd
import pytest
import torch

from flatlas.errors import FlatlasError
from flatlas.measures.boolean_prior import measure

OPTIONS = {"measure": "boolean_prior"}


@pytest.fixture
def solution(make_solution):
    return make_solution("biases", outputs=1, images=16)


def function_of(solution):
    """The signs of the logits, by hand."""
    w = {name: value[0].numpy() for name, value in solution.parameters.items()}
    a = solution.inputs[0].flatten(1).numpy()
    for layer in ("fc1", "fc2"):
        a = np.maximum(a @ w[f"{layer}.weight"] + w[f"{layer}.bias"], 0)
    labels = (a @ w["fc3.weight"] + w["fc3.bias"])[:, 0] > 0
    assert 0 < labels.sum() < 16
    return labels


def hexadecimal(labels):
    return f"{int(''.join(str(int(label)) for label in labels), 2):04x}"


def counted(*functions):
    counts = [50 * (number + 1) for number in range(len(functions))]
    table = pd.DataFrame({"function": functions, "count": counts, "draws": 2000})
    return table.assign(probability=table["count"] / 2000, standard_error=0.01)


def test_the_expressed_function_is_looked_up(solution):
    labels = function_of(solution)
    table = counted("0000", hexadecimal(labels), "ffff")
    learnt = replace(solution, labels=torch.tensor(labels[None]).long(), functions=table)
    (row,) = measure(learnt, OPTIONS)["summary"].to_dict("records")
    assert row == {
        "function": hexadecimal(labels), "is_target": True, "count": 100, "draws": 2000,
        "probability": 0.05, "standard_error": 0.01, "log10_p": pytest.approx(log10(0.05)),
    }  # fmt: skip


def test_a_function_that_is_another_than_the_target(solution):
    labels = function_of(solution)
    wrong = labels.copy()
    wrong[3] = ~wrong[3]
    table = counted(hexadecimal(wrong), "ffff")
    missed = replace(solution, labels=torch.tensor(wrong[None]).long(), functions=table)
    (row,) = measure(missed, OPTIONS)["summary"].to_dict("records")
    assert row["function"] == hexadecimal(labels) and not row["is_target"]
    assert np.isnan([row[name] for name in ("count", "probability", "log10_p")]).all()


def test_a_run_without_functions(solution):
    with pytest.raises(FlatlasError, match=r"data\.functions"):
        measure(solution, OPTIONS)
