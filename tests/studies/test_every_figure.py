"""Every figure can be drawn at every scale, whatever became of its trainings."""

from dataclasses import dataclass
from functools import cached_property

import made_up
import pandas as pd
import pytest
import yaml
from declared import CONFIG, STUDIES, figure_of
from pixels import in_pixels, laid_out_in_pixels

from flatlas.evidence.material import Material
from flatlas.plan.jobs import jobs_of
from flatlas.plan.resolve import resolve

# What a row of points is of, and of how many; the rest of it is measured.
LABELS = ["panel", "layer", "quantile", "measure", "baseline", "axis", "pairs", "runs", "values"]
# What becomes of the trainings of the first and of the last run of a figure.
SOME_LOST = (made_up.DIVERGED, made_up.EXHAUSTED)


@dataclass(frozen=True)
class Case:
    """A figure, its points and what is measured of them, from made-up tables."""

    name: str
    points: list
    measures: dict

    def material(self, realizations=2, first=None, last=None):
        """All trainings of the first run end so, and one of the last."""
        ends = {}
        if self.points and first:
            ends |= {(self.points[0]["run"], seed): first for seed in range(realizations)}
        if self.points and last:
            ends[self.points[-1]["run"], 0] = last
        return made_up.material(
            self.study, self.points, self.measures, realizations, directions=40, ends=ends
        )

    @property
    def study(self):
        (study,) = [name for name in STUDIES if self.name.startswith(f"{name}_")]
        return study

    def draw(self, material):
        return figure_of(self.study, self.name.removeprefix(f"{self.study}_")).draw(material)

    @cached_property
    def whole(self):
        """The tables of two realizations that all met their rule."""
        return self.material()

    @cached_property
    def drawn(self):
        """The drawing of these, which several tests look at."""
        return self.draw(self.whole)


def figures(preset):
    """Every figure of every study with its points and what is measured of them."""
    user = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"preset": preset}
    plan = resolve(user, CONFIG)
    jobs = jobs_of(plan)
    for target, figure in plan.figures.items():
        named = {name: one for e in figure.entries for name, one in e.measurements.items()}
        measures = {name: plan.measurements[one].options.measure for name, one in named.items()}
        points = [
            {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
            for one in jobs[target].spec["points"]
        ]
        yield target, points, measures


CASES = {
    preset: [Case(name, points, measures) for name, points, measures in figures(preset)]
    for preset in ("demo", "paper")
}


def of_each(cases):
    """By figure, so that one worker has all that looks at its drawing."""
    ids = [case.name for case in cases]
    return pytest.mark.parametrize("case", cases, ids=ids, scope="module")


def assert_drawn(drawing, name):
    assert len(drawing.points)
    # The demo's axes have two values each: no interval, and nothing given the baselines.
    few = name == "atlas_fig2"
    points = drawing.points.filter(regex="^plain_tau$|^[^_]*$") if few else drawing.points
    assert not points.isna().all().any(), "a column without anything in it"
    assert all(ax.has_data() for ax in drawing.figure.axes)


@of_each(CASES["demo"])
def test_a_figure_of_the_demo_is_drawn_and_its_points_are_in_its_table(case):
    assert_drawn(case.drawn, case.name)


@of_each(CASES["paper"])
def test_a_figure_of_the_paper_is_drawn_and_its_points_are_in_its_table(case):
    """Once alone, so nothing of it is kept."""
    assert_drawn(case.draw(case.material()), case.name)


@of_each(CASES["demo"])
def test_a_figure_is_drawn_of_one_realization(case):
    assert len(case.draw(case.material(realizations=1)).points)


@of_each(CASES["demo"])
def test_a_figure_is_drawn_whatever_became_of_its_trainings(case):
    drawing = case.draw(case.material(2, *SOME_LOST))
    in_pixels(drawing.figure)
    assert list(drawing.points) == list(case.drawn.points), "its table keeps its columns"


@of_each([case for case in CASES["demo"] if case.points])
def test_a_figure_of_nothing_but_diverged_trainings_is_empty_not_an_error(case):
    # As measures leave them: without a row, but with all columns.
    empty = {
        table: rows.assign(converged=False) if table == "outcomes" else rows.iloc[:0]
        for table, rows in case.whole.tables.items()
        if not table.endswith("_cost")
    }
    drawing = case.draw(Material(empty))
    laid_out_in_pixels(drawing.figure)
    measured = drawing.points.drop(columns=LABELS, errors="ignore")
    assert measured.dropna(how="all").empty


@of_each(
    [
        case
        for case in CASES["demo"]
        if case.name in ("duality_fig2", "duality_s4", "duality_s8", "prior_fig3")
    ]
)
def test_the_same_tables_make_the_same_points(case):
    pd.testing.assert_frame_equal(case.draw(case.material()).points, case.drawn.points)


@of_each([case for case in CASES["demo"] if len({p["sweep"] for p in case.points}) > 1])
def test_a_figure_is_drawn_without_a_sweep_that_a_user_left_out(case):
    left = [point for point in case.points if point["sweep"] != case.points[0]["sweep"]]
    varied = {key for point in left for key, value in point.items() if value is not None}
    left = [{key: one for key, one in point.items() if key in varied} for point in left]
    less = Case(case.name, left, case.measures)
    assert len(less.drawn.points)
