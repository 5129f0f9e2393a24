"""The function that a net expresses, and how often random nets express it."""

from dataclasses import replace
from math import log10

import numpy as np
import pandas as pd
import pytest
import torch
from solutions import make_solution

from flatlas.measures import measure


@pytest.mark.parametrize("learnt", [True, False])
def test_the_expressed_function_is_looked_up(learnt):
    """Its bits are the signs of the logits; the labels may belong to another function."""
    solution = make_solution("biases", outputs=1, images=16)
    w = {name: value[0].numpy() for name, value in solution.parameters.items()}
    a = solution.inputs[0].flatten(1).numpy()
    for layer in ("fc1", "fc2"):
        a = np.maximum(a @ w[f"{layer}.weight"] + w[f"{layer}.bias"], 0)
    expressed = (a @ w["fc3.weight"] + w["fc3.bias"])[:, 0] > 0
    assert 0 < expressed.sum() < 16
    target = expressed ^ (False if learnt else np.arange(16) == 3)
    name, target_name = (
        f"{int(''.join(map(str, bits.astype(int))), 2):04x}" for bits in (expressed, target)
    )
    table = pd.DataFrame({"function": ["0000", target_name], "count": [50, 100], "draws": 2000})
    table = table.assign(probability=table["count"] / 2000, standard_error=0.01)
    given = replace(solution, labels=torch.tensor(target[None]).long(), functions=table)
    (row,) = measure("boolean_prior", given, {})["summary"].to_dict("records")
    found = [row[name] for name in ("count", "probability", "log10_p")]
    assert (row["function"], row["is_target"]) == (name, learnt)
    if learnt:
        assert found == pytest.approx([100, 0.05, log10(0.05)])
        assert (row["draws"], row["standard_error"]) == (2000, 0.01)
    else:
        assert np.isnan(found).all()
