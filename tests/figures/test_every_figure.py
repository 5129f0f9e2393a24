"""Every figure can be drawn at every scale, whatever became of its trainings."""

from importlib import import_module
from pathlib import Path

import made_up
import pandas as pd
import pytest
import yaml

from flatlas.plan.resolve import resolve

CONFIG = Path(__file__).resolve().parents[2] / "config"
STUDIES = [path.stem for path in (CONFIG / "studies").glob("*.yaml")]
# What a row of points is of, and of how many; the rest of it is measured.
LABELS = ["panel", "layer", "quantile", "measure", "baseline", "axis", "pairs", "runs", "values"]
# What becomes of trainings: the realizations, the first and the last point of each sweep. To save a
# figure takes longer than all else, so only those are saved in which something is missing.
FATES = {
    "all met their rule": (2, None, None),
    "one realization": (1, None, None),
    "some diverged, some met none": (2, made_up.DIVERGED, made_up.EXHAUSTED),
}


def figures(preset):
    """Every figure of every study with its points and what is measured of them."""
    user = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"preset": preset}
    plan = resolve(user, CONFIG)
    for target, figure in plan.figures.items():
        named = {name: one for e in figure.entries for name, one in e.measurements.items()}
        measures = {name: plan.measurements[one].options.measure for name, one in named.items()}
        points = [
            {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
            for one in plan.figure_points(target)
        ]
        yield target, points, measures


CASES = [
    pytest.param(name, points, measures, id=f"{preset}-{name}")
    for preset in ("demo", "paper")
    for name, points, measures in figures(preset)
]


def drawn(name, points, measures, realizations, first, last):
    """A figure from made-up tables; all trainings of the first run end so, and one of the last."""
    ends = {}
    if points and first:
        ends |= {(points[0]["run"], seed): first for seed in range(realizations)}
    if points and last:
        ends[points[-1]["run"], 0] = last
    material = made_up.material(points, measures, realizations, directions=40, ends=ends)
    return module(name).draw(material)


def module(target):
    (study,) = [name for name in STUDIES if target.startswith(f"{name}_")]
    return import_module(f"flatlas.figures.{study}.{target.removeprefix(f'{study}_')}")


@pytest.mark.parametrize(("name", "points", "measures"), CASES)
def test_a_figure_is_drawn_and_its_points_are_told(name, points, measures):
    drawing = drawn(name, points, measures, *FATES["all met their rule"])
    assert len(drawing.points)
    # The demo's axes have two values each: no interval, and nothing given the baselines.
    few = name == "atlas_fig2"
    told = drawing.points.filter(regex="^plain_tau$|^[^_]*$") if few else drawing.points
    assert not told.isna().all().any(), "a column without anything in it"
    assert all(ax.has_data() for ax in drawing.figure.axes)


@pytest.mark.parametrize(("name", "points", "measures"), [c for c in CASES if "demo" in c.id])
def test_a_figure_is_drawn_of_one_realization(name, points, measures):
    assert len(drawn(name, points, measures, *FATES["one realization"]).points)


@pytest.mark.parametrize(("name", "points", "measures"), [c for c in CASES if "demo" in c.id])
def test_a_figure_is_drawn_whatever_became_of_its_trainings(name, points, measures, tmp_path):
    drawing = drawn(name, points, measures, *FATES["some diverged, some met none"])
    drawing.figure.savefig(tmp_path / "figure.png", dpi=20)
    whole = drawn(name, points, measures, *FATES["all met their rule"])
    assert list(drawing.points) == list(whole.points), "its table keeps its columns"


@pytest.mark.parametrize(
    ("name", "points", "measures"), [c for c in CASES if "demo" in c.id and c.values[1]]
)
def test_a_figure_of_nothing_but_diverged_trainings_is_empty_not_an_error(
    name, points, measures, tmp_path
):
    made = made_up.material(points, measures, 2, directions=40)
    # As measures leave them: without a row, and without a column of their own.
    standing = ["seed", *{key: None for point in points for key in point if key != "lacks"}]
    empty = {
        table: rows.assign(converged=False)
        if table == "outcomes"
        else rows.iloc[:0][rows.columns.intersection(standing)]
        for table, rows in made.tables.items()
        if not table.endswith("_cost")
    }
    material = type(made)(empty)
    drawing = module(name).draw(material)
    drawing.figure.savefig(tmp_path / "figure.png", dpi=20)
    measured = drawing.points.drop(columns=LABELS, errors="ignore")
    assert measured.dropna(how="all").empty


@pytest.mark.parametrize("name", ["duality_fig2", "duality_s4", "duality_s8", "prior_fig3"])
def test_the_same_tables_make_the_same_points(name):
    (case,) = [case for case in CASES if case.id == f"demo-{name}"]
    one, two = (drawn(*case.values, *FATES["all met their rule"]).points for _ in range(2))
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("name", "points", "measures"),
    [c for c in CASES if "demo" in c.id and len({p["sweep"] for p in c.values[1]}) > 1],
)
def test_a_figure_is_drawn_without_a_sweep_that_a_user_left_out(name, points, measures):
    left = [point for point in points if point["sweep"] != points[0]["sweep"]]
    varied = {key for point in left for key, value in point.items() if value is not None}
    left = [{key: one for key, one in point.items() if key in varied} for point in left]
    assert len(drawn(name, left, measures, *FATES["all met their rule"]).points)
