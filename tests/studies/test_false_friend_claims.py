"""Claims of the study `false_friend`: what they are made of, and what makes them undecided."""

import math

import pytest
from declared import RIGHT, WRONG
from false_friend_worlds import VGG, world
from judging import chosen, of_study
from scipy import stats

from flatlas.claims.claim import REPRODUCED, UNDECIDED

pytestmark = pytest.mark.filterwarnings("error")
judge, judged, _ = of_study("false_friend")


def test_nothing_is_predicted_of_the_hessian_of_nets_that_misclassify():
    rows = world(RIGHT, "fig2").tables["scaling_summary"].copy()
    bad = rows["seed"] == 0
    rows["misclassified"] = bad.astype(int)
    rows.loc[bad, ["loss", "trace"]] *= 100
    claims = judge("fig2", world(RIGHT, "fig2").with_table("scaling_summary", rows))
    assert claims["mlp_trace_theory"].verdict == REPRODUCED
    assert claims["mlp_loss_theory"].verdict != REPRODUCED


def test_further_realizations_of_one_way_to_train_do_not_count():
    def more_of_sgd(table):
        return (table["seed"] < 3) | (table["sweep"] == "vgg_sgd")

    made = world(WRONG, "fig5")
    claims = judge("fig5", chosen(made, more_of_sgd))
    assert claims == judge("fig5", chosen(made, lambda table: table["seed"] < 3))


def test_a_ratio_is_that_of_means():
    rows = world(RIGHT, "fig5").tables["norms_summary"].groupby("sweep")["trace"].mean()
    expected = rows["vgg_adamw_ia"] / rows["vgg_sgd"]
    assert judged(RIGHT, "fig5")["trace_times"].estimate.value == pytest.approx(expected)


def test_an_order_is_kendalls_in_each_realization():
    made = world(WRONG, "fig7")
    rows = made.beside_history("norms_summary")
    rows = rows[rows["sweep"].isin(VGG)].assign(product=rows["trace"] * rows["weight_norm"] ** 2)
    of_each = [
        stats.kendalltau(one["product"], one["test_error"]).statistic
        for _, one in rows.groupby("seed")
    ]
    claim = judged(WRONG, "fig7")["vgg_trace_orders"]
    assert claim.estimate.value == pytest.approx(sum(of_each) / len(of_each), rel=1e-12)


def test_further_realizations_of_one_vgg_sweep_do_not_count():
    def one_of_others(table):
        return (table["seed"] == 0) | (table["sweep"] == "vgg_sgd")

    def judged_vgg(which):
        claims = judge("fig7", chosen(world(WRONG, "fig7"), which))
        return {name: claim for name, claim in claims.items() if name.startswith("vgg")}

    assert judged_vgg(one_of_others) == judged_vgg(lambda table: table["seed"] == 0) != {}


def test_an_accuracy_changes_in_points_and_a_norm_in_parts():
    made = world(RIGHT, "fig3")
    rows = made.beside_history("norms_summary")
    rows = rows[rows["sweep"] == "mlp"].groupby("penalty.coefficient")
    strongest = max(one for one in rows.groups if one <= 5e-4)
    errors, traces = (rows[name].mean() for name in ("test_error", "trace"))
    claims = judged(RIGHT, "fig3")
    accuracy, trace = (claims[f"mlp_{name}_more"].estimate for name in ("accuracy", "trace"))
    assert accuracy.value == pytest.approx(errors[0.0] - errors[strongest])
    assert trace.value == pytest.approx(traces[strongest] / traces[0.0] - 1)


def judged_without_stronger(figure):
    """The claims where the preprint is right, without stronger L2."""
    few = chosen(world(RIGHT, figure), lambda table: ~(table["penalty.coefficient"] > 5e-4))
    return judge(figure, few)


@pytest.mark.parametrize(
    ("figure", "name"),
    [("fig1", "mlp_weights"), ("fig3", "mlp_trace_more"), ("fig6", "mlp_bulk_without_l2")],
)
def test_without_networks_without_l2_there_is_nothing_to_compare(figure, name):
    grid = chosen(world(RIGHT, figure), lambda table: table["penalty.coefficient"] != 0)
    claim = judge(figure, grid)[name]
    assert claim.verdict == UNDECIDED
    assert not math.isfinite(claim.estimate.value)


def test_three_strengths_of_l2_have_no_order():
    rises = {name for name in judged(RIGHT, "fig3") if name.endswith("_rises")}
    assert judged_without_stronger("fig3").keys() == judged(RIGHT, "fig3").keys() - rises
    assert rises


def test_three_nets_in_a_realization_have_no_order():
    assert {name.partition("_")[0] for name in judged_without_stronger("fig7")} == {"vgg"}
