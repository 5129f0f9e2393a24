"""Every figure can be drawn at every scale, however its trainings ended."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property

import made_up
import numpy as np
import pandas as pd
import pytest
from declared import STUDIES, claiming, declared, figure_of, module_of
from matplotlib import pyplot
from matplotlib.text import Text
from pixels import in_pixels, laid_out_in_pixels
from shipped import shipped, shipped_jobs

from flatlas.errors import FlatlasError
from flatlas.evidence.material import Material
from flatlas.plan.measure_specs import MEASURES
from flatlas.plan.points import LACKS
from flatlas.plan.tables import HISTORY, OUTCOMES, PLACE, POINTS
from flatlas.plotting.style import FORMULA, empty_panels

# What a row of points is of, and of how many; the rest of it is measured.
LABELS = ["panel", "layer", "quantile", "measure", "baseline", "axis", "pairs", "runs", "values"]
LABELS += ["environment", "count"]
# What a point has if its sweep varies nothing.
UNVARIED = {"sweep", "run", "of", LACKS}
# Each fails in its own way on axes that need numbers.
WITHOUT_NUMBERS = (
    *("annealing_fig2", "annealing_fig4", "annealing_s2", "duality_fig3", "duality_s2"),
    *("duality_s3", "duality_s10", "duality_rescaling", "duality_convolution"),
    *("false_friend_fig2", "false_friend_fig6", "mystery_fig2"),
)
# Each draws or resamples in its own way.
REPEATED = ("duality_fig2", "duality_s4", "duality_s8", "prior_fig3")


@dataclass(frozen=True)
class Case:
    """A figure and its nets: each a point of a sweep, with the measures taken there."""

    name: str
    nets: list

    @property
    def declared_as(self):
        """The study, and the name in it."""
        (study,) = [name for name in STUDIES if self.name.startswith(f"{name}_")]
        return study, self.name.removeprefix(f"{study}_")

    @property
    def kind(self):
        """The code that draws the figure, and the measures that it draws."""
        study, name = self.declared_as
        measures = frozenset(one for _, measures in self.nets for one in measures)
        return study, module_of(study, name), measures

    @property
    def keys(self):
        """What its sweeps vary."""
        return frozenset(key for point, _ in self.nets for key in point)

    @property
    def look(self):
        """Its code, what its sweeps vary, its nets, and the moments at which they are measured."""
        moments = [len(one.at) for _, measures in self.nets for one in measures.values()]
        return self.kind, self.keys, len(self.nets), sum(moments)

    def draw(self, material=None, **changes):
        """The figure of a material, or of made-up trainings that end in some way."""
        return figure_of(*self.declared_as).draw(material or made_up.material(self.nets, **changes))

    @cached_property
    def whole(self):
        """The tables of two realizations that all met their rule."""
        return made_up.material(self.nets)

    @cached_property
    def drawn(self):
        """The figure of these, which several tests look at."""
        return self.draw(self.whole)


def figures(preset):
    """Every figure of every study."""
    plan, jobs = shipped(preset), shipped_jobs(preset)
    for target, figure in plan.figures.items():
        nets = []
        for entry, settings in zip(figure.entries, jobs[target].spec["points"], strict=True):
            point = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
            measures = {
                name: plan.measurements[one].options for name, one in entry.measurements.items()
            }
            nets.append((point, measures))
        yield Case(target, nets)


CASES = list(figures("demo"))
# A schematic has no nets: it is the same at every scale and of any realizations.
OF_NETS = [case for case in CASES if case.nets]

# Of figures of one kind, the first of the most nets; and of one kind that vary the same.
BY_NETS = sorted(OF_NETS, key=lambda case: len(case.nets), reverse=True)
KINDS = [*{case.kind: case for case in reversed(BY_NETS)}.values()]
KEYS = [*{(case.kind, case.keys): case for case in reversed(BY_NETS)}.values()]


def of_each(cases):
    """By figure, so that one worker has all that looks at its drawing."""
    ids = [case.name for case in cases]
    return pytest.mark.parametrize("case", cases, ids=ids, scope="module")


def assert_drawn(drawing, name):
    assert len(drawing.points)
    # Two realizations have no interval, and show no change of the gap; two values leave nothing
    # given the baselines.
    few = name in ("atlas_fig1", "atlas_fig2", "atlas_fig6")
    unknown = drawing.points.filter(regex="low$|high$|^given|^right$")
    shown = drawing.points.drop(columns=unknown) if few else drawing.points
    assert not shown.isna().all().any(), "a column without anything in it"
    assert not empty_panels(drawing.figure)


@of_each(CASES)
def test_a_figure_of_the_demo_is_drawn_and_its_points_are_in_its_table(case):
    assert_drawn(case.drawn, case.name)


@of_each(CASES)
def test_negative_numbers_in_a_figure_have_a_minus_sign(case):
    """A formula sets its own."""
    texts = [FORMULA.sub("", text.get_text()) for text in case.drawn.figure.findobj(Text)]
    assert not [text for text in texts if re.search(r"(?<![\w.-])-[\d.]", text)]


@of_each([case for case in CASES if case.name.startswith("atlas_")])
def test_small_print_explains_daggers_where_there_are_some(case):
    texts = [text.get_text() for text in case.drawn.figure.findobj(Text)]
    labelled, explained = (any(re.search(one, text) for text in texts) for one in ("†(?!:)", "†:"))
    assert labelled == explained


@cache
def of_paper():
    """The figures of the paper by name. Only its tests wait for its plan."""
    return {case.name: case for case in figures("paper")}


@pytest.mark.parametrize("study", sorted({case.declared_as[0] for case in CASES}))
def test_figures_of_the_paper_are_drawn_and_their_points_are_in_their_tables(study):
    """Those that look as the demo's are drawn above."""
    demo = [case for case in CASES if case.declared_as[0] == study]
    pairs = [(case, of_paper()[case.name]) for case in demo]
    others = [paper for case, paper in pairs if paper.look != case.look]
    assert others
    for paper in others:
        assert_drawn(paper.draw(), paper.name)
        pyplot.close("all")


