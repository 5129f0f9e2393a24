"""A batch larger than what a realization is trained on is refused before anything runs."""

import pytest

BATCH = "runs.base.batch"
SWEPT = {"sweeps.alpha": {"run": "base", "points": [{"batch": 5}, {"batch": 101}]}}

# The sweep changes the images, and no figure draws it.
FEW = {"sweeps.few": {"run": "base", "grid": {"data.classes": [[0, 1]]}}, BATCH: 21}


@pytest.mark.parametrize(
    ("study", "most"),
    [
        ({}, 100),
        ({"runs.base.data.classes": [3, 4, 5]}, 30),
        ({"runs.base.data.positive": [3]}, 100),
        ({"runs.base.data.only": [3]}, 10),
        ({"runs.base.data.classes": [3, 4, 5], "runs.base.data.only": [4, 5]}, 20),
        ({"runs.base.data.per_class": None, "runs.base.data.train_size": 77}, 77),
        ({"runs.base.data.attack_size": 23}, 123),
        ({"runs.base.data.label_noise": 0.3}, 100),
        ({"runs.base.data": {"source": "boolean", "functions": {"draws": 99}}}, 8),
        ({"runs.base.learners": {"kind": "ssgd", "count": 8}}, 12),
    ],
)
def test_the_largest_batch_is_the_number_of_images(plan_of, refusal, study, most):
    figures = {"fig1": {"title": "One", "sweeps": ["alpha"]}}
    study = study | {"sweeps.batch.grid.batch": [1], "figures": figures}
    plan_of(study=study | {BATCH: most})
    message = refusal(study | {BATCH: most + 1})
    assert message.startswith(f"{BATCH} is {most + 1}")
    assert message.endswith(f"Allowed: at most {most}, or full.")


@pytest.mark.parametrize("batch", [1, "full"])
def test_more_learners_than_images_are_refused(refusal, batch):
    learners = {"kind": "ssgd", "count": 101}
    message = refusal({"runs.base.learners": learners, "sweeps.batch.grid.batch": [batch]})
    assert message.startswith("runs.base.learners.count is 101")


@pytest.mark.parametrize(
    ("study", "place"),
    [
        ({"sweeps.batch.grid.batch": [5, 101]}, "sweeps.batch.grid.batch"),
        (SWEPT, "sweeps.alpha.points.1.batch"),
        (FEW, BATCH),
    ],
)
def test_the_error_names_the_key_that_set_the_batch_or_the_run(refusal, study, place):
    message = refusal(study)
    assert message.startswith(f"{place} is ")


def test_the_error_names_a_sweep_that_leaves_too_few_images_only_if_it_does(refusal):
    """Without the sweep the batch fits; one of more images than the source has never does."""
    assert refusal(FEW).endswith("sweeps.few.grid sets data.classes: [0, 1] in this run.")
    assert "sets" not in refusal({BATCH: 101})


def test_a_base_run_may_have_any_batch_if_every_sweep_sets_its_own(plan_of):
    grid = {"batch": [5], "optimizer.lr": [0.05, 0.1]}
    plan = plan_of(study={BATCH: 500, "sweeps.alpha.grid": grid})
    assert {run.batch for run in plan.runs.values()} == {5, 10}


def test_two_points_with_all_images_are_refused_in_the_words_of_their_file(refused):
    message = refused(study={"sweeps.batch.grid.batch": [100, "full"]})
    assert "the second with batch: full: " in message
