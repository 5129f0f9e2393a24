"""Studies of the user's, declared in the configuration beside those of the papers."""

import pytest
from small_configuration import PRESET, STUDY, USER, changed, write

from flatlas.plan.answers import answers_of
from flatlas.plan.cleaning import own_and_shared
from flatlas.plan.jobs import jobs_of

PLACE = "config/config.yaml (or --configfile, --config): studies"
NET = {"family": "own", "module": "my_nets:Small"}
RUN = STUDY["runs"]["base"]
MINE = {
    "title": "Mine",
    "realizations": 1,
    "runs": {"small": RUN | {"net": NET}},
    "sweeps": {"small": {"run": "small", "points": [{}]}},
    "measures": {"hidden": {"measure": "duality", "layer": "fc"}},
    "figures": {
        "gap": {
            "title": "My gap",
            "borrowed": "flat.fig1",
            "sweeps": ["small"],
            "measures": ["hidden"],
        }
    },
}


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A folder to work in, with the user's network."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_nets.py").write_text("class Small: ...\n")


def mine_with(changes):
    """The user's study after changes at some of its keys."""
    return {"studies.mine": MINE} | {f"studies.mine.{key}": value for key, value in changes.items()}


def mine_over(sweep):
    """The user's study, its figure with a sweep `alpha`: the borrowed figure has one, too."""
    return mine_with({"sweeps.alpha": {"run": "small"} | sweep, "figures.gap.sweeps": ["alpha"]})


def test_its_figures_have_their_own_files_and_judge_no_claim(plan_of):
    plan = plan_of(user={"studies.mine": MINE})
    paper, mine = (jobs_of(plan)[target] for target in ("flat_fig1", "mine_gap"))
    assert mine.outputs["png"] == "results/small/mine/gap.png"
    assert not set(mine.outputs.values()) & set(paper.outputs.values())
    assert "claims" in paper.outputs and "claims" not in mine.outputs
    assert mine.modules == paper.modules
    assert (mine.spec["study"], mine.spec["figure"]) == ("flat", "fig1")
    lookup = answers_of(plan)
    assert lookup.figures["mine_gap"].caption == lookup.figures["flat_fig1"].caption
    assert not any("scorecard" in file for file in lookup.studies["mine"].results)


def test_its_small_print_names_data_network_and_optimizer_of_every_run(plan_of):
    points = [{"net.weights": "a.safetensors", "stop.epochs": 0}, {"optimizer.lr": 0.25}]
    with open("a.safetensors", "w"):
        plan = plan_of(user=mine_with({"sweeps.small.points": points}))
    shows = jobs_of(plan)["mine_gap"].spec["shows"]
    for words in ("digits", "my_nets:Small", "a.safetensors", "sgd, lr 0.25, batch 5"):
        assert words in shows
    assert "lr 0.1" not in shows, "the optimizer of weights that nobody trained here"
    of_paper = jobs_of(plan)["flat_fig1"].spec["shows"]
    assert "digits" in of_paper and "preset small" in of_paper
    assert "sgd" not in of_paper


@pytest.mark.parametrize("normalize", [None, {"mean": [0.5], "std": [0.25]}])
def test_its_small_print_says_whether_images_are_normalized(plan_of, normalize):
    plan = plan_of(user={"studies.mine": MINE, "sources.digits.normalize": normalize})
    assert ("normalized" in jobs_of(plan)["mine_gap"].spec["shows"]) == bool(normalize)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"figures.gap.borrowed": "flat.fig11"}, "figures.gap.borrowed names 'flat.fig11'"),
        ({"figures.gap.borrowed": "mine.gap"}, "figures.gap.borrowed names 'mine.gap'"),
        ({"figures.gap.borrowed": None}, "figures.gap.borrowed is missing"),
        ({"figures.gap.measures": []}, "figures.gap.measures lacks hidden"),
        ({"figures.gap.sweeps": []}, "figures.gap: "),
        ({"figures.gap.module": "fig1"}, "figures.gap: "),
        ({"figures": {}}, "figures: "),
        ({"runs.small.batch": "ful"}, "runs.small.batch is 'ful'"),
    ],
)
def test_a_mistake_in_an_own_study_is_reported_by_its_key(refused, changes, said):
    assert refused(user=mine_with(changes)).startswith(f"{PLACE}.mine.{said}")


