"""Claims of the study `prior` about quantities along training (Figures 5, S6, S8, S9, S10)."""

from math import isfinite, isnan

import numpy as np
import pandas as pd
import pytest
from judging import of_study, with_columns
from prior_courses import SCALING, SWEEPS, world

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.nets import Nets
from flatlas.errors import FlatlasError
from flatlas.evidence.material import Material
from flatlas.studies.prior.course import Course, above_trend, approach, course
from flatlas.studies.prior.quantities import Quantity, plain
from flatlas.studies.prior.rescaled import fluctuation

pytestmark = pytest.mark.filterwarnings("error")
judge, judged, _ = of_study("prior")


def with_column(material, name, **columns):
    """Columns of a measure by functions of the epochs after zero error."""
    rows = material.tables[f"watched_{name}_summary"]
    since = rows["epoch"] - rows["seed"].map(
        material.tables["outcomes"].set_index("seed")["met_epoch"]
    )
    new = {column: of(rows.get(column), since) for column, of in columns.items()}
    return with_columns(material, f"watched_{name}_summary", **new)


@pytest.mark.parametrize("figure", ["fig5", "s6", "s9", "s10"])
def test_a_spike_that_stays_has_not_decayed(figure):
    def raised(high, low):
        return lambda old, since: np.where(since >= SCALING, high, low)

    spiked = with_column(world(True, figure), "corners", sharpness=raised(100.0, 1.0))
    norms = {"spectral_norm": raised(100.0, 1.0), "log10_product": raised(80.0, 0.0)}
    claims = judge(figure, with_column(spiked, "hessian", **norms))
    decaying = [name for name in claims if name.endswith(("relaxes", "rejoins"))]
    assert decaying
    for name in decaying:
        assert claims[name].verdict == NOT_REPRODUCED
        assert claims[name].estimate.value == pytest.approx(1)


@pytest.mark.parametrize("figure", SWEEPS)
def test_without_a_scaling_only_what_needs_none_is_judged(figure):
    material = world(True, figure, seeds=3)
    unscaled = {name: t.drop(columns="rescaling.after") for name, t in material.tables.items()}
    claims = judge(figure, Material(unscaled))
    known = {name for name, claim in claims.items() if isfinite(claim.estimate.value)}
    free = {"fig5": {"zero_error", "prior_before", "sharpness_before"}, "s8": {"none", "smaller"}}
    free["s10"] = {"spectral_norm_follows", "top_follows"}
    assert known == free.get(figure, set())


@pytest.mark.parametrize("figure", SWEEPS)
def test_claims_about_one_run_refuse_two(figure):
    """They would have judged the first by name."""
    one = world(True, figure, seeds=3).tables
    two = {name: pd.concat([table, table.assign(run="other")]) for name, table in one.items()}
    with pytest.raises(FlatlasError, match=f"'{SWEEPS[figure]}' has 2 runs"):
        judge(figure, Material(two))


def test_a_training_without_zero_error_counts_for_nothing():
    """Its checkpoints were measured, but do not count."""
    material = world(True, "fig5", seeds=4)
    outcomes = material.tables["outcomes"]
    unmet = {
        "converged": outcomes["seed"] < 3,
        "met_epoch": outcomes["met_epoch"] * (outcomes["seed"] < 3),
    }
    tables = {
        name: t[(t["seed"] < 3) | ~t["at"].str.startswith("met+")] if "at" in t else t
        for name, t in material.tables.items()
    }
    claims = judge("fig5", Material({**tables, "outcomes": outcomes.assign(**unmet)}))
    three = judged(True, "fig5", seeds=3)
    for name, claim in claims.items():
        assert claim.estimate.value == pytest.approx(three[name].estimate.value, rel=1e-12), name
        assert claim.note.startswith("1 of 4 trainings gave no solution.")


