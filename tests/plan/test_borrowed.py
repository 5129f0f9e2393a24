"""A study borrows runs and measures of others, each measure for the runs that allow it."""

import pytest
from small_configuration import changed, write

from flatlas.errors import FlatlasError
from flatlas.plan.jobs import jobs_of

PRIOR = {"measure": "gp_prior"}
BINARY = {
    "data": {"source": "digits", "positive": [1], "per_class": 10, "test_size": 20},
    "net": {"family": "dense", "hidden": [4, 3], "init": {"scheme": "he_normal"}},
    "optimizer": {"name": "adam", "lr": 0.1},
    "batch": 5,
    "stop": {"epochs": 7, "extra_epochs": 4},
    "overtraining": [0, 4],
    "measures": {"hidden": {"directions": "fisher"}},
}
LENT = {
    "runs.binary": BINARY,
    "sweeps.binary": {"run": "binary", "grid": {"data.per_class": [5, 10, 15]}},
}
ATLAS = {
    "title": "All",
    "paper": "None",
    "realizations": 1,
    "borrowed": {"all": {"sweeps": ["flat.alpha", "flat.binary"]}},
    "measures": {"dual": {"borrowed": "flat.hidden", "at": ["met"]}, "prior": PRIOR},
    "figures": {
        "fig1": {
            "title": "One", "sweeps": ["all"], "measures": ["dual", "prior"], "where_it_fits": True,
        }
    },
}  # fmt: skip


@pytest.fixture
def atlas_of(plan_of, tmp_path):
    """The plan of the small study and of another that borrows from it, after a few changes."""

    def resolved(changes=None, study=None):
        write(tmp_path / "config" / "studies" / "atlas.yaml", changed(ATLAS, changes))
        return plan_of(study=LENT | (study or {}), preset={"studies.atlas": {}})

    return resolved


def entries_of(plan):
    return plan.figures["atlas_fig1"].entries


def options_of(plan):
    """The options of the borrowed measure, for each entry."""
    return [plan.measurements[one.measurements["dual"]].options for one in entries_of(plan)]


def test_borrowed_runs_and_measurements_are_the_lenders(atlas_of):
    plan = atlas_of()
    own = plan.figures["flat_fig1"].entries
    borrowed = entries_of(plan)[:2]
    assert [entry.run for entry in borrowed] == [entry.run for entry in own]
    dual = [entry.measurements["dual"] for entry in borrowed]
    assert dual == [entry.measurements["hidden"] for entry in own]


def test_a_point_has_its_sweep_and_everything_that_varies(atlas_of):
    points = [dict(entry.point) for entry in entries_of(atlas_of())]
    assert points[0] == {"of": "flat.alpha", "optimizer.lr": 0.05, "data.per_class": 10}
    assert points[-1] == {"of": "flat.binary", "optimizer.lr": 0.1, "data.per_class": 15}


def test_options_follow_the_lenders_measure_but_not_its_changes_of_a_run(atlas_of):
    options = options_of(atlas_of(study={"measures.hidden.sharp": 3}))
    assert {(one.directions, one.sharp) for one in options} == {("hessian", 3)}


def test_without_weights_from_when_the_rule_was_met_the_last_ones_are_measured(atlas_of):
    assert [one.at for one in options_of(atlas_of())] == [("final",)] * 2 + [("met+0",)] * 3
    both = options_of(atlas_of({"measures.dual.at": ["met", "final"]}))
    assert [one.at for one in both] == [("final",)] * 2 + [("met+0", "final")] * 3


def test_points_say_which_measure_their_run_cannot_have(atlas_of):
    plan = atlas_of()
    assert ["prior" in entry.measurements for entry in entries_of(plan)] == [False] * 2 + [True] * 3
    job = jobs_of(plan)["atlas_fig1"]
    files, points = job.inputs, job.spec["points"]
    assert len(files["outcomes"]) == len(files["dual_summary"]) == len(points) == 5
    assert len(files["prior_summary"]) == 3
    assert [point.get("lacks") for point in points] == [["prior_summary"]] * 2 + [None] * 3


def test_a_borrowed_sweep_may_have_only_its_ends_and_some_measures(atlas_of):
    entries = entries_of(atlas_of({"borrowed.all.ends": True, "borrowed.all.measures": ["prior"]}
                                  | {"figures.fig1.measures": ["prior"]}))  # fmt: skip
    assert [entry.point["data.per_class"] for entry in entries] == [10, 10, 5, 15]
    more = {"borrowed.more": {"sweeps": ["flat.batch"], "measures": ["dual"]}}
    plan = atlas_of(more | {"figures.fig1.sweeps": ["all", "more"]})
    assert all(entry.measurements.keys() == {"dual"} for entry in entries_of(plan)[5:])


def test_a_figure_can_ask_for_the_costs_of_its_measurements(atlas_of):
    plan = atlas_of({"figures.fig1.costs": True})
    files = jobs_of(plan)["atlas_fig1"].inputs
    folders = [file.rpartition("/")[0] for file in files["dual_summary"]]
    assert files["dual_cost"] == [f"{folder}/provenance.json" for folder in folders]
    assert "dual_cost" not in jobs_of(atlas_of())["atlas_fig1"].inputs


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"borrowed.all.sweeps": ["flt.a"]}, "borrowed.all.sweeps names 'flt.a'. Allowed: flat."),
        ({"borrowed.all.sweeps": ["flat.alhpa"]}, "names 'flat.alhpa'. .* mean 'flat.alpha'"),
        ({"borrowed.all.sweeps": ["atlas.all"]}, "names 'atlas.all'. Allowed: flat"),
        ({"borrowed.all.swps": []}, "borrowed.all.swps is not a key"),
        ({"sweeps.all": LENT["sweeps.binary"]}, "borrowed: 'all' is a sweep and borrowed"),
        ({"measures.dual.borrowed": "flat.hiden"}, "measures.dual.borrowed names 'flat.hiden'"),
        ({"measures.dual.drections": "fisher"}, "measures.dual.drections is not a key"),
        ({"borrowed.all.measures": ["dul"]}, "borrowed.all.measures names 'dul'"),
        ({"figures.fig1.sweeps": ["al"]}, "figures.fig1.sweeps names 'al'. Allowed: all"),
        ({"measures.dual.layer": "f2"}, "names 'dual', which fits none of the figure's runs"),
        ({"figures.fig1.where_it_fits": False}, "measures.prior.measure is only for binary nets"),
    ],
)
def test_a_mistake_is_reported_for_the_borrower(atlas_of, changes, said):
    with pytest.raises(FlatlasError, match=f"config/studies/atlas.yaml: .*{said}"):
        atlas_of(changes)


def test_a_mistake_of_the_lender_is_reported_for_the_lender(atlas_of):
    with pytest.raises(FlatlasError, match=r"flat.yaml: measures.hidden.directions is 'hessain'"):
        atlas_of(study={"measures.hidden.directions": "hessain"})
