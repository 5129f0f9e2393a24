"""Claims of every study, in made-up worlds where the texts are right, and where they are not."""

import re
from math import isfinite, isnan

import pandas as pd
import pytest
from declared import CONFIG
from judging import WORLDS, figures_of, judge, judged, undecided, verdicts, with_columns
from made_up import unsolved
from prior_courses import ALONG

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from flatlas.claims.trust import range_of
from flatlas.evidence.material import Material
from flatlas.statistics.more_realizations import resampled

pytestmark = pytest.mark.filterwarnings("error")
FIGURES = [(study, figure) for study in WORLDS for figure in figures_of(study)]
GALLERY = CONFIG.parent / "docs" / "gallery"
of_each_figure = pytest.mark.parametrize(("study", "figure"), FIGURES)
# In the wrong world nets forget, but no spike or jump decays.
EVEN_IF_WRONG = {
    "annealing": ("forgotten$", REPRODUCED),
    "prior": (".*(relaxes|rejoins|prior_returns|prior_at_zero_error)$", UNDECIDED),
}
# The note of three realizations, of which the study `annealing` has no more.
RANGE = range_of(3)
# Claims about a share of trainings: so few do not decide it, even if all agree.
SHARE = re.compile(".*_(phases|solved)$")
# Claims whose interval is over directions, by the beginnings of their names.
OF_DIRECTIONS = ("gamma", "inverse", "psi", "rises", "curvature", "spread", "product", "flatter")


def expected(claims, verdict):
    """The verdict, except about a share of trainings."""
    return {name: UNDECIDED if SHARE.match(name) else verdict for name in claims}


@of_each_figure
def test_every_claim_is_reproduced_where_the_text_is_right(study, figure):
    claims = judged(study, True, figure)
    assert verdicts(claims) == expected(claims, REPRODUCED)
    assert {claims[name].estimate.value for name in claims if SHARE.match(name)} <= {1}
    for claim in claims.values():
        few = study == "annealing" and claim.half_width is resampled
        assert claim.note == (RANGE if few else "")


@of_each_figure
def test_criteria_are_those_of_the_published_scorecards(study, figure):
    """They were fixed before the results: a change of one, or of its name, is a decision."""
    published = pd.read_csv(GALLERY / study / "scorecard.csv", index_col="claim")["criterion"]
    claims = judged(study, True, figure)
    ours = {f"{study}_{figure}.{name}": str(claim.criterion) for name, claim in claims.items()}
    known = published[published.index.str.startswith(f"{study}_{figure}.")]
    assert known.to_dict().items() <= ours.items()


@of_each_figure
def test_a_texts_number_is_in_the_unit_of_its_criterion(study, figure):
    """The explorer draws it beside ours."""
    for name, claim in judged(study, True, figure).items():
        if re.fullmatch(r"[-−]?[\d.]+", claim.paper):
            assert claim.criterion.holds(float(claim.paper.replace("−", "-"))), name


@of_each_figure
def test_no_claim_is_reproduced_where_the_text_is_wrong(study, figure):
    claims = judged(study, False, figure)
    names, verdict = EVEN_IF_WRONG.get(study, ("(?!)", ""))
    others = {name: verdict for name in claims if re.match(names, name)}
    assert verdicts(claims) == expected(claims, NOT_REPRODUCED) | others
    assert study == "annealing" or not any(
        claim.note for claim in claims.values() if claim.verdict != UNDECIDED
    )


# The sample of the atlas are runs, and that of the Boolean net its functions.
@pytest.mark.parametrize(
    ("study", "figure"),
    [
        one
        for one in FIGURES
        if one[0] != "atlas" and one not in (("prior", "fig2"), ("prior", "s3"))
    ],
)
def test_one_realization_has_numbers_and_decides_only_claims_over_its_directions(study, figure):
    made = WORLDS[study].world(True, figure, seeds=1)
    rows = {name: t[t["sweep"] != "boolean"] for name, t in made.tables.items()}
    for name, claim in judge(study, figure, Material(rows)).items():
        assert isfinite(claim.estimate.value)
        over_directions = study == "annealing" and name.startswith(OF_DIRECTIONS)
        assert claim.verdict == (REPRODUCED if over_directions else UNDECIDED), name
        assert isnan(claim.estimate.low) == isnan(claim.estimate.high) == (not over_directions)
        if over_directions:
            assert claim.note == "One realization: the interval is that of its directions."