def test_a_borrowed_figure_of_what_fits_does_without_all_measures_but_the_errors(plan_of, refused):
    lent = {
        "measures.norms": {"measure": "norms"},
        "figures.fig1.measures": ["hidden", "norms"],
        "figures.fig1.where_it_fits": True,
    }
    norms, measures = {"measures.norms": {"measure": "norms"}}, "figures.gap.measures"
    assert plan_of(study=lent, user=mine_with(norms | {measures: ["norms"]})).figures["mine_gap"]
    said = refused(study=lent, user=mine_with(norms | {measures: ["hidden"]}))
    assert said.startswith(f"{PLACE}.mine.figures.gap.measures lacks norms, which flat.fig1 draws")


@pytest.mark.parametrize(("option", "value"), [("layer", "fc22"), ("at", [3])])
def test_a_measure_that_fits_no_run_of_a_lenient_figure_is_refused_with_the_reason(
    refused, option, value
):
    more = {"measure": "duality", "layer": "fc", option: value}
    figure = {"where_it_fits": True, "measures": ["hidden", "more"]}
    changes = {f"figures.gap.{key}": said for key, said in figure.items()}
    message = refused(user=mine_with({"measures.more": more} | changes))
    assert message.startswith(f"{PLACE}.mine.figures.gap.measures names 'more'")
    assert f"{PLACE}.mine.measures.more.{option} names " in message


@pytest.mark.parametrize("lenient", [False, True])
def test_another_measure_under_the_name_that_a_borrowed_figure_draws_is_refused(refused, lenient):
    """Its tables have other columns, which would be noticed only when the figure is drawn."""
    lent = {"figures.fig1.where_it_fits": lenient}
    message = refused(study=lent, user=mine_with({"measures.hidden": {"measure": "norms"}}))
    assert message.startswith(f"{PLACE}.mine.measures.hidden.measure is 'norms', but flat.fig1 ")
    assert "'duality'" in message


@pytest.mark.parametrize(
    ("sweep", "found"),
    [({"points": [{}]}, "nothing"), ({"grid": {"batch": [5, 10]}}, "batch")],
)
def test_a_sweep_that_lacks_what_the_borrowed_figure_draws_it_over_is_refused(
    refused, sweep, found
):
    """Its panels would be empty."""
    message = refused(user=mine_over(sweep))
    assert message.startswith(f"{PLACE}.mine.sweeps.alpha varies {found}, but flat.fig1 draws ")
    assert "optimizer.lr" in message


@pytest.mark.parametrize(
    "sweep",
    [
        {"grid": {"optimizer.lr": [0.1, 0.2], "batch": [5, 10]}},
        {"points": [{}, {"optimizer": {"name": "sgd", "lr": 0.2}}]},
    ],
)
def test_a_sweep_that_varies_more_than_the_borrowed_figures_is_drawn(plan_of, sweep):
    assert plan_of(user=mine_over(sweep)).figures["mine_gap"].entries


@pytest.mark.parametrize("lent", [{"points": [{"realizations": 2}]}, {"grid": {"batch": [10]}}])
def test_a_sweep_of_one_run_may_have_other_settings_than_the_borrowed_figures(plan_of, lent):
    """No panel is drawn over a key with one value."""
    lender = {"sweeps.alpha": {"run": "base"} | lent}
    plan = plan_of(study=lender, user=mine_over({"points": [{}]}))
    assert plan.figures["mine_gap"].entries


def test_a_borrower_is_judged_by_what_the_module_draws_not_by_what_became_of_it(plan_of):
    user = mine_over({"grid": {"optimizer.lr": [0.1, 0.2]}})
    user["studies.flat.sweeps.alpha.grid"] = {"optimizer.lr": [0.1]}
    assert plan_of(study=FIXED, user=user).figures["mine_gap"]


def test_a_sweep_over_a_mapping_may_be_an_axis(plan_of, refused):
    optimizers = [{"name": "adam"}, {"name": "sgd", "lr": 0.1}]
    study = FIXED | {"sweeps.alpha.grid": {"optimizer": optimizers}}
    assert plan_of(study=study).figures["flat_fig1"]
    two = {"studies.flat.sweeps.alpha.grid.batch": [5, 10]}
    assert " has 4 runs with the same optimizer, " in refused(study=study, user=two)