def test_without_a_spike_nothing_can_be_left_of_it():
    """A rise by a hundredth and then a large fall are no spike that decayed."""
    material, name = world(True, "s6", seeds=3), "watched_corners_summary"
    epoch = material.tables[name]["epoch"]
    sharpness = np.where(epoch > 138 + SCALING + 10, 0.1, 1 + 1e-4 * epoch)
    claims = judge("s6", with_columns(material, name, sharpness=sharpness))
    assert claims["sharpness_spikes"].verdict == NOT_REPRODUCED
    assert claims["sharpness_relaxes"].verdict == UNDECIDED
    assert isnan(claims["sharpness_relaxes"].estimate.low)


def test_moments_are_in_order_of_time_and_aligned_at_zero_error():
    """`met+10` comes before `met+2` in the alphabet. Epoch 40 is after zero error."""
    at = ["30", "5", "40", "met+10", "met+0", "met+2", "final"]
    rows = pd.DataFrame({"at": at, "value": [30.0, 5, 40, 110, 100, 102, 110]})
    rows = rows.assign(sweep="s", run="r", seed=0, converged=rows["at"] != "met+2")
    ended = {"sweep": "s", "run": "r", "seed": 0, "converged": True, "met_epoch": 35}
    outcomes = pd.DataFrame([ended | {"rescaling.after": 2}])
    nets = Nets(Material({"t_summary": rows, "outcomes": outcomes}), "s")
    quantity = Quantity("t", "t", "value", "", "", plain)
    found = course(nets, quantity)
    assert found.epochs.tolist() == [0, 2, 10]
    assert found.values.tolist() == [[100, 102, 110]]
    assert found.settled.values.tolist() == [[1, 0, 1]]
    assert (found.start, found.unscaled, found.scaled, found.end) == (100, 100, 102, 110)
    np.testing.assert_array_equal(approach(nets, quantity).values, [[5, 30, np.nan, 100]])


def test_a_course_fluctuates_as_far_as_it_is_from_its_neighbours():
    """Two decades above the middle of 10^3 and 10^1; steady rises, at any epochs, are smooth."""
    logs = np.array([[3, 4, 1, np.nan, 2], [0, 1, 2, 8, np.nan]])
    np.testing.assert_allclose(fluctuation(np.array([0, 5, 10, 40, 45]), logs), [2, 0], atol=1e-12)


@pytest.mark.parametrize("figure", ["fig5", "inverse", "s9"])
def test_a_jump_of_the_prior_that_stays_does_not_return(figure):
    """There are no errors at the jump, so they are not the reason for it."""
    moved = with_column(
        world(True, figure),
        "prior",
        log10_p=lambda old, since: np.where(since <= SCALING, old, -60),
        train_error=lambda old, since: np.where(since < 0, 0.1, 0.0),
    )
    claims = judge(figure, moved)
    names = claims.keys() & {"prior_returns", "prior_at_zero_error"}
    assert names
    for name in names:
        assert claims[name].verdict == NOT_REPRODUCED
        assert claims[name].estimate.value == pytest.approx(0.5, abs=0.05)


def test_the_trend_is_a_power_law_of_the_epoch():
    """A sharpness 7/epoch^1.5 before the scaling, 100 times that after it, 10 times at the end."""
    met, late = np.array([100, 150]), np.arange(100)
    outcomes = pd.DataFrame({"seed": [0, 1], "met_epoch": met, "converged": True})
    nets = Nets(Material({"outcomes": outcomes.assign(sweep="s", run="r")}), "s")
    factor = np.where(late < 50, 1.0, np.where(late < 90, 100.0, 10.0))
    logs = np.log10(factor * 7 * (met[:, np.newaxis] + late) ** -1.5)
    above = above_trend(nets, Course(late.astype(float), logs, 50.0, np.ones_like(logs)))
    np.testing.assert_allclose(above.before, 0, atol=1e-12)
    np.testing.assert_allclose(above.scaled, 2)
    np.testing.assert_allclose(above.end, 1)


