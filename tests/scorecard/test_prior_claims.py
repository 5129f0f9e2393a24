"""Claims on correlations, in a world where the paper is right and in one where it is wrong."""

from functools import cache
from importlib import import_module
from math import isfinite, isnan

import numpy as np
import pytest
from prior_worlds import RIGHT, WRONG, world
from scipy import stats

from flatlas.scorecard.claims import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.scorecard.nets import Nets
from flatlas.store.material import Material

pytestmark = pytest.mark.filterwarnings("error")

OVERTRAINED = ["s11", "s12", "s13", "s14", "s15", "s16"]
JUDGED = [
    *("fig2", "fig3", "fig4", "s2", "s3", "s4", "s5", "s7"),
    *OVERTRAINED,
    *("s17", "s18", "s19"),
]


def judge(figure, material):
    claims = import_module(f"flatlas.scorecard.prior.{figure}").judge(material)
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names), "two claims of one name"
    return {claim.name: claim for claim in claims}


@cache
def judged(right, figure):
    return judge(figure, world(right, figure))


def verdicts(claims):
    return {name: claim.verdict for name, claim in claims.items()}


@pytest.mark.parametrize("figure", JUDGED)
def test_every_claim_is_reproduced_where_the_paper_is_right(figure):
    claims = judged(RIGHT, figure)
    assert verdicts(claims) == dict.fromkeys(claims, REPRODUCED)
    assert not any(claim.note for claim in claims.values())


@pytest.mark.parametrize("figure", JUDGED)
def test_no_claim_is_reproduced_where_the_paper_is_wrong(figure):
    claims = judged(WRONG, figure)
    assert verdicts(claims) == dict.fromkeys(claims, NOT_REPRODUCED)


@pytest.mark.parametrize("figure", set(JUDGED) - {"fig2", "s3"})
def test_one_realization_has_numbers_and_decides_nothing(figure):
    claims = judge(figure, without_sweep(world(RIGHT, figure, seeds=1), "boolean"))
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    for claim in claims.values():
        assert isfinite(claim.estimate.value)
        assert isnan(claim.estimate.low)


@pytest.mark.parametrize("figure", JUDGED)
def test_where_no_net_reached_zero_error_nothing_is_decided(figure):
    """A measure then writes a table without rows, and without columns of its own."""
    material = world(RIGHT, figure, seeds=2)
    standing = ["sweep", "run", "seed", "at", "epoch", "data.attack_size"]
    tables = {
        name: table.iloc[:0].reindex(columns=[one for one in standing if one in table])
        for name, table in material.tables.items()
    }
    outcomes = material.tables["outcomes"]
    tables["outcomes"] = outcomes.assign(converged=False, reason="epochs exhausted", met_epoch=0)
    claims = judge(figure, Material(tables))
    assert claims.keys() == judged(RIGHT, figure).keys()
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isnan(claim.estimate.value)
        assert claim.note


@pytest.mark.parametrize(
    ("figure", "sweep"), [("fig4", "adam"), ("s4", "sgd"), ("s18", "momentum"), ("s19", "sgd")]
)
def test_a_sweep_that_is_not_drawn_leaves_its_claims_undecided(figure, sweep):
    claims = judge(figure, without_sweep(world(RIGHT, figure), sweep))
    assert claims.keys() == judged(RIGHT, figure).keys()
    lost = {name for name, claim in claims.items() if claim.verdict == UNDECIDED}
    assert lost == {name for name in claims if sweep in name or name.startswith("tighter")}


def without_sweep(material, sweep):
    return Material(
        {name: table[table["sweep"] != sweep] for name, table in material.tables.items()}
    )


def test_a_quantity_is_read_at_the_moment_that_is_asked_for():
    """At the third of three moments after zero error; nothing was measured in the solutions."""
    material = world(RIGHT, "s11")
    nets = Nets(material, "sgd")
    rows = material.tables["later_sharpness_summary"]
    rows = rows[rows["at"] == "met+1000"].pivot(index="seed", columns="run", values="sharpness")
    found = nets.read("later_sharpness_summary", "sharpness", at="met+1000")
    np.testing.assert_array_equal(found, rows.to_numpy())
    assert np.isnan(nets.read("later_sharpness_summary", "sharpness")).all()


def test_coefficients_are_those_of_all_dots():
    material = world(RIGHT, "fig4")
    rows = material.tables["prior_summary"]
    rows = rows[rows["sweep"] == "adam"]
    claims = judged(RIGHT, "fig4")
    for kind, scipys in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        expected = scipys(rows["log10_p"], -rows["test_error"]).statistic
        assert claims[f"prior_adam_{kind}"].estimate.value == pytest.approx(expected, rel=1e-12)


def test_the_ends_are_those_of_each_realization():
    rows = world(RIGHT, "fig3").tables["prior_summary"]
    rows = rows[rows["sweep"] == "sgd"]
    lowest = rows.groupby("seed")["log10_p"].min().mean()
    claim = judged(RIGHT, "fig3")["lowest_log10_p"]
    assert claim.estimate.value == pytest.approx(lowest / -440 - 1, rel=1e-9)
    assert claim.paper == "−440"


def test_overtraining_is_judged_where_it_changes_most():
    """Only at the second of three moments the order of all nets is turned round."""
    material = world(RIGHT, "s11")
    rows = material.tables["later_sharpness_summary"]
    turned = rows["sharpness"].where(rows["at"] != "met+500", 1 / rows["sharpness"])
    told = {**material.tables, "later_sharpness_summary": rows.assign(sharpness=turned)}
    claims = judge("s11", Material(told))
    at_zero = material.tables["sharpness_summary"], material.tables["prior_summary"]
    rho = stats.spearmanr(at_zero[0]["sharpness"], at_zero[1]["test_error"]).statistic
    claim = claims["flatness_sgd_spearman"]
    assert claim.verdict == NOT_REPRODUCED
    assert claim.estimate.value == pytest.approx(-2 * rho, rel=1e-9)
    assert claims["prior_sgd_spearman"].verdict == REPRODUCED


def test_an_ascent_that_still_rises_has_not_converged():
    """In the wrong world it rises evenly: as much in the second half as in the first."""
    claim = judged(WRONG, "s5")["converged"]
    assert claim.estimate.value == pytest.approx(1, abs=1e-9)
    right = judged(RIGHT, "s5")["converged"]
    assert right.estimate.value == pytest.approx(np.exp(-50 / 8), rel=0.01)
