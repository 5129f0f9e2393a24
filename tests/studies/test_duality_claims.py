"""Claims of the study `duality`: what they are made of, and what makes them undecided."""

from math import isnan

import numpy as np
import pandas as pd
import pytest
from declared import RIGHT
from duality_worlds import STUDY, world
from judging import chosen, figures_of, of_study, undecided, verdicts, with_columns

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.trust import range_of
from flatlas.errors import FlatlasError
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")

FIGURES = figures_of("duality")
DRAWN = [(figure, sweep) for figure in FIGURES for sweep in STUDY["figures"][figure]["sweeps"]]
# Some sweeps of these figures are part of pooled claims only.
POOLED = ("fig2", "s3", "s4")
judge, judged, changed = of_study("duality")


def left_open(claims):
    """The undecided claims, except how many trainings become solutions: so few do not decide it."""
    return {name for name in undecided(claims) if not name.endswith("_solved")}


def without(material, sweep, run=None, keep=0):
    """All but the first `keep` realizations of one run, or of a whole sweep, met no rule."""
    outcomes = material.tables["outcomes"]
    lost = (outcomes["seed"] >= keep) & (outcomes["sweep"] == sweep)
    if run is not None:
        lost &= outcomes["run"] == run
    return with_columns(material, "outcomes", converged=outcomes["converged"] & ~lost)


def runs_of(material, sweep):
    outcomes = material.tables["outcomes"]
    return list(outcomes.loc[outcomes["sweep"] == sweep, "run"].unique())


@pytest.mark.parametrize(("figure", "sweep"), DRAWN)
def test_a_sweep_that_is_not_drawn_leaves_its_claims_undecided(figure, sweep):
    """Its keys are missing too, if no other sweep varies them."""
    material = world(RIGHT, figure, seeds=3)
    tables = {}
    for name, table in material.tables.items():
        rest = table[table["sweep"] != sweep]
        tables[name] = rest if rest.empty else rest.dropna(axis="columns", how="all")
    claims = judge(figure, Material(tables))
    before = judged(RIGHT, figure, seeds=3)
    assert claims.keys() == before.keys()
    lost = left_open(claims)
    assert lost or figure in POOLED
    for name in lost:
        assert claims[name].note.startswith((f"Sweep '{sweep}' is not drawn.", "Solutions: 0 at 0"))


@pytest.mark.parametrize(
    ("figure", "sweep", "key", "prefix"),
    [
        ("fig4", "decay", "penalty.coefficient", "decay"),
        ("s10", "alpha_batch", "batch", ""),
        ("fig5", "learners", "learners.kind", ""),
    ],
)
def test_a_sweep_over_another_key_leaves_its_claims_undecided(figure, sweep, key, prefix):
    """The names of its claims begin with the prefix; all others stay as they are."""
    tables = {n: t.drop(columns=key) for n, t in world(RIGHT, figure).tables.items()}
    claims, before = judge(figure, Material(tables)), judged(RIGHT, figure)
    assert claims.keys() == before.keys()
    for name, claim in claims.items():
        if name.startswith(prefix):
            assert claim.note.startswith(f"Sweep '{sweep}' does not vary {key}.")
            assert claim.verdict == UNDECIDED
        else:
            assert claim == before[name]


@pytest.mark.parametrize("figure", FIGURES)
def test_what_was_measured_on_the_way_is_no_solution(figure):
    """A user may take a measure at more moments, but claims are about the last."""
    material = world(RIGHT, figure, seeds=3)
    tables = {}
    for name, table in material.tables.items():
        if figure == "fig6" or "at" not in table:
            tables[name] = table
            continue
        numbers = table.select_dtypes("float").columns.difference(["optimizer.lr", "scale"])
        early = table.assign(at="10", epoch=10, **{c: -table[c] for c in numbers})
        tables[name] = pd.concat([early, table], ignore_index=True)
    assert judge(figure, Material(tables)) == judged(RIGHT, figure, seeds=3)