def test_soon_is_within_50_epochs_of_the_scaling():
    epochs = np.array([0.0, 90, 100, 110, 140, 160, 900])
    values = np.arange(7.0)[np.newaxis]
    assert Course(epochs, values, 100.0, values).soon == [4]
    # Where the training ends before, the end; a scaling is no time after itself.
    assert Course(epochs[:4], values[:, :4], 100.0, values).soon == [3]
    assert np.isnan(Course(epochs[:3], values[:, :3], 100.0, values).soon)


def corners(log):
    """Sharpness: 1 before the scaling, then 10 to a power that depends on the epochs after it."""
    return "corners", {
        "sharpness": lambda _, since: 10.0 ** np.where(since < SCALING, 0, log(since - SCALING))
    }


def prior(change):
    """log10 P falls from -20 to -100 before zero error; a change depends on the same epochs."""
    return "prior", {
        "log10_p": lambda _, since: (
            -100 - 80 * np.clip(since, -120, 0) / 120 + change(since - SCALING)
        )
    }


def slow(late):
    return np.clip(1 - late / 100, 0, 1)


@pytest.mark.parametrize(
    ("trainings", "figure", "changed", "name", "value", "verdict"),
    [
        # From ten times the trend to half a decade below it: a share of -1/2 is left.
        (
            *("s6", "s6", corners(lambda late: np.where(late == 0, 1, -0.5))),
            *("sharpness_relaxes", -0.5, NOT_REPRODUCED),
        ),
        # Half of the spike, in logarithms, is left after 50 epochs, and nothing after 500.
        ("s9", "s6", corners(slow), "sharpness_relaxes", 0.5, NOT_REPRODUCED),
        ("s9", "s9", corners(slow), "rejoins", 0, REPRODUCED),
        # A change of log10 P counts in parts of the range that it went through.
        (
            *("s6", "s6", prior(lambda late: 12 * (late > 0))),
            *("prior_unchanged", 12 / 80, NOT_REPRODUCED),
        ),
        ("s9", "s9", prior(lambda late: late == 0), "prior_untouched", 1 / 80, REPRODUCED),
        (
            *("s9", "s9", prior(lambda late: 12 * (late == 0))),
            *("prior_untouched", 12 / 80, NOT_REPRODUCED),
        ),
    ],
)
def test_what_the_scaling_changes(trainings, figure, changed, name, value, verdict):
    measure, columns = changed
    made = with_column(world(True, trainings), measure, **columns)
    claims = judge(
        figure,
        Material({name: t.assign(sweep=SWEEPS[figure]) for name, t in made.tables.items()}),
    )
    assert claims[name].estimate.value == pytest.approx(value, abs=1e-9)
    assert claims[name].verdict == verdict


def test_claims_beyond_zero_error_do_not_rest_on_the_ascent():
    nothing = with_column(
        world(True, "fig5", seeds=3),
        "sharpness",
        sharpness=lambda old, since: old.where(since <= 0, 7.0),
        converged=lambda old, since: since <= 0,
    )
    claims, right = judge("fig5", nothing), judged(True, "fig5", seeds=3)
    for name, claim in claims.items():
        assert claim.estimate == right[name].estimate
        assert claim.verdict == right[name].verdict


@pytest.mark.parametrize(
    ("name", "since", "lost"),
    [
        ("prior", -2, set()),
        ("corners", SCALING, {"sharpness_spikes", "sharpness_relaxes"}),
        ("corners", SCALING - 2, {"sharpness_spikes", "sharpness_falls"}),
        ("corners", 0, {"sharpness_before", "sharpness_falls"}),
        ("prior", SCALING, {"prior_untouched"}),
        ("prior", 0, {"prior_before"}),
    ],
)
def test_a_claim_is_undecided_where_what_it_rests_on_did_not_converge(name, since, lost):
    """Some claims rest on this one moment, others hardly depend on it."""
    material = with_column(
        world(True, "fig5"), name, converged=lambda _, distance: distance != since
    )
    claims = judge("fig5", material)
    assert {one for one, claim in claims.items() if claim.verdict != REPRODUCED} == lost
    for one in lost:
        assert claims[one].verdict == UNDECIDED
        assert "measurements did not converge." in claims[one].note
