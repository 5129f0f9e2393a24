"""Claims of the study `prior` on correlations: what they are made of, what decides nothing."""

import numpy as np
import pytest
from declared import RIGHT, WRONG
from judging import chosen, figures_of, of_study, undecided, with_columns
from prior_courses import ALONG
from prior_worlds import STUDY, world
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material
from flatlas.studies.prior import systems

pytestmark = pytest.mark.filterwarnings("error")
judge, judged, changed = of_study("prior")


@pytest.mark.parametrize(
    ("figure", "sweep"),
    [("fig4", "adam"), ("s4", "sgd"), ("s17", "adam"), ("s18", "momentum"), ("s19", "sgd")],
)
def test_a_sweep_that_is_not_drawn_leaves_its_claims_undecided(figure, sweep):
    claims = judge(figure, chosen(world(RIGHT, figure), lambda table: table["sweep"] != sweep))
    assert claims.keys() == judged(RIGHT, figure).keys()
    about = {name for name in claims if sweep in name.replace("residual_adam", "")}
    assert undecided(claims) == about | {
        name for name in claims if name.startswith(("tighter", "better"))
    }


def test_a_quantity_is_read_at_the_moment_that_is_asked_for():
    """It is read at the third of three moments after zero error; solutions were not measured."""
    material = world(RIGHT, "s11")
    nets = Nets(material, "sgd")
    rows = material.tables["later_sharpness_summary"]
    rows = rows[rows["at"] == "met+1000"].pivot(index="seed", columns="run", values="sharpness")
    found = nets.read("later_sharpness_summary", "sharpness", at="met+1000")
    np.testing.assert_array_equal(found, rows.to_numpy())
    assert np.isnan(nets.read("later_sharpness_summary", "sharpness")).all()


def test_coefficients_are_means_of_those_of_each_realization():
    material = world(RIGHT, "fig4")
    rows = material.tables["prior_summary"]
    rows = rows[rows["sweep"] == "adam"]
    claims = judged(RIGHT, "fig4")
    for kind, scipys in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        each = [
            scipys(mine["log10_p"], -mine["test_error"]).statistic
            for _, mine in rows.groupby("seed")
        ]
        expected = np.mean(each)
        assert claims[f"prior_adam_{kind}"].estimate.value == pytest.approx(expected, rel=1e-12)


def test_the_ends_are_those_of_each_realization_on_the_authors_axes():
    rows = world(RIGHT, "fig3").tables["prior_summary"]
    rows = rows[rows["sweep"] == "sgd"].groupby("seed")
    claims = judged(RIGHT, "fig3")
    lowest = rows["log10_p"].min().mean()
    highest = 100 * (1 - rows["test_error"].min().mean())
    expected = {"lowest_log10_p": (lowest + 440) / 120, "highest_accuracy": (highest - 48) / 43}
    for name, value in expected.items():
        assert claims[name].estimate.value == pytest.approx(value, rel=1e-9)
    assert claims["lowest_log10_p"].paper == "−440 to −320"


def test_overtraining_is_judged_where_it_changes_most():
    """Only at the second of three moments is the order of all nets reversed."""
    claims = judge("s11", turned(world(RIGHT, "s11"), ["met+500"] * 5))
    sharp, prior = (
        rows[rows["seed"] == 0]
        for rows in (world(RIGHT, "s11").tables[f"{n}_summary"] for n in ("corners", "prior"))
    )
    rho = stats.spearmanr(sharp["sharpness"], prior["test_error"]).statistic
    claim = claims["flatness_sgd_spearman"]
    assert claim.verdict == NOT_REPRODUCED
    assert claim.estimate.value == pytest.approx(2 * rho, rel=1e-9)
    level = claims["level_sgd_spearman"]
    assert level.verdict == NOT_REPRODUCED
    assert level.estimate.value == pytest.approx(-rho, rel=1e-9)
    assert claims["prior_sgd_spearman"].verdict == REPRODUCED


def turned(material, moments):
    """Sharpness turned into its inverse, at one later moment of each realization."""
    rows = material.tables["later_corners_summary"]
    there = rows["at"] == rows["seed"].map(dict(enumerate(moments)))
    found = rows["sharpness"].where(~there, 1 / rows["sharpness"])
    return with_columns(material, "later_corners_summary", sharpness=found)


def test_looser_is_a_matter_of_size_not_of_sign():
    """Turned round, the flatness of SGD is as far from that of the prior as before."""
    claims = changed("fig4", "sharpness_summary", sharpness=lambda rows: 1 / rows["sharpness"])
    for kind in ("pearson", "spearman", "kendall"):
        name = f"scatter_sgd_{kind}"
        expected = judged(RIGHT, "fig4")[name].estimate
        assert claims[name].estimate.value == pytest.approx(expected.value, rel=1e-9)


