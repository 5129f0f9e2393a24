"""A column is declared with its type and its meaning, and tables have the declared columns."""

from pathlib import Path

import pandas as pd
import pytest

from flatlas.claims.claim import claims_table, not_run
from flatlas.claims.comparison import compare
from flatlas.data.targets import most_frequent
from flatlas.errors import FlatlasError
from flatlas.plan.columns import columns
from flatlas.plan.data_specs import FunctionsSpec
from flatlas.plan.tables import CLAIMS, COMPARISON, COSTS, COSTS_BY_MEASURE, FUNCTIONS, GALLERY
from flatlas.report.costs import cost_of_measures, cost_of_targets, needed_jobs
from flatlas.report.estimates import JobCost

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (float, r"'trace' has no meaning.*trace=\(float, "),
        ((float,), "'trace' has no meaning"),
        ((float, ""), "'trace' has no meaning"),
        ((list, "the sum of all λ"), "'trace' is of type list. Allowed: float, int"),
        ((float, "the sum of all λ", "nats"), "unit of 'trace' is 'nats'. Allowed: %, nat,"),
    ],
)
def test_a_column_without_a_meaning_or_of_an_unknown_type_or_unit_is_refused(declared, said):
    with pytest.raises(FlatlasError, match=said):
        columns(trace=declared)


def test_claims_and_their_comparison_have_the_declared_columns():
    claims = claims_table("flat_fig1", [], judged=True)
    assert [*claims] == [*not_run("flat_fig1", "T")] == [*CLAIMS]
    assert [*compare(claims, claims)] == [*COMPARISON]


@pytest.mark.parametrize("scorecard", sorted((DOCS / "gallery").glob("*/scorecard.csv")), ids=str)
def test_the_scorecard_of_a_gallery_has_the_declared_columns(scorecard):
    assert [*pd.read_csv(scorecard)] == [*GALLERY]


def test_costs_have_the_declared_columns():
    needed = needed_jobs({"run": JobCost("train", "dense30", 1.0, 2.0, 5.0)}, {"a": ["run"]}, [])
    assert [*cost_of_targets(needed)] == [*COSTS]
    assert [*cost_of_measures(needed)] == [*COSTS_BY_MEASURE]


def test_functions_have_the_declared_columns():
    spec = FunctionsSpec.model_construct(count=1, draws=4)
    assert [*most_frequent({b"\x0f": 3}, spec)] == [*FUNCTIONS]