def test_several_rows_for_one_net_are_an_error():
    material = world(RIGHT, "fig3", seeds=2)
    summary = material.tables["hidden_summary"]
    twice = pd.concat([summary, summary.iloc[:1]], ignore_index=True)
    with pytest.raises(FlatlasError, match=r"several rows .* same optimizer\.lr"):
        judge("fig3", material.with_table("hidden_summary", twice))


@pytest.mark.parametrize(("lost", "left"), [("ssgd", "dpsgd"), ("dpsgd", "ssgd")])
def test_a_kind_of_learners_that_diverged_keeps_its_claims(lost, left):
    material = world(RIGHT, "fig6", seeds=3)
    kind = "learners.kind"
    found = chosen(material, lambda table: table[kind] == left)
    outcomes = material.tables["outcomes"]
    ended = outcomes.assign(converged=outcomes[kind] != lost)
    claims = judge("fig6", found.with_table("outcomes", ended))
    assert claims.keys() == judged(RIGHT, "fig6", seeds=3).keys()
    assert set(verdicts(claims).values()) == {UNDECIDED}
    assert all(f"0 at {lost}" in claim.note for claim in claims.values())


def test_n_s_that_drifts_about_10_is_not_near_10():
    """It drifts from 4 to 16, so its mean over the sweep is 10."""
    material = world(RIGHT, "s8")
    rows = material.tables["hidden_summary"]
    drift = dict(zip(runs_of(material, "alpha"), np.linspace(4, 16, 5), strict=True))
    n_sharp = rows["run"].map(drift).fillna(rows["n_sharp"])
    claims = changed("s8", "hidden_summary", n_sharp=n_sharp)
    assert claims["alpha"].verdict == NOT_REPRODUCED
    assert claims["alpha"].estimate.value in (4, 16)
    assert claims["batch"].verdict == REPRODUCED


def test_one_half_decade_that_falls_is_not_all_flat_directions():
    """Half-decades end at n = 3, 10, 24 and 60; only the last one falls."""
    rows = world(RIGHT, "s15").tables["hidden_directions"]
    noise = rows["data.label_noise"].fillna(0)
    falls = (rows["sweep"] == "noise") & (rows["n"] > 24) & (noise == noise.max())
    sigma_g = rows["sigma_g"].where(~falls, 0.01 * rows["sigma_g"])
    claims = changed("s15", "hidden_directions", sigma_g=sigma_g)
    assert claims["noise_sharpness_flat"].verdict == NOT_REPRODUCED
    assert judged(RIGHT, "s15")["noise_sharpness_flat"].verdict == REPRODUCED


def test_without_right_labels_there_is_no_drop_to_compare_with():
    material = chosen(world(RIGHT, "s15"), lambda table: table["data.label_noise"] != 0)
    claims = judge("s15", material)
    assert claims["noise_drop"].verdict == UNDECIDED
    assert claims["noise_gap"].verdict == REPRODUCED


def test_the_shift_is_that_of_directions_alive_at_both_scales():
    """The flattest are dead at the smallest scale; a steep spectrum would seem to be shifted."""
    rows = world(RIGHT, "s5").tables["scaled_directions"]
    flat = rows["eigenvalue"] < rows["eigenvalue"].median()
    steep = rows["sigma_g"].where(~flat, 1e-3 * rows["sigma_g"])
    steep = steep.mask(flat & (rows["n"] > 35) & (rows["scale"] == rows["scale"].min()), 0.0)
    claim = changed("s5", "scaled_directions", sigma_g=steep)["shifted"]
    assert claim.verdict == REPRODUCED
    assert claim.estimate.value == pytest.approx(0, abs=1e-9)


