"""Three estimates of the same probability, as a measure."""

from dataclasses import replace
from math import log

import pytest
from solutions import make_solution

from flatlas.measures import measure, orthant
from flatlas.measures.gp_prior import measure_stack

SIZES = [1, 10, 40]


@pytest.fixture
def solution(monkeypatch):
    """The third image is equal to the first one."""
    monkeypatch.setattr(orthant, "SAMPLES", 20_000)
    made = make_solution("he", 1)
    made.inputs[0, 2] = made.inputs[0, 0]
    return made


def estimates(solution, *sizes, link="probit"):
    return measure("orthant", solution, {"link": link, "sizes": sizes})["summary"]


@pytest.mark.parametrize("link", ["heaviside", "probit"])
def test_the_estimates_agree(solution, link):
    table = estimates(solution, *SIZES, link=link)
    assert table["size"].tolist() == SIZES
    assert table["converged_ep"].all() and table["converged_tilting"].all()
    for row in table.itertuples():
        assert row.standard_error < 0.02
        slack = 4 * row.standard_error + 1e-9
        # A single sign is a coin toss, which EP and tilting know exactly.
        error = 1e-9 if row.size == 1 else 0.1
        assert row.log10_p_ep == pytest.approx(row.log10_p_tilting, abs=slack + error)
        if link == "probit":
            assert row.log10_p_variational <= row.log10_p_tilting + slack
    assert table["log10_p_ep"][0] == pytest.approx(-log(2) / log(10), rel=1e-9)
    assert table["converged_variational"].all() == (link == "probit")
    assert table["log10_p_variational"].isna().all() == (link == "heaviside")


def test_the_estimate_of_all_different_images_is_the_prior(solution):
    """`gp_prior` merges the equal images."""
    table = estimates(solution, 64, link="heaviside")
    [expected] = measure_stack([solution], {"link": "heaviside", "kernel": "arc_cosine"})
    assert table["log10_p_ep"].item() == pytest.approx(
        expected["summary"]["log10_p"].item(), rel=1e-9
    )


def test_few_images_are_from_both_s_and_e_and_drawn_by_the_seed(solution):
    others = [
        replace(solution, inputs=solution.inputs * 0.1),
        replace(solution, test_inputs=solution.test_inputs * 0.1),
        replace(solution, seed=5),
    ]
    values = [estimates(one, 20)["log10_p_ep"].item() for one in (solution, *others)]
    assert len(set(values)) == 4
