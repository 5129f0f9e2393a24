"""Runs and measures of other studies: the very same ones, wherever a measure can be taken."""

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
PLACE = "config/studies/atlas.yaml: "


@pytest.fixture
def atlas_of(plan_of, tmp_path):
    """The plan of the small study and of another that borrows from it, after a few changes."""

    def resolved(changes=None, study=None):
        write(tmp_path / "config" / "studies" / "atlas.yaml", changed(ATLAS, changes))
        return plan_of(study=LENT | (study or {}), preset={"studies.atlas": {}})

    return resolved


def entries_of(plan):
    return plan.figures["atlas_fig1"].entries


def test_borrowed_runs_and_measurements_are_the_very_same(atlas_of):
    plan = atlas_of()
    own = plan.figures["flat_fig1"].entries
    borrowed = entries_of(plan)[:2]
    assert [entry.run for entry in borrowed] == [entry.run for entry in own]
    dual = [entry.measurements["dual"] for entry in borrowed]
    assert dual == [entry.measurements["hidden"] for entry in own]


def test_each_is_told_where_it_comes_from_and_all_that_is_varied(atlas_of):
    points = [dict(entry.point) for entry in entries_of(atlas_of())]
    assert points[0] == {"of": "flat.alpha", "optimizer.lr": 0.05, "data.per_class": 10}
    assert points[-1] == {"of": "flat.binary", "optimizer.lr": 0.1, "data.per_class": 15}


def test_the_options_are_the_borrowers_whatever_the_lender_changes_on_a_run(atlas_of):
    plan = atlas_of()
    taken = {plan.measurements[one.measurements["dual"]].options for one in entries_of(plan)}
    assert {options.directions for options in taken} == {"hessian"}


def test_a_changed_option_of_the_lender_is_the_borrowers_too(atlas_of):
    plan = atlas_of(study={"measures.hidden.sharp": 3})
    (options, *_) = [
        plan.measurements[one.measurements["dual"]].options for one in entries_of(plan)
    ]
    assert options.sharp == 3


def test_the_moment_at_which_the_rule_is_met_is_the_last_where_it_was_not_kept(atlas_of):
    plan = atlas_of()
    at = [plan.measurements[one.measurements["dual"]].options.at for one in entries_of(plan)]
    assert at == [("final",)] * 2 + [("met+0",)] * 3
    both = atlas_of({"measures.dual.at": ["met", "final"]})
    at = [both.measurements[one.measurements["dual"]].options.at for one in entries_of(both)]
    assert at == [("final",)] * 2 + [("met+0", "final")] * 3


def test_a_measure_is_left_out_where_it_does_not_fit_and_the_files_say_so(atlas_of):
    plan = atlas_of()
    assert ["prior" in entry.measurements for entry in entries_of(plan)] == [False] * 2 + [True] * 3
    job = jobs_of(plan)["atlas_fig1"]
    files, points = job.inputs, job.spec["points"]
    assert len(files["outcomes"]) == len(files["dual_summary"]) == len(points) == 5
    assert len(files["prior_summary"]) == 3
    assert [point.get("lacks") for point in points] == [["prior_summary"]] * 2 + [None] * 3


def test_what_fits_nowhere_is_a_mistake(atlas_of):
    with pytest.raises(FlatlasError, match="names 'dual', which fits none of the figure's runs"):
        atlas_of({"measures.dual.layer": "f2"})


def test_elsewhere_a_measure_has_to_fit(atlas_of):
    with pytest.raises(FlatlasError, match=f"{PLACE}measures.prior.measure is of binary nets"):
        atlas_of({"figures.fig1.where_it_fits": False})


def test_a_sweep_may_take_the_ends_alone_and_only_some_measures(atlas_of):
    entries = entries_of(atlas_of({"borrowed.all.ends": True, "borrowed.all.measures": ["prior"]}
                                  | {"figures.fig1.measures": ["prior"]}))  # fmt: skip
    assert [entry.point["data.per_class"] for entry in entries] == [10, 10, 5, 15]
    more = {"borrowed.more": {"sweeps": ["flat.batch"], "measures": ["dual"]}}
    plan = atlas_of(more | {"figures.fig1.sweeps": ["all", "more"]})
    assert all(entry.measurements.keys() == {"dual"} for entry in entries_of(plan)[5:])


def test_what_a_measurement_cost_is_read_where_a_figure_asks(atlas_of):
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
        ({"measures.dual.borrowed": "flat.hiden"}, "measures.dual.borrowed names 'flat.hiden'"),
        ({"measures.dual.drections": "fisher"}, "measures.dual.drections is not a key"),
        ({"borrowed.all.measures": ["dul"]}, "borrowed.all.measures names 'dul'"),
        ({"figures.fig1.sweeps": ["al"]}, "figures.fig1.sweeps names 'al'. Allowed: all"),
    ],
)
def test_a_mistake_is_told_in_the_words_of_the_borrower(atlas_of, changes, said):
    with pytest.raises(FlatlasError, match=PLACE + ".*" + said):
        atlas_of(changes)


def test_a_mistake_of_the_lender_is_told_there(atlas_of):
    with pytest.raises(FlatlasError, match=r"flat.yaml: measures.hidden.directions is 'hessain'"):
        atlas_of(study={"measures.hidden.directions": "hessain"})
