"""Claims of the study `atlas`: which there are, and what makes them undecided."""

import numpy as np
import pandas as pd
import pytest
from atlas_worlds import STEPS, world
from declared import RIGHT, WRONG
from judging import chosen, of_study, undecided
from scipy import stats

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED, Claim
from flatlas.claims.conventions import USEFUL
from flatlas.evidence.material import Material
from flatlas.statistics.estimate import Estimate
from flatlas.studies.atlas.quantities import MEASURES
from flatlas.studies.atlas.ranking import ASKED, on_ranks

pytestmark = pytest.mark.filterwarnings("error")
judge, judged, changed = of_study("atlas")
KINDS = {"fig1": "ranks", "fig2": "everywhere", "fig6": "right"}


@pytest.mark.parametrize(("figure", "claims"), [("fig1", 2), ("fig2", 3), ("fig6", 2)])
def test_each_measure_that_every_net_can_have_is_asked(figure, claims):
    asked = set(judged(RIGHT, figure)) - {"pca_flatness_rate"}
    assert {*MEASURES} - {*ASKED} == {"pca_flatness", "learning_coefficient"}
    assert len(asked) == claims * len(ASKED)
    assert {name for name in MEASURES if f"{name}_{KINDS[figure]}" in asked} == set(ASKED)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig3", "fig6"])
def test_searches_that_did_not_converge_decide_nothing(figure):
    tables = world(RIGHT, figure).tables
    lost = {name: table.assign(converged=name == "outcomes") for name, table in tables.items()}
    claims = judge(figure, Material(lost))
    lost = {name for name, claim in claims.items() if "did not converge" in claim.note}
    searched = {name for name, measure in MEASURES.items() if measure.searched}
    assert lost == {name for name in claims if name.rpartition("_")[0] in searched}
    assert all(claims[name].verdict == UNDECIDED for name in lost)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig6"])
def test_what_knows_test_images_says_so(figure):
    said = {name for name, claim in judged(RIGHT, figure).items() if "it knows" in claim.quantity}
    known = ("T_g", "T_w", "dual_gap", "prior")
    assert said == {name for name in judged(RIGHT, figure) if name.rpartition("_")[0] in known}


def test_what_no_scaling_can_change_is_no_claim():
    """tests/measures/test_survival.py shows that it changes nothing."""
    asked = judged(RIGHT, "fig3")
    assert not {"prior_layer", "prior_neurons", "kl_regret_neurons", "dual_gap_layer"} & set(asked)
    assert {"dual_gap_neurons", "sharpness_layer", "weight_norm_neurons"} <= set(asked)


@pytest.mark.parametrize("figure", ["fig1", "fig2", "fig6"])
def test_without_its_sweeps_a_figure_decides_nothing(figure):
    """A user's figure may name none of them."""
    few = chosen(world(RIGHT, figure), lambda table: table["sweep"] == "width")
    claims = judge(figure, few)
    assert claims.keys() == judged(RIGHT, figure).keys()
    others = {name: one for name, one in claims.items() if not name.endswith("_everywhere")}
    if figure != "fig6":
        assert {one.verdict for one in others.values()} == {UNDECIDED}
        assert {one.note for one in others.values()} == {"No interval, of 0 networks."}


def test_a_measure_that_was_not_taken_is_undecided_alone():
    found = undecided(changed("fig1", "sharpness_summary", sharpness=np.nan))
    measures = ("sharpness", "norm_sharpness")
    assert found == {f"{name}_{kind}" for name in measures for kind in ("ranks", "adds")}


def test_a_coefficient_is_kendalls_within_each_realization():
    tables = world(WRONG, "fig1").tables
    sharpness = tables["sharpness_summary"].query("sweep == 'crossed' and seed == 3")
    norms = tables["norms_summary"].query("sweep == 'crossed' and seed == 3")
    # Without ties all realizations count the same, and here their orders are the same.
    expected = stats.kendalltau(sharpness["sharpness"], norms["test_error"]).statistic
    found = judged(WRONG, "fig1")["sharpness_ranks"].estimate.value
    assert found == pytest.approx(expected, rel=1e-12)


def test_what_a_baseline_knows_is_not_added():
    """Given a weight norm that is the distance, the distance adds nothing."""
    claims = changed("fig1", "norms_summary", weight_norm=lambda norms: norms["distance"])
    assert claims["distance_ranks"].verdict == REPRODUCED
    assert claims["distance_adds"].verdict == UNDECIDED


def along(right, *axes, fewest=()):
    """A claim of figure 2 with these axes only; those in `fewest` have three values."""
    lost = [f"{axis}-{step}" for axis in fewest for step in range(3, STEPS)]
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


def test_a_claim_that_is_undecided_says_how_many_realizations_would_decide_it():
    """With that many realizations, Student's interval has shrunk until it excludes the bound."""
    nets = pd.DataFrame({"run": "a", "study": "made", "at": "met+0", "seed": range(5)})
    nets = nets.assign(sharpness=1.0, sharpness_settled=1.0)
    claim = on_ranks(Claim("c", "", "", USEFUL, Estimate(0.5, 0.2, 0.8)), "sharpness", nets)
    count = int(claim.would_decide.split()[1])
    spread = 0.3 / stats.t.ppf(0.975, 4) * np.sqrt(5)
    halves = [stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n) for n in (count - 1, count)]
    assert halves[0] >= 0.5 - USEFUL.low > halves[1]