FIXED = {"figures.fig1.fixed": True, "figures.fig1.axes": "drawn"}


def test_a_sweep_without_a_place_in_a_fixed_figure_is_refused(refused):
    said = " names 'small', but flat.fig1 has a place only for its own sweeps. Allowed: alpha."
    message = refused(study=FIXED, user={"studies.mine": MINE})
    assert message == f"{PLACE}.mine.figures.gap.sweeps{said}"
    message = refused(study=FIXED, user={"studies.flat.figures.fig1.sweeps": ["alpha", "batch"]})
    assert message.startswith(f"{PLACE}.flat.figures.fig1.sweeps names 'batch', but flat.fig1 ")


@pytest.mark.parametrize("study", ["mine", "flat"])
def test_two_runs_in_the_same_place_on_an_axis_of_a_fixed_figure_are_refused(refused, study):
    grid = {"optimizer.lr": [0.1, 0.2], "batch": [5, 10]}
    user = mine_over({"grid": {"optimizer.lr": [0.1, 0.2]}})
    message = refused(study=FIXED, user=user | {f"studies.{study}.sweeps.alpha.grid": grid})
    assert message.startswith(f"{PLACE}.{study}.sweeps.alpha")
    assert " has 4 runs with the same optimizer.lr, over which flat.fig1 draws it." in message


@pytest.mark.parametrize(
    ("points", "none"),
    [([{}, {"optimizer.lr": None}], 0), ([{"batch": 5}, {"batch": 10}], 2)],
)
def test_runs_without_a_place_on_an_axis_are_refused(refused, points, none):
    changes = {"studies.flat.sweeps.alpha": {"grid": None, "points": points}}
    if none:
        message = refused(study=FIXED, user=changes)
        assert " has 2 of 2 runs without optimizer.lr, over which flat.fig1 draws" in message
    else:
        assert refused(study=FIXED, user=changes).startswith(f"{PLACE}.flat.sweeps.alpha")


def test_a_second_run_of_a_sweep_whose_claims_are_about_one_is_refused(refused, plan_of):
    one = {"sweeps.alpha": {"run": "base", "points": [{}]}, "figures.fig1.axes": "judged"}
    two = {"points": [{}, {"batch": 10}]}
    message = refused(study=one, user={"studies.flat.sweeps.alpha": two})
    assert message.startswith(f"{PLACE}.flat.sweeps.alpha has 2 runs, but flat.fig1 judges one")
    assert plan_of(study=one, user=mine_over(two)).figures["mine_gap"], "it judges nothing"


def test_a_measure_at_another_moment_than_the_only_one_that_a_figure_draws_is_refused(
    refused, plan_of
):
    lender = {"runs.base.overtraining": [0], "measures.hidden.at": ["met+0"]}
    message = refused(study=lender, user={"studies.mine": MINE})
    said = " has runs whose measure 'hidden' lacks met+0, the only moment that flat.fig1 draws: "
    assert message.startswith(f"{PLACE}.mine.sweeps.small{said}")
    changes = {"runs.small.overtraining": [0], "measures.hidden.at": ["met+0"]}
    assert plan_of(study=lender, user=mine_with(changes)).figures["mine_gap"]
    message = refused(study=lender, user={"studies.flat.measures.hidden.at": ["final"]})
    assert f"sweeps.alpha{said}" in message
    one = {"run": "small", "points": [{"overtraining": [0]}, {"batch": 10}]}
    changes = {"measures.hidden.at": ["met"], "sweeps.small": one}
    message = refused(study=lender, user=mine_with(changes))
    assert f"sweeps.small{said}" in message, "one of its runs lacks it"


def test_a_schematic_with_sweeps_and_one_that_says_fixed_are_refused(refused, plan_of):
    schematic = {"figures.fig3": {"title": "A sketch"}}
    sweeps = {"studies.flat.figures.fig3.sweeps": ["alpha"]}
    assert " flat.fig3 is a schematic" in refused(study=schematic, user=sweeps)
    assert plan_of(study=schematic, user={"studies.flat.figures.fig3.fixed": True}).figures
    fixed = mine_with({"figures.gap.fixed": True})
    assert "a borrowed figure has its own module, fixed and axes" in refused(user=fixed)