def test_powers_of_the_scale_are_those_of_directions_with_curvature():
    """In the other directions the solver chooses the eigenvectors: σ_g may have any power."""
    rows = world(RIGHT, "rescaling").tables["rescaled_directions"]
    flat = rows["n"] > rows["n"].max() / 2
    curvature = rows["eigenvalue"].mask(flat, 0.0)
    sigma_g = rows["sigma_g"].where(~flat, rows["factor"] ** 0.5)
    claims = changed("rescaling", "rescaled_directions", eigenvalue=curvature, sigma_g=sigma_g)
    assert claims["sigma_g"].estimate.value == pytest.approx(-1, abs=1e-12)


def test_notes_name_pairs_of_learning_rate_and_batch_size():
    material = world(RIGHT, "s10")
    run = runs_of(material, "alpha_batch")[0]
    claims = judge("s10", without(material, "alpha_batch", run))
    assert claims["trend"].note == "Solutions: 0 at α = 0.02, B = 25, of 5."
    # 0.05 / 100 = 0.1 / 200
    assert "all such pairs (1)" in judged(RIGHT, "s10")["equal"].quantity


@pytest.mark.parametrize(
    ("figure", "sweep"),
    [
        (figure, sweep)
        for figure, sweep in DRAWN
        if len(STUDY["sweeps"][sweep].get("points", [0, 0])) > 1 and figure not in POOLED
    ],
)
def test_a_first_value_without_solutions_leaves_its_sweep_undecided(figure, sweep):
    """Other sweeps keep their verdicts, and the note says where solutions are missing."""
    material = world(RIGHT, figure, seeds=3)
    run = runs_of(material, sweep)[0]
    before = judged(RIGHT, figure, seeds=3)
    claims = judge(figure, without(material, sweep, run))
    lost = left_open(claims)
    assert lost
    kept = claims.keys() - lost
    assert verdicts({name: claims[name] for name in kept}) == {
        name: before[name].verdict for name in kept
    }
    for name in lost:
        assert claims[name].note.startswith("Solutions: 0 at ")


def test_claims_are_judged_at_the_values_with_solutions_if_there_are_three():
    """Whether all values have them is a question of its own."""
    material = world(RIGHT, "fig4")
    runs = runs_of(material, "init")
    lost = without(material, "init", runs[-1])
    claims = judge("fig4", lost)
    alone = judge("fig4", chosen(material, lambda table: table["run"] != runs[-1]))
    for name in ("init_sharpness", "init_size", "init_gap", "init_gap_flat"):
        assert claims[name].verdict == REPRODUCED
        assert claims[name].estimate == alone[name].estimate
        assert claims[name].note == "Solutions: 0 at 4.0, of 5. Judged at 1.0, 2.0, 3.0."
    assert (claims["init_solved"].estimate.value, claims["init_solved"].ours) == (0, True)
    two = judge("fig4", without(lost, "init", runs[1]))
    assert left_open(two) == {
        name for name in two if name.startswith("init") and name != "init_solved"
    }
    assert two["init_gap_flat"].note == "Solutions: 0 at 2.0, 0 at 4.0, of 5."


def test_whether_trainings_give_solutions_needs_none():
    """All trainings count: too few solutions for the other claims refute this one."""
    material = world(RIGHT, "fig4", seeds=12)
    assert judge("fig4", material)["init_solved"].verdict == REPRODUCED
    first, *others = runs_of(material, "init")
    material = without(material, "init", first, keep=2)
    for run in others:
        material = without(material, "init", run)
    solved = judge("fig4", material)["init_solved"]
    assert (solved.estimate.value, solved.verdict) == (0, NOT_REPRODUCED)


@pytest.mark.parametrize(
    ("figure", "sweep", "ends"),
    [
        ("fig3", "alpha", {"half"}),
        ("s13", "decay_time", {"time_size_saturates", "time_gap_saturates"}),
        (
            *("s14", "dropout"),
            {"dropout_sharpness_saturates", "dropout_minimum", "dropout_high"},
        ),
    ],
)
def test_claims_about_an_end_of_a_range_need_solutions_there_and_no_others_do(figure, sweep, ends):
    material = world(RIGHT, figure)
    claims = judge(figure, without(material, sweep, runs_of(material, sweep)[-1]))
    assert left_open(claims) == ends
    others = {name for name in claims.keys() - ends if not name.endswith("_solved")}
    assert {claims[name].verdict for name in others} == {REPRODUCED}


