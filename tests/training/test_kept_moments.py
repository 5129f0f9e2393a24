"""Which of the wanted moments a realization has reached, and under what name they were kept."""

import pandas as pd
import pytest

from flatlas.training.moments import kept_moments

WANTED = (0, 8, 20, "met+0", "met+5", "final")


def outcome(reason, met, end):
    return pd.Series({"reason": reason, "met_epoch": met, "epoch": end})


def test_where_moments_are_found():
    kept = kept_moments(WANTED, outcome("rule met", 7, 17))
    assert [(one.at, one.key, one.epoch) for one in kept] == [
        ("0", "epoch-00000", 0),
        ("8", "epoch-00008", 8),
        # It had ended by then.
        ("20", "epoch-00020", 17),
        ("met+0", "met+00000", 7),
        ("met+5", "met+00005", 12),
        ("final", "final", 17),
    ]


@pytest.mark.parametrize(
    ("reason", "met", "end", "reached"),
    [
        ("epochs exhausted", 0, 30, ["0", "8", "20", "final"]),
        # What there was before it diverged stands.
        ("diverged", 7, 11, ["0", "8", "met+0"]),
        ("diverged", 7, 12, ["0", "8", "met+0"]),
        ("diverged", 7, 13, ["0", "8", "met+0", "met+5"]),
        ("diverged", 0, 8, ["0"]),
    ],
)
def test_what_was_never_reached_is_left_out(reason, met, end, reached):
    assert [one.at for one in kept_moments(WANTED, outcome(reason, met, end))] == reached
