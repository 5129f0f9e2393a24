"""Realizations in several groups: which runs and data they make, and what is refused."""

import pytest
from shipped import SHIPPED, shipped
from small_configuration import CONFIG, Removed

from flatlas.plan.ids import run_id
from flatlas.plan.jobs import jobs_of
from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve
from flatlas.plan.trees import merged

DATA = "runs.base.data"
TOGETHER = 100_000


def entries(plan: Plan, figure: str = "flat_fig1"):
    return plan.figures[figure].entries


@pytest.mark.parametrize(
    "data", [{}, {f"{DATA}.label_noise": 0.5}, {f"{DATA}.attack_size": 3}, {f"{DATA}.split": 1}]
)
def test_a_group_is_a_run_of_its_realizations_and_leaves_the_first_as_it_is(plan_of, data):
    alone, grouped = plan_of(study=data), plan_of(study={**data, "realizations": [2, 1]})
    assert alone.runs.items() <= grouped.runs.items()
    assert alone.measurements.items() <= grouped.measurements.items()
    assert alone.samples.items() <= grouped.samples.items()
    for first, second in zip(entries(grouped)[::2], entries(grouped)[1::2], strict=True):
        known, added = grouped.runs[first.run], grouped.runs[second.run]
        assert (known.seeds, added.seeds) == ((0, 1), (2,))
        assert added.model_copy(update={"seeds": (0, 1), "samples": known.samples}) == known
        assert getattr(added.samples, "seeds", None) == ((1,) if f"{DATA}.split" in data else (2,))
        assert grouped.measurements[second.measurements["hidden"]].run == added


def test_figures_know_all_groups_by_the_first(plan_of):
    plan = plan_of(study={"realizations": [2, 1, 1]})
    job = jobs_of(plan)["flat_fig1"]
    points = job.spec["points"]
    assert [point["optimizer.lr"] for point in points] == 3 * [0.05] + 3 * [0.1]
    runs = [point["run"] for point in points]
    assert runs == 3 * [entries(plan)[0].run] + 3 * [entries(plan)[3].run]
    assert len(set(job.inputs["outcomes"])) == 6


def test_a_group_starts_from_its_own_realizations(plan_of):
    base = plan_of().studies["flat"].runs["base"].model_dump(mode="json", exclude_unset=True)
    later = {**base, "start": {"run": "base"}}
    study = {
        "realizations": [2, 1],
        "runs.later": later,
        "sweeps.later": {"run": "later", "points": [{}]},
        "figures.fig1.sweeps": ["later"],
    }
    plan = plan_of(study=study)
    first, second = (plan.runs[entry.run] for entry in entries(plan))
    assert first.start.run.seeds == first.seeds == (0, 1)
    assert second.start.run.seeds == second.start.run.samples.seeds == second.seeds == (2,)
    assert run_id(second.start.run) in plan.runs
    # With the first group alone it starts from that group alone.
    alone = plan_of(study=study | {"runs.later.realizations": 2})
    assert [alone.runs[entry.run] for entry in entries(alone)] == [first]


@pytest.mark.parametrize("preset", ["laptop", "paper"])
def test_a_group_more_keeps_all_results_of_the_shipped_studies(preset):
    studies = shipped(preset).studies.items()
    more = {name: {"realizations": [*study.realizations, 3]} for name, study in studies}
    grouped = resolve(merged(SHIPPED, {"preset": preset, "studies": more}), CONFIG)
    assert shipped(preset).runs.keys() < grouped.runs.keys()
    assert shipped(preset).measurements.keys() < grouped.measurements.keys()


@pytest.mark.parametrize(
    ("study", "said"),
    [
        ({"realizations": []}, "realizations: the list is empty"),
        ({"realizations": "two"}, "realizations is 'two'"),
        ({"realizations": [2, 0]}, "realizations.1 is 0"),
        ({"realizations": [TOGETHER, 1]}, "realizations: 100,001 realizations in all groups"),
        (
            {"sweeps.alpha": {"run": "base", "points": [{}, {"realizations": [2, 1]}]}},
            "sweeps.alpha has two points that are the same run",
        ),
        (
            {
                "sweeps.alpha": {
                    "run": "base",
                    "points": [{"realizations": [2, 1]}, {"realizations": [1, 1, 1]}],
                }
            },
            "sweeps.alpha has two points that are the same run",
        ),
        (
            {
                "sweeps.more": {"run": "base", "points": [{"realizations": [2, 1]}]},
                "figures.fig1.sweeps": ["alpha", "more"],
            },
            "figures.fig1.sweeps: alpha, more have a run in common",
        ),
        (
            {
                "runs.base.data": {"source": "boolean", "functions": {"draws": 100}},
                "runs.base.realizations": [2, 1],
                "measures": Removed,
                "figures.fig1.measures": Removed,
            },
            "runs.base.data.functions are drawn together",
        ),
    ],
)
def test_groups_that_make_no_sense_are_refused(refusal, study, said):
    assert refusal(study).startswith(said)