def test_a_value_with_too_few_solutions_counts_as_one_without():
    material = world(RIGHT, "fig4")
    last = runs_of(material, "init")[-1]
    few = judge("fig4", without(material, "init", last, keep=2))
    assert few["init_gap"].note == "Solutions: 2 at 4.0, of 5. Judged at 1.0, 2.0, 3.0."
    assert few["init_solved"].estimate.value == 2 / 5
    enough = judge("fig4", without(material, "init", last, keep=3))
    assert enough["init_gap"].verdict == REPRODUCED
    assert enough["init_gap"].note == f"Solutions: 3 at 4.0, of 5. {range_of(3)}"
    assert few["decay_gap"] == enough["decay_gap"] == judged(RIGHT, "fig4")["decay_gap"]


def test_numbers_of_trainings_that_met_no_rule_do_not_count():
    material = world(RIGHT, "fig3")
    run = runs_of(material, "alpha")[2]
    lost = without(material, "alpha", run, keep=4)
    rows = lost.tables["hidden_summary"]
    wild = rows["dual_gap"].mask((rows["run"] == run) & (rows["seed"] == 4), 1e9)
    assert judge("fig3", with_columns(lost, "hidden_summary", dual_gap=wild)) == judge("fig3", lost)


def test_nets_pooled_over_sweeps_count_once():
    """The base run is part of several sweeps; doubling all of its rows changes nothing."""
    material = world(RIGHT, "s4", seeds=3)
    tables = {}
    for name, table in material.tables.items():
        again = table[table["run"] == "alpha-4"].assign(sweep="batch")
        tables[name] = pd.concat([table, again], ignore_index=True)
    assert judge("s4", Material(tables)) == judged(RIGHT, "s4", seeds=3)


@pytest.mark.parametrize("figure", POOLED)
def test_further_realizations_of_one_run_do_not_count_where_nets_are_pooled(figure):
    material = world(RIGHT, figure, seeds=5)
    longer = runs_of(material, "decay")[-1]

    def first_three(table):
        return (table["seed"] < 3) | (table["run"] == longer)

    claims, three = judge(figure, chosen(material, first_three)), judged(RIGHT, figure, seeds=3)
    differing = {name for name in claims if claims[name] != three[name]}
    assert all(name.startswith("decay") for name in differing)


@pytest.mark.parametrize(("figure", "others"), [("fig2", ("noise", "dropout")), ("s4", ("noise",))])
def test_the_paper_s_sentences_are_about_the_sweeps_that_it_names(figure, others):
    """In all other sweeps everything is reversed: this changes only our own questions."""
    material = world(RIGHT, figure, seeds=3)
    for name, columns in {
        "hidden_summary": ["T_g", "test_error"], "hidden_directions": ["sigma_g"]
    }.items():  # fmt: skip
        if name in material.tables:
            table = material.tables[name]
            there = table["sweep"].isin(others)
            turned = {one: table[one].mask(there, 1 / table[one]) for one in columns}
            material = with_columns(material, name, **turned)
    claims, before = judge(figure, material), judged(RIGHT, figure, seeds=3)
    differing = {name for name in claims if claims[name] != before[name]}
    assert differing and all(claims[name].ours for name in differing)
    without_named = chosen(material, lambda table: table["sweep"].isin(others))
    lost = {name for name, claim in judge(figure, without_named).items() if not claim.ours}
    assert lost <= left_open(judge(figure, without_named))