def test_much_more_scattered_is_half_of_the_variance():
    """r² of SGD's flatness, over that of its prior."""
    tables = world(RIGHT, "fig3").tables
    prior, sharp = (tables[f"{name}_summary"] for name in ("prior", "sharpness"))
    prior, sharp = (rows[(rows["sweep"] == "sgd") & (rows["seed"] == 0)] for rows in (prior, sharp))
    flat = stats.pearsonr(np.log10(sharp["sharpness"]), prior["test_error"]).statistic
    tight = stats.pearsonr(prior["log10_p"], prior["test_error"]).statistic
    claims = judged(RIGHT, "fig3")
    assert claims["scatter_sgd_pearson"].estimate.value == pytest.approx((flat / tight) ** 2)
    tau, other = (
        stats.kendalltau(one, prior["test_error"]).statistic
        for one in (sharp["sharpness"], prior["log10_p"])
    )
    share = (np.sin(np.pi / 2 * tau) / np.sin(np.pi / 2 * other)) ** 2
    assert claims["scatter_sgd_kendall"].estimate.value == pytest.approx(share)


def test_the_first_order_part_and_the_remainder_are_judged_apart():
    """Where only the remainder follows generalization, only its claim is lost."""
    material = world(RIGHT, "fig4")
    prior = material.tables["prior_summary"].set_index(["run", "seed"])["log10_p"]
    rows = material.tables["corners_summary"]
    rest = 10 ** (-prior.loc[list(zip(rows["run"], rows["seed"], strict=True))] / 100).to_numpy()
    claims = changed("fig4", "corners_summary", rest=rest)
    assert claims["flatness_adam_pearson"].verdict == REPRODUCED
    assert claims["rest_flatness_adam_pearson"].verdict == NOT_REPRODUCED
    assert claims["first_order_adam"].estimate.value == pytest.approx(0.1)
    assert judged(WRONG, "fig4")["first_order_adam"].estimate.value == pytest.approx(0.97)


def test_products_of_50_and_of_10_eigenvalues_are_compared_by_their_geometric_means():
    material = world(RIGHT, "s15")
    for name in ("hessian_summary", "later_hessian_summary"):
        rows = material.tables[name]
        odd = rows["seed"] % 2 == 1
        fewer = {"log10_product": rows["log10_product"] / 5, "positive": 10}
        columns = {column: rows[column].where(odd, few) for column, few in fewer.items()}
        material = with_columns(material, name, **columns)
    claims = judge("s15", material)
    for name, claim in judged(RIGHT, "s15").items():
        assert claims[name].estimate.value == pytest.approx(claim.estimate.value, abs=1e-9)


@pytest.mark.parametrize(("lost", "verdict"), [(3, REPRODUCED), (4, UNDECIDED)])
def test_where_a_tenth_of_the_searches_did_not_converge_nothing_is_decided(lost, verdict):
    """Three of thirty are a tenth. Other claims are not affected."""
    rows = world(RIGHT, "fig4").tables["prior_summary"]
    adam = rows.index[rows["sweep"] == "adam"][:lost]
    unsettled = ~rows.index.isin(adam)
    claims = changed("fig4", "prior_summary", converged=unsettled)
    claim = claims["prior_adam_pearson"]
    assert claim.verdict == verdict
    assert claim.note == f"{lost} of 30 measurements did not converge."
    assert claims["prior_sgd_pearson"].verdict == REPRODUCED
    assert not claims["flatness_adam_pearson"].note


@pytest.mark.parametrize(("left", "verdict"), [(3, REPRODUCED), (2, UNDECIDED)])
def test_each_attack_size_needs_solutions_enough(left, verdict):
    material = world(RIGHT, "fig4")
    gone = {
        name: (rows["run"] == "adam-5") & (rows["seed"] >= left)
        for name, rows in material.tables.items()
    }
    tables = {name: rows[~gone[name]] for name, rows in material.tables.items()}
    outcomes = material.tables["outcomes"]
    tables["outcomes"] = outcomes.assign(converged=~gone["outcomes"])
    claims = judge("fig4", Material(tables))
    claim = claims["prior_adam_pearson"]
    assert claim.verdict == verdict
    assert claim.note.startswith(f"{5 - left} of 30 trainings gave no solution.")
    assert ("1 of 6 runs have fewer solutions than 3." in claim.note) == (left < 3)
    assert claims["prior_sgd_pearson"].verdict == REPRODUCED


def test_every_sweep_has_a_name_in_figures_and_in_claims():
    named = systems.OPTIMIZERS.keys() | systems.RATES.keys() | systems.SYSTEMS.keys()
    assert systems.CALLED.keys() == named
    assert systems.CALLED.keys() <= STUDY["sweeps"].keys()
    shown = {
        sweep
        for name in set(figures_of("prior")) - set(ALONG)
        for sweep in STUDY["figures"][name]["sweeps"]
    }
    assert shown <= systems.CALLED.keys()


def test_an_ascent_that_still_rises_has_not_converged():
    """In the wrong world it rises evenly: as much in the second half as in the first."""
    claim = judged(WRONG, "s5")["converged"]
    assert claim.estimate.value == pytest.approx(1, abs=1e-9)
    right = judged(RIGHT, "s5")["converged"]
    assert right.estimate.value == pytest.approx(np.exp(-50 / 8), rel=0.01)