def test_a_fixed_figure_may_be_drawn_of_some_of_its_sweeps_at_other_values(plan_of):
    sweep = {"points": [{"optimizer.lr": 0.1}, {"optimizer.lr": 0.2, "batch": 10}]}
    lender = FIXED | {"figures.fig1.sweeps": ["alpha", "batch"]}
    assert plan_of(study=lender, user=mine_over(sweep)).figures["mine_gap"]


def test_a_study_without_figures_may_lend_its_runs(plan_of):
    lender = {key: MINE[key] for key in ("title", "realizations", "runs", "sweeps")}
    borrower = {key: MINE[key] for key in ("title", "realizations", "measures", "figures")}
    borrower["borrowed"] = {"small": {"sweeps": ["lender.small"]}}
    plan = plan_of(user={"studies.lender": lender, "studies.mine": borrower})
    assert [entry.run for entry in plan.figures["mine_gap"].entries]


def test_what_no_figure_needs_is_listed(plan_of):
    spare = {
        "runs.spare": MINE["runs"]["small"],
        "runs.first": MINE["runs"]["small"],
        "runs.small": MINE["runs"]["small"] | {"start": {"run": "first"}},
        "sweeps.spare": {"run": "small", "grid": {"batch": [5, 10]}},
        "measures.spare": {"measure": "norms"},
    }
    assert plan_of(user={"studies.mine": MINE}).unused == []
    kinds = ("runs", "sweeps", "measures")
    unused = plan_of(user=mine_with(spare)).unused
    assert unused == [f"{PLACE}.mine.{kind}.spare" for kind in kinds]
    lending = {"studies.other": {**MINE, "figures": {}}}
    borrowing = mine_with({"borrowed": {"lent": {"sweeps": ["other.small"]}}})
    unused = plan_of(user=borrowing | lending).unused
    assert unused == [f"{PLACE}.mine.borrowed.lent"]
    added = {"studies.flat.sweeps.alhpa": {"run": "base", "grid": {"batch": [5, 10]}}}
    assert plan_of(study={"measures.spare": {"measure": "norms"}}, user=added).unused == [
        f"{PLACE}.flat.sweeps.alhpa"
    ]


def test_an_own_network_in_a_figure_of_a_paper_is_refused(refused):
    """It would replace the paper's picture, which says neither which network nor which data."""
    changes = {"runs.small": MINE["runs"]["small"], "sweeps.small": MINE["sweeps"]["small"]}
    changes |= {"measures.hidden.layer": "fc", "figures.fig1.sweeps": ["small"]}
    message = refused(user={f"studies.flat.{key}": value for key, value in changes.items()})
    assert message.startswith(f"{PLACE}.flat.runs.small.net.family is 'own'")
    assert "borrowed: flat.fig1" in message


def test_a_borrowed_own_network_in_a_figure_of_a_paper_is_refused(refused):
    changes = {"borrowed.mine": {"sweeps": ["mine.small"]}, "figures.fig2.sweeps": ["mine"]}
    changes = {f"studies.flat.{key}": value for key, value in changes.items()}
    message = refused(user={"studies.mine": MINE, **changes})
    assert "mine.runs.small.net.family is 'own'" in message


def test_its_results_can_be_cleaned_although_it_is_the_same_at_every_preset(plan_of, tmp_path):
    plan = plan_of(user={"studies.mine": MINE})
    root = tmp_path / "config"
    write(root / "presets" / "twin.yaml", PRESET)
    user = changed(USER, {"studies.mine": MINE})
    own, _ = own_and_shared(plan, "mine", user, root)
    (entry,) = plan.figures["mine_gap"].entries
    assert {f"results/runs/{entry.run}", "results/small/mine"} <= set(own)


def test_its_results_stay_if_it_needs_them_at_another_preset(plan_of, tmp_path):
    """It borrows a measure, which has other options there."""
    borrowed = mine_with({"measures.hidden.borrowed": "flat.hidden"})
    plan, user = plan_of(user=borrowed), changed(USER, borrowed)
    twin = changed(PRESET, {"studies.flat.measures.hidden.sharp": 2})
    write(tmp_path / "config" / "presets" / "twin.yaml", twin)
    own, shared = own_and_shared(plan, "mine", user, tmp_path / "config")
    (entry,) = plan.figures["mine_gap"].entries
    assert f"results/runs/{entry.run}" in shared
    assert f"results/measures/duality/{entry.measurements['hidden']}" in own
