"""Claims of the study `false_friend`, where the preprint is right and where it is not."""

from functools import cache

import pytest
from false_friend_worlds import FIGURES, RIGHT, VGG, WRONG, world
from judging import (
    assert_all_come_out,
    assert_nothing_is_known,
    assert_numbers_decide_nothing,
    judged_figure,
)
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")


def judge(figure, material):
    return judged_figure("false_friend", figure, material)


@cache
def judged(right, figure):
    return judge(figure, world(right, figure))


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(("right", "verdict"), [(RIGHT, REPRODUCED), (WRONG, NOT_REPRODUCED)])
def test_every_claim_comes_out_as_the_world_is(figure, right, verdict):
    assert_all_come_out(judged(right, figure), verdict)


@pytest.mark.parametrize("figure", FIGURES)
def test_one_realization_has_numbers_and_decides_nothing(figure):
    assert_numbers_decide_nothing(judge(figure, world(RIGHT, figure, seeds=1)))


@pytest.mark.parametrize("figure", FIGURES)
def test_where_all_trainings_diverged_nothing_is_decided(figure):
    """A measure then writes a table without rows, and without columns of its own."""
    made = world(RIGHT, figure, seeds=2)
    own = {"sweep", "run", "seed", "at", "epoch", "penalty.coefficient", "data.classes"}
    tables = {
        name: table.iloc[:0][[column for column in table if column in own]]
        for name, table in made.tables.items()
        if "at" in table
    }
    lost = {"converged": False, "reason": "diverged", "met_epoch": 0}
    tables["outcomes"] = made.tables["outcomes"].assign(**lost)
    if "history" in made.tables:
        tables["history"] = made.tables["history"]
    assert_nothing_is_known(judge(figure, Material(tables)), judged(RIGHT, figure).keys())


def test_only_the_spectral_norm_waits_for_a_search():
    made = world(RIGHT, "fig3")
    norms = made.tables["norms_summary"].assign(spectral_norm_residual=1.0)
    claims = judge("fig3", Material({**made.tables, "norms_summary": norms}))
    lost = {name for name, claim in claims.items() if claim.verdict == UNDECIDED}
    assert lost == {name for name in claims if "spectral_norm" in name}


def test_along_training_the_searches_of_all_moments_count():
    made = world(RIGHT, "fig1")
    norms = made.tables["norms_summary"]
    lost = norms.assign(spectral_norm_residual=(norms["at"] != "final").astype(float))
    claims = judge("fig1", Material({**made.tables, "norms_summary": lost}))
    undecided = {name for name, claim in claims.items() if claim.verdict == UNDECIDED}
    assert undecided == {name for name in claims if "spectral_norm" in name}


def test_nothing_is_predicted_of_the_hessian_of_nets_that_misclassify():
    made = world(RIGHT, "fig2")
    rows = made.tables["scaling_summary"].assign(misclassified=0)
    bad = rows["seed"] == 0
    rows.loc[bad, "misclassified"] = 1
    rows.loc[bad, ["loss", "trace"]] *= 100
    claims = judge("fig2", Material({**made.tables, "scaling_summary": rows}))
    assert claims["mlp_trace_theory"].verdict == REPRODUCED
    assert claims["mlp_loss_theory"].verdict != REPRODUCED


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


def test_three_nets_in_a_realization_have_no_order_to_judge():
    assert {name.partition("_")[0] for name in judged(WRONG, "fig7")} == {"vgg"}


def test_an_accuracy_is_told_in_points_and_a_norm_in_parts():
    made = world(RIGHT, "fig3")
    rows = made.beside_history("norms_summary")
    rows = rows[rows["sweep"] == "mlp"].groupby("penalty.coefficient")
    strongest = max(one for one in rows.groups if one <= 5e-4)
    errors, traces = (rows[name].mean() for name in ("test_error", "trace"))
    claims = judged(RIGHT, "fig3")
    accuracy, trace = (claims[f"mlp_{name}_more"].estimate for name in ("accuracy", "trace"))
    assert accuracy.value == pytest.approx(errors[0.0] - errors[strongest])
    assert trace.value == pytest.approx(traces[strongest] / traces[0.0] - 1)


def test_three_strengths_of_l2_have_no_order_to_tell():
    made = world(RIGHT, "fig3")
    few = {
        name: table[~(table["penalty.coefficient"] > 5e-4)] if name != "history" else table
        for name, table in made.tables.items()
    }
    strengths = few["outcomes"]["penalty.coefficient"].nunique()
    rises = {name for name in judge("fig3", Material(few)) if name.endswith("_rises")}
    assert bool(rises) == (strengths >= 4)
