"""What `draw`, `claims` or a measure leaves out is named before it is written."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from side_by_side import with_history

from flatlas.claims.claim import at_least, claims_table
from flatlas.claims.nets import Nets
from flatlas.errors import FlatlasError
from flatlas.measures.tables import checked
from flatlas.plotting.style import save
from flatlas.statistics.trends import average

ENDS = pd.DataFrame({"sweep": "alpha", "run": ["a", "b"], "seed": 0, "converged": True})
MATERIAL = with_history({"outcomes": ENDS})


WHOLE = ["name", "says", "quantity", at_least(0), average, np.ones((1, 2))]


def test_a_whole_claim_has_its_number():
    assert Nets(MATERIAL).claim(*WHOLE).estimate.value == 1


@pytest.mark.parametrize("left_out", range(len(WHOLE)))
def test_a_claim_that_lacks_a_part_is_refused(left_out):
    parts = WHOLE[:left_out] + WHOLE[left_out + 1 :]
    with pytest.raises(FlatlasError, match=r"lacks a part.*criterion.*conventions"):
        Nets(MATERIAL).claim(*parts)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (None, "flat_fig1 returns a NoneType.*list of claims"),
        ([at_least(0)], "flat_fig1 .*with a Criterion.*list of claims"),
        ([Nets(MATERIAL).claim(*WHOLE)] * 2, "flat_fig1 returns 2 claims named 'name'"),
    ],
)
def test_claims_that_are_no_list_of_different_claims_are_refused(claims, said):
    with pytest.raises(FlatlasError, match=said):
        claims_table("flat_fig1", claims, judged=True)


def test_a_figure_without_its_drawing_is_refused_and_leaves_nothing(tmp_path):
    output = {kind: tmp_path / f"fig1.{kind}" for kind in ("pdf", "png", "csv")}
    with pytest.raises(FlatlasError, match=r"fig1\.csv returns NoneType.*return Drawing"):
        save(None, SimpleNamespace(**output))
    assert not [*tmp_path.iterdir()]


def test_a_table_that_the_figure_does_not_take_is_named_with_those_that_it_takes():
    said = r"no table 'trace_summary', only history, outcomes: .*measures"
    with pytest.raises(FlatlasError, match=said):
        MATERIAL.measured("trace_summary")


@pytest.mark.parametrize("returned", [None, pd.DataFrame({"weight_norm": [1.0]})])
def test_a_measure_that_returns_no_tables_by_name_is_named_with_its_file(returned):
    with pytest.raises(
        FlatlasError, match=rf"measures/norms\.py returns {type(returned).__name__}"
    ):
        checked("norms", returned)
