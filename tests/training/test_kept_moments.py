"""The moments that a realization has reached, and the names under which they are kept."""

import pandas as pd
import pytest

from flatlas.training.moments import kept_moments

KEYS = {"0": "epoch-00000", "8": "epoch-00008", "20": "epoch-00020"}
KEYS |= {"met+0": "met+00000", "met+5": "met+00005", "final": "final"}


@pytest.mark.parametrize(
    ("reason", "met", "end", "reached"),
    [
        # It had ended before epoch 20.
        ("rule met", 7, 17, {"0": 0, "8": 8, "20": 17, "met+0": 7, "met+5": 12, "final": 17}),
        ("epochs exhausted", 0, 30, {"0": 0, "8": 8, "20": 20, "final": 30}),
        # Moments before it diverged are kept.
        ("diverged", 7, 11, {"0": 0, "8": 8, "met+0": 7}),
        ("diverged", 7, 12, {"0": 0, "8": 8, "met+0": 7}),
        ("diverged", 7, 13, {"0": 0, "8": 8, "met+0": 7, "met+5": 12}),
        ("diverged", 0, 8, {"0": 0}),
    ],
)
def test_moments_that_were_reached_have_their_name_and_epoch(reason, met, end, reached):
    outcome = pd.Series({"reason": reason, "met_epoch": met, "epoch": end})
    kept = kept_moments((0, 8, 20, "met+0", "met+5", "final"), outcome)
    assert {one.at: one.epoch for one in kept} == reached
    assert [one.key for one in kept] == [KEYS[at] for at in reached]
