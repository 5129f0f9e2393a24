"""Claims of three studies, in made-up worlds where the texts are right, and where they are not."""

from functools import cache

import atlas_worlds
import false_friend_worlds
import mystery_worlds
import pytest
from judging import (
    assert_all_come_out,
    assert_nothing_is_known,
    assert_numbers_decide_nothing,
    judged_figure,
)

from flatlas.claims.claim import NOT_REPRODUCED, REPRODUCED
from flatlas.evidence.material import Material

pytestmark = pytest.mark.filterwarnings("error")
WORLDS = {"false_friend": false_friend_worlds, "mystery": mystery_worlds, "atlas": atlas_worlds}
FIGURES = [(study, figure) for study, worlds in WORLDS.items() for figure in worlds.FIGURES]
of_each_figure = pytest.mark.parametrize(("study", "figure"), FIGURES)


@cache
def judged(study, figure, right):
    return judged_figure(study, figure, WORLDS[study].world(right, figure))


@of_each_figure
@pytest.mark.parametrize(("right", "verdict"), [(True, REPRODUCED), (False, NOT_REPRODUCED)])
def test_every_claim_comes_out_as_the_world_is(study, figure, right, verdict):
    assert_all_come_out(judged(study, figure, right), verdict)


# The sample of the atlas are runs, not realizations.
@pytest.mark.parametrize(("study", "figure"), [one for one in FIGURES if one[0] != "atlas"])
def test_one_realization_has_numbers_and_decides_nothing(study, figure):
    few = WORLDS[study].world(True, figure, seeds=1)
    assert_numbers_decide_nothing(judged_figure(study, figure, few))


@of_each_figure
def test_where_all_trainings_diverged_nothing_is_decided(study, figure):
    """A measure then writes a table without rows. Without strengths of L2 there is no order."""
    made = WORLDS[study].world(True, figure)
    lost = {"converged": False, "reason": "diverged", "met_epoch": 0}
    tables = {name: table.iloc[:0] for name, table in made.tables.items() if name != "history"}
    tables["outcomes"] = made.tables["outcomes"].assign(**lost)
    claims = judged_figure(study, figure, Material({**made.tables, **tables}))
    known = {name for name in judged(study, figure, True) if not name.endswith("_rises")}
    assert_nothing_is_known(claims, known)
    assert all(claim.note for claim in claims.values())