@pytest.mark.parametrize("figure", figures_of("duality"))
def test_three_realizations_are_enough_and_a_note_says_what_their_interval_is(figure):
    # A mean lies between the least and the largest of n numbers with probability 1 − 2/2^n.
    assert "three quarters" in RANGE
    claims = judged("duality", True, figure, seeds=3)
    assert verdicts(claims) == expected(claims, REPRODUCED)
    for claim in claims.values():
        assert claim.note.endswith(RANGE) == (claim.half_width is resampled), claim.name


@pytest.mark.parametrize(
    ("study", "figure"),
    [
        *(("annealing", "s3"), ("duality", "fig7"), ("duality", "fig2"), ("duality", "s14")),
        *(("false_friend", "fig4"), ("mystery", "fig3"), ("prior", "fig3")),
    ],
)
def test_where_no_net_has_learnt_its_task_nothing_is_decided(study, figure):
    """The exception is whether trainings end: that is not about what they learnt."""
    made = WORLDS[study].world(True, figure)
    claims = judge(study, figure, with_columns(made, "history", test_error=0.65))
    claims.pop("dropout_solved", None)
    for claim in claims.values():
        assert claim.verdict == UNDECIDED, claim.name
        assert "65 %" in claim.note


@of_each_figure
def test_where_all_trainings_diverged_nothing_is_decided(study, figure):
    """A measure then writes a table without rows. Without strengths of L2 there is no order."""
    made = WORLDS[study].world(True, figure)
    history = {name: table for name, table in made.tables.items() if name == "history"}
    claims = judge(study, figure, Material({**unsolved(made).tables, **history}))
    before = judged(study, True, figure)
    orders = {name for name in before if study == "false_friend" and name.endswith("_rises")}
    assert claims.keys() == before.keys() - orders
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isnan(claim.estimate.value)
        assert claim.note


@pytest.mark.parametrize(
    ("study", "figure"),
    [("annealing", figure) for figure in figures_of("annealing") if figure not in ("fig4", "s3")]
    + [("prior", figure) for figure in ALONG],
)
def test_a_sweep_that_is_not_drawn_leaves_its_claims_undecided(study, figure):
    """Except in s3 of `annealing`, whose claims are one per run: without runs there are none."""
    made = WORLDS[study].world(True, figure)
    renamed = {name: table.assign(sweep="another") for name, table in made.tables.items()}
    claims = judge(study, figure, Material(renamed))
    assert claims
    assert verdicts(claims) == dict.fromkeys(claims, UNDECIDED)
    assert all("is not drawn" in claim.note for claim in claims.values())


@pytest.mark.parametrize(
    ("study", "figure", "table", "search", "lost"),
    [
        ("mystery", "fig3", "regret_kl_ball", {"converged": False}, "kl_|damped_"),
        (
            *("false_friend", "fig3", "norms_summary"),
            *({"spectral_norm_residual": 1.0}, ".*spectral_norm"),
        ),
        (
            *("false_friend", "fig1", "norms_summary"),
            {"spectral_norm_residual": lambda rows: (rows["at"] != "final").astype(float)},
            ".*spectral_norm",
        ),
        (
            *("annealing", "fig2", "valley_directions"),
            *({"converged": lambda rows: rows["rank"] % 5 > 0}, ""),
        ),
    ],
)
def test_claims_are_undecided_where_their_searches_did_not_converge(
    study, figure, table, search, lost
):
    made = WORLDS[study].world(True, figure)
    claims = judge(study, figure, with_columns(made, table, **search))
    assert undecided(claims) == {name for name in claims if re.match(lost, name)}
    for name in undecided(claims):
        assert "measurements did not converge" in claims[name].note
