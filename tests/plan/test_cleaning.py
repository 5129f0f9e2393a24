"""The folders that only one study needs: no other study and no other scale."""

from small_configuration import PRESET, STUDY, USER, changed, write

from flatlas.plan.cleaning import own_and_shared
from flatlas.plan.resolve import resolve

OTHER = changed(STUDY, {"figures": {"fig1": {"title": "One", "sweeps": ["alpha"]}}})
ALONE = {"realizations": 3}


def folders(tmp_path, other=OTHER, presets=("small",)):
    """What is the study's own and what it shares, in a configuration with another study."""
    root = tmp_path / "config"
    write(root / "studies" / "flat.yaml", STUDY)
    write(root / "studies" / "other.yaml", other)
    for preset in presets:
        write(root / "presets" / f"{preset}.yaml", changed(PRESET, {"studies": {}}))
    user = changed(USER, {"studies": {}})
    plan = resolve(user, root)
    return plan, own_and_shared(plan, "flat", user, root)


def test_runs_of_another_study_are_shared_and_measures_are_not(tmp_path):
    plan, (own, shared) = folders(tmp_path)
    alpha = {entry.run for entry in plan.figures["other_fig1"].entries}
    assert {f"results/runs/{run}" for run in alpha} <= set(shared)
    assert "results/small/flat" in own
    mine = {entry.run for entry in plan.figures["flat_fig2"].entries} - alpha
    assert mine
    assert {f"results/runs/{run}" for run in mine} <= set(own)
    assert {f"results/resume/{run}" for run in mine} <= set(own)
    measured = {f"results/measures/duality/{name}" for name in plan.measurements}
    assert measured <= set(own)
    assert not set(own) & set(shared)


def test_a_study_that_shares_nothing_loses_everything_except_the_source(tmp_path):
    _, (own, shared) = folders(tmp_path, other=changed(OTHER, ALONE))
    assert [folder for folder in shared if "/sources/" not in folder] == []
    assert len(shared) == 1
    assert len([folder for folder in own if "/runs/" in folder]) == 3


def test_results_that_another_scale_needs_stay(tmp_path):
    _, (own, shared) = folders(tmp_path, other=changed(OTHER, ALONE), presets=("small", "twin"))
    assert own == ["results/small/flat"]
    assert any("/runs/" in folder for folder in shared)
