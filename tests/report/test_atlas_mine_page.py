"""The page of the user's networks in the atlas: what was compared, and what was not and why."""

from math import nan

import pandas as pd
import pytest
from reading import Page

from flatlas.report.atlas_mine import AtlasMine, atlas_mine_page

ROWS = [
    ("a", "trace", 12.5, 0.7, True, 25.0, 40, ""),
    ("b", "trace", 3.0, nan, False, 5.0, 40, ""),
    ("a", "prior", nan, nan, True, nan, 0, "it can't be taken"),
    ("b", "prior", 77.0, nan, True, nan, 0, "other options: box 2 instead of 1"),
]
NAMES = ["net", "measure", "value", "error", "converged", "percentile", "networks", "why"]


@pytest.fixture
def page(tmp_path):
    (tmp_path / "place.png").touch()

    def made(rows=ROWS, doubts=()):
        page = AtlasMine(
            shows="Data: pictures.",
            images="500 images.",
            rows=pd.DataFrame(rows, columns=NAMES),
            doubts=doubts,
            labels={"trace": "trace of the Hessian", "prior": "improbability"},
            picture=tmp_path / "place.png",
            caption="A star.",
        )
        return Page(atlas_mine_page(page))

    return made


def test_each_measure_has_the_value_and_percentile_of_each_network(page):
    compared, _ = page().tables
    assert compared[0] == ["measure", "a", "b", "compared with"]
    (line,) = compared[1:]
    assert "12.5 ± 0.7" in line[1] and "(25 %)" in line[1]
    assert "(5 %)" in line[2] and "did not converge" in line[2]
    assert line[3] == "40 networks"


@pytest.mark.parametrize(
    ("percentile", "said"),
    [
        (0.0, "below the atlas"),
        (0.2, "below 1 %"),
        (99.8, "above 99 %"),
        (100.0, "above the atlas"),
    ],
)
def test_a_value_is_below_or_above_the_atlas_only_if_it_is_outside(page, percentile, said):
    compared, _ = page([("a", "trace", 12.5, 1e-15, True, percentile, 40, "")]).tables
    assert compared[1][1].split() == f"12.5 ({said})".split()


def test_what_was_not_compared_is_listed_with_its_reason(page):
    _, listed = page().tables
    assert [line[1:] for line in listed[1:]] == [
        ["a", "—", "it can't be taken"],
        ["b", "77", "other options: box 2 instead of 1"],
    ]


def test_without_any_solution_the_page_says_which_were_left_out(page):
    read = page(rows=[], doubts=["a, near chance"])
    assert "near chance" in read.text and "Nothing could be compared" in read.text
