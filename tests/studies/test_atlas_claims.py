"""Claims of the study `atlas`: which there are, and what makes them undecided."""

from functools import partial

import judging
import pytest
from atlas_worlds import RIGHT, WRONG, world
from judging import chosen, with_columns
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.evidence.material import Material
from flatlas.studies.atlas.quantities import MEASURES

pytestmark = pytest.mark.filterwarnings("error")
judge = partial(judging.judge, "atlas")
judged = partial(judging.judged, "atlas")


@pytest.mark.parametrize(("figure", "claims"), [("fig1", 2), ("fig2", 1)])
def test_each_measure_is_asked(figure, claims):
    assert len(judged(RIGHT, figure)) == claims * len(MEASURES)


@pytest.mark.parametrize("figure", ["fig1", "fig3"])
def test_searches_that_did_not_converge_decide_nothing(figure):
    few = chosen(world(RIGHT, figure), lambda table: table["sweep"].isin(["batch", "survivors"]))
    lost = {name: table.assign(converged=name == "outcomes") for name, table in few.tables.items()}
    claims = judge(figure, Material(lost))
    lost = {name for name, claim in claims.items() if "did not converge" in claim.note}
    searched = {name for name, measure in MEASURES.items() if measure.searched}
    assert lost == {name for name in claims if name.rpartition("_")[0] in searched}
    assert all(claims[name].verdict == UNDECIDED for name in lost)


def test_what_knows_test_images_says_so():
    said = {name for name, claim in judged(RIGHT, "fig1").items() if "it knows" in claim.quantity}
    measures = ("T_g", "T_w", "dual_gap", "prior")
    assert said == {f"{name}_{kind}" for name in measures for kind in ("ranks", "adds")}


def test_what_no_scaling_can_change_is_no_claim():
    """tests/measures/test_survival.py shows that it changes nothing."""
    asked = judged(RIGHT, "fig3")
    assert not {"prior_layer", "prior_neurons", "kl_regret_neurons", "dual_gap_layer"} & set(asked)
    assert {"dual_gap_neurons", "sharpness_layer", "weight_norm_neurons"} <= set(asked)


def test_two_runs_decide_nothing():
    two = chosen(world(RIGHT, "fig1"), lambda table: table["run"].isin(["batch-0", "batch-1"]))
    for claim in judge("fig1", two).values():
        assert (claim.verdict, claim.note) == (UNDECIDED, "No interval, of 2 runs.")


def test_a_coefficient_is_kendalls_of_all_nets():
    tables = world(WRONG, "fig1").tables
    x, y = tables["sharpness_summary"]["sharpness"], tables["norms_summary"]["test_error"]
    claim = judged(WRONG, "fig1")["sharpness_ranks"]
    assert claim.estimate.value == pytest.approx(stats.kendalltau(x, y).statistic, rel=1e-12)


def test_what_a_baseline_knows_is_not_added():
    """Given a weight norm that is the distance, the distance adds nothing."""
    same = with_columns(
        world(RIGHT, "fig1"), "norms_summary", weight_norm=lambda norms: norms["distance"]
    )
    claims = judge("fig1", same)
    assert claims["distance_ranks"].verdict == REPRODUCED
    assert claims["distance_adds"].verdict == UNDECIDED


def along(right, *axes, fewest=()):
    """A claim of figure 2 with these axes only; those in `fewest` have three values."""
    lost = [f"{axis}-{step}" for axis in fewest for step in (3, 4, 5)]
    few = chosen(
        world(right, "fig2"), lambda table: table["sweep"].isin(axes) & ~table["run"].isin(lost)
    )
    return judge("fig2", few)["sharpness_everywhere"]


def test_whatever_is_varied_takes_every_axis_that_was():
    claim = along(RIGHT, "batch", "size", fewest=["size"])
    assert claim.verdict == UNDECIDED and claim.estimate.low > 0
    assert claim.note == "Too few values for an interval: data size."
    assert along(RIGHT, "batch", "size").verdict == REPRODUCED


def test_one_axis_is_enough_to_say_no():
    claim = along(WRONG, "batch", "size", fewest=["size"])
    assert claim.verdict == NOT_REPRODUCED and not claim.note


def test_three_optimizers_are_three_however_many_attack_sets_they_had():
    tables = world(RIGHT, "fig2").tables
    rows = {name: table[table["sweep"] == "optimizer"] for name, table in tables.items()}
    step = rows["outcomes"]["run"].str.split("-").str[1].astype(int).to_numpy()
    names = dict(zip(rows["outcomes"]["run"], zip(step % 3, step // 3, strict=True), strict=True))
    for name, table in rows.items():
        keys = table["run"].map(names).str
        rows[name] = table.assign(
            **{"optimizer.name": keys[0].astype(str), "data.attack_size": keys[1]}
        )
    claim = judge("fig2", Material(rows))["sharpness_everywhere"]
    assert claim.verdict == UNDECIDED and "optimizer" in claim.note
