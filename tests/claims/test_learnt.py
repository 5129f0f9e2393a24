"""Nets that have not learnt their task decide nothing, whatever the interval of their number."""

import numpy as np
import pandas as pd
import pytest

from flatlas.claims.claim import REPRODUCED, UNDECIDED, at_least
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material

SEEDS = range(5)


def judged(errors, diverged=()):
    """A claim that holds, about runs with these test errors, which began at 0.9."""
    nets = [(run, seed) for run in errors for seed in SEEDS]
    outcomes = pd.DataFrame(nets, columns=["run", "seed"]).assign(sweep="s")
    begin = outcomes.assign(test_error=0.9)
    end = outcomes.assign(test_error=[errors[run][seed] for run, seed in nets])
    ended = outcomes.assign(converged=[net not in diverged for net in nets])
    material = Material({"outcomes": ended, "history": pd.concat([begin, end])})
    ones = np.ones((len(SEEDS), 2))
    return Nets(material).claim("c", "", "", at_least(0), lambda x: x.mean((0, -1)), ones)


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ({"a": [0.1] * 5, "b": [0.9] * 5}, REPRODUCED),
        ({"a": [0.65] * 5, "b": [0.9] * 5}, UNDECIDED),
        # A mean over realizations, half of the images included.
        ({"a": [0.4, 0.4, 0.5, 0.6, 0.6]}, REPRODUCED),
        ({"a": [0.4, 0.4, 0.5, 0.6, 0.65]}, UNDECIDED),
        # Unknown.
        ({"a": [np.nan] * 5}, REPRODUCED),
    ],
)
def test_the_best_run_has_learnt_its_task_or_nothing_is_decided(errors, verdict):
    assert judged(errors).verdict == verdict


def test_nets_without_a_solution_are_not_the_best_run():
    errors = {"a": [0.1, *[0.7] * 4], "b": [0.1] * 5}
    diverged = {("a", 0), *(("b", seed) for seed in SEEDS)}
    assert "70 %" in judged(errors, diverged).note
