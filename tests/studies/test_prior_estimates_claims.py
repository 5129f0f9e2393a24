"""The claims of the figures that are not in the paper: how good its prior is, and by which link."""

import numpy as np
import pandas as pd
import pytest
from side_by_side import with_history

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import ZERO_ERROR
from flatlas.studies.prior import estimates, links

NETS = pd.DataFrame([{"run": run, "seed": seed} for run in "abc" for seed in range(5)])
SIZES = (25, 100)


def material(sweep, **tables):
    ended = NETS.assign(converged=True, met_epoch=140, epoch=140, reason="rule met")
    made = {name: table.assign(sweep=sweep) for name, table in tables.items()}
    return with_history(made | {"outcomes": ended.assign(sweep=sweep)})


def measured(errors, converged=True):
    """log10 P by EP is off by so much at 25 and at 100 points."""
    rows = [
        NETS.assign(
            at=ZERO_ERROR,
            size=size,
            log10_p_tilting=-size / 3.0,
            log10_p_ep=-size / 3.0 + error,
            converged_ep=converged,
            converged_tilting=True,
        )
        for size, error in zip(SIZES, errors, strict=True)
    ]
    return material("estimates", estimates_summary=pd.concat(rows))


@pytest.mark.parametrize(
    ("errors", "value", "verdict"),
    [((0.02, -0.03), 0.03, REPRODUCED), ((0.0, 0.2), 0.2, NOT_REPRODUCED)],
)
def test_ep_is_judged_at_the_size_with_the_largest_error(errors, value, verdict):
    [claim] = estimates.claims(measured(errors))
    assert claim.estimate.value == pytest.approx(value)
    assert claim.verdict == verdict


def test_searches_that_failed_decide_nothing():
    [claim] = estimates.claims(measured((0, 0), converged=False))
    assert claim.verdict == UNDECIDED
    assert claim.note == "30 of 30 measurements did not converge."


@pytest.mark.parametrize(("same", "verdict"), [(True, REPRODUCED), (False, NOT_REPRODUCED)])
def test_links_are_the_same_where_they_order_nets_in_the_same_way(same, verdict):
    probit = -300.0 - 10 * np.arange(len(NETS))
    hard = 2 * probit if same else probit * (-1) ** np.arange(len(NETS))
    tables = {
        f"{name}_summary": NETS.assign(at=ZERO_ERROR, log10_p=values, converged=True)
        for name, values in {"prior": probit, "heaviside": hard}.items()
    }
    claims = links.claims(material("sgd", **tables))
    assert {claim.verdict for claim in claims} == {verdict}
    assert [claim.name for claim in claims] == ["same_pearson", "same_spearman", "same_kendall"]