def test_pooled_claims_say_how_many_trainings_gave_no_solution():
    material = world(RIGHT, "s4", seeds=5)
    run = runs_of(material, "init")[-1]
    claims = judge("s4", without(material, "init", run))
    trainings = len(material.trainings)
    named = trainings - 5 * len(runs_of(material, "noise"))
    for name, claim in claims.items():
        of = trainings if name.startswith("all_") else named
        assert claim.note == f"5 of {of} trainings gave no solution."
    assert set(verdicts(claims).values()) == {REPRODUCED}


def test_half_of_the_gap_is_that_of_the_default_learning_rate():
    material = world(RIGHT, "fig3")
    directions = material.tables["hidden_directions"]
    default = directions[(directions["sweep"] == "alpha") & (directions["optimizer.lr"] == 0.1)]
    expected = default.loc[default["n"] <= 10, "gap"].sum() / default["gap"].sum()
    assert judged(RIGHT, "fig3")["half"].estimate.value == pytest.approx(expected, rel=1e-12)


def test_equal_ratios_are_compared_only_where_there_are_some():
    claims = judge("s10", chosen(world(RIGHT, "s10"), lambda table: table["batch"] != 200))
    assert claims["trend"].verdict == REPRODUCED
    assert claims["equal"].verdict == UNDECIDED
    assert claims["equal"].note == "There is nothing to compare."


def test_a_checkpoint_after_the_end_is_no_moment_of_the_training():
    """Nets that end at epoch 500 keep their weights: the third checkpoint is the solution again."""
    material = world(RIGHT, "fig6")
    rows = material.tables["gradients_directions"]
    noise = rows["noise"].mask(rows["at"] == "1000", 1e9 * rows["n"])
    ended = with_columns(material, "outcomes", epoch=500)
    epoch = rows["epoch"].clip(upper=500)
    claims = judge("fig6", with_columns(ended, "gradients_directions", epoch=epoch, noise=noise))
    before = judged(RIGHT, "fig6")
    others = {name: claim.verdict for name, claim in claims.items() if not name.endswith("1000")}
    assert others == {name: before[name].verdict for name in others}
    assert isnan(claims["dpsgd_1000"].estimate.value)


def test_noise_on_the_way_needs_no_solution_in_the_end():
    """One net has its noise upside down, and met no rule: only its checkpoints count."""
    material = world(RIGHT, "fig6")
    run = runs_of(material, "learners")[0]
    rows = material.tables["gradients_directions"]
    odd = (rows["run"] == run) & (rows["seed"] == 4)
    noise = rows["noise"].mask(odd, 1 / rows["noise"])
    upside_down = with_columns(material, "gradients_directions", noise=noise)
    claims = judge("fig6", without(upside_down, "learners", run, keep=4))
    assert claims["ssgd_10"].estimate.value == pytest.approx((4 - 1) / 5)
    assert claims["ssgd_final"].estimate.value == pytest.approx(1)


def test_noises_are_compared_at_the_same_curvature():
    """Both follow √H, but H is three times smaller for DPSGD: at equal rank it has less noise."""
    rows = world(RIGHT, "fig6").tables["gradients_directions"]
    curvature = rows["eigenvalue"] / np.where(rows["learners.kind"] == "dpsgd", 3, 1)
    columns = {"eigenvalue": curvature, "noise": curvature**0.5}
    claims = changed("fig6", "gradients_directions", **columns)
    for name in ("above", "sharpest", "early"):
        assert claims[name].estimate.value == pytest.approx(0, abs=1e-9)


def test_dead_directions_do_not_count():
    """σ_g = 0 in the last third at one end of the sweep: no logarithm, no claim is lost."""
    rows = world(RIGHT, "fig3").tables["hidden_directions"]
    dead = (rows["n"] > 58) & (rows["run"] == "alpha-0")
    names = ["sigma_g", "sigma_w", "gap", "correlation", "eigenvalue"]
    claims = changed("fig3", "hidden_directions", **rows[names].mask(dead, 0.0))
    assert verdicts(claims) == dict.fromkeys(claims, REPRODUCED)
    assert np.isfinite([claim.estimate.value for claim in claims.values()]).all()