def test_the_paper_has_the_figures_of_the_demo():
    assert of_paper().keys() == {case.name for case in CASES}


@of_each(KINDS)
def test_a_figure_is_drawn_of_one_realization(case):
    assert len(case.draw(realizations=1).points)


@of_each(KINDS)
def test_a_figure_is_drawn_however_its_trainings_ended(case):
    """All trainings of the first run diverged, and one of the last met no rule."""
    first, last = (case.nets[place][0]["run"] for place in (0, -1))
    ends = {(first, seed): made_up.DIVERGED for seed in range(2)}
    drawing = case.draw(ends=ends | {(last, 0): made_up.EXHAUSTED})
    in_pixels(drawing.figure)
    assert list(drawing.points) == list(case.drawn.points), "its table keeps its columns"


@of_each(KINDS)
def test_a_figure_of_nothing_but_diverged_trainings_is_empty_not_an_error(case):
    drawing = case.draw(made_up.unsolved(case.whole))
    laid_out_in_pixels(drawing.figure)
    measured = drawing.points.drop(columns=LABELS, errors="ignore")
    assert measured.dropna(how="all").empty


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:.*:UserWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@of_each([case for case in CASES if case.name in WITHOUT_NUMBERS])
def test_a_figure_is_drawn_of_measures_without_a_number(case, value, monkeypatch):
    """All numbers are NaN or infinite, as if the nets had nearly diverged."""
    drawn = made_up.drawn

    def without_a_number(rng, column, kind, count):
        return [value] * count if kind is float else drawn(rng, column, kind, count)

    monkeypatch.setattr(made_up, "drawn", without_a_number)
    laid_out_in_pixels(case.draw().figure)


@of_each([case for case in CASES if case.name in REPEATED])
def test_the_same_tables_make_the_same_points(case):
    pd.testing.assert_frame_equal(case.draw().points, case.drawn.points)


@of_each([case for case in CASES if case.name.startswith("mystery_")])
def test_a_figure_of_mystery_is_of_zero_error_whenever_else_was_measured(case):
    later = {
        name: pd.concat([rows, rows.assign(at="met+9")]) if "at" in rows else rows
        for name, rows in case.whole.tables.items()
    }
    pd.testing.assert_frame_equal(case.draw(Material(later)).points, case.drawn.points)


@of_each([case for case in KEYS if any({*p} - UNVARIED for p, _ in case.nets)])
def test_a_figure_is_drawn_of_sweeps_that_vary_nothing(case):
    """A user may replace a sweep by points with other keys."""
    less = [({k: p[k] for k in p if k in UNVARIED}, measures) for p, measures in case.nets]
    assert Case(case.name, less).drawn


@of_each([case for case in KEYS if len({p["sweep"] for p, _ in case.nets}) > 1])
def test_a_figure_is_drawn_without_a_sweep_that_a_user_left_out(case):
    left = [(p, measures) for p, measures in case.nets if p["sweep"] != case.nets[0][0]["sweep"]]
    varied = {key for point, _ in left for key, value in point.items() if value is not None}
    left = [({k: one for k, one in p.items() if k in varied}, measures) for p, measures in left]
    assert len(Case(case.name, left).drawn.points)


@of_each(KINDS)
def test_a_fixed_figure_and_no_other_leaves_out_a_further_sweep(case):
    last = case.nets[-1][0]["sweep"]
    mine = [
        (point | {"sweep": "mine", "run": f"{point['run']}-mine"}, measures)
        for point, measures in case.nets
        if point["sweep"] == last
    ]
    left_out = Case(case.name, case.nets + mine).drawn.points.equals(case.drawn.points)
    study, name = case.declared_as
    # That one draws the first network.
    fixed = declared(study)["figures"][name].get("fixed", False)
    assert left_out == (fixed or case.name == "mystery_fig1")


# The atlas compares any two runs that differ, and these do not.
JUDGED = [case for case in KINDS if not case.name.startswith("atlas_")]


@of_each([case for case in JUDGED if case.declared_as[1] in claiming(case.declared_as[0])])
def test_a_figure_judges_two_runs_at_one_place_unless_it_says_otherwise(case):
    sweep = case.nets[0][0]["sweep"]
    again = [
        (point | {"run": f"{point['run']}-again"}, measures)
        for point, measures in case.nets
        if point["sweep"] == sweep
    ]
    study, name = case.declared_as
    figure, material = figure_of(study, name), Case(case.name, case.nets + again).whole
    if "axes" in declared(study)["figures"][name]:
        with pytest.raises(FlatlasError):
            list(figure.claims(material))
    else:
        assert list(figure.claims(material))


@of_each(CASES)
def test_each_column_of_a_figure_is_declared(case):
    """By a measure, by the training, as a key that sweeps vary, or as a column of figures."""
    measured = [table for one in MEASURES.values() for table in one.tables.values()]
    declared = {name for table in (HISTORY, OUTCOMES, PLACE, *measured) for name in table}
    swept = {key for point, _ in case.nets for key in point}
    unknown = set(case.drawn.points) - declared - swept
    assert not {name for name in unknown if not any(fnmatchcase(name, one) for one in POINTS)}
