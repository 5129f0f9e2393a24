"""Which folders only one study needs, and which it shares with other studies and presets."""

import pytest
from small_configuration import STUDY, USER, changed, write

from flatlas.plan.cleaning import own_and_shared, unused

OTHER = changed(STUDY, {"figures": {"fig1": {"title": "One", "sweeps": ["alpha"]}}})
ALONE = {"realizations": 3}


@pytest.fixture
def folders(plan_of, tmp_path):
    """A plan with a second study, the folders that only `flat` needs, and those that it shares."""

    def found(other=OTHER, twin=False):
        root = tmp_path / "config"
        write(root / "studies" / "other.yaml", other)
        if twin:
            write(root / "presets" / "twin.yaml", {"title": "Twin"})
        plan = plan_of(preset={"studies": {}})
        return plan, own_and_shared(plan, "flat", USER, root)

    return found


def test_runs_of_another_study_are_shared_and_measures_are_not(folders):
    plan, (own, shared) = folders()
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


def test_a_study_that_shares_nothing_loses_everything_except_the_source(folders):
    _, (own, shared) = folders(changed(OTHER, ALONE))
    assert [folder for folder in shared if "/sources/" not in folder] == []
    assert len(shared) == 1
    assert len([folder for folder in own if "/runs/" in folder]) == 3


def test_results_that_another_preset_needs_stay(folders):
    _, (own, shared) = folders(changed(OTHER, ALONE), twin=True)
    assert own == ["results/small/flat"]
    assert any("/runs/" in folder for folder in shared)


@pytest.mark.parametrize(
    ("file", "spec", "deleted"),
    [
        ("atlas_mine/page", {"study": "atlas_mine", "figure": "place"}, True),
        ("mine/borrowed", {"study": "duality", "figure": "fig3"}, True),
        ("mine/no_figure", {"net": "dense"}, False),
    ],
)
def test_a_figure_or_page_that_the_settings_no_longer_have_is_unused(
    folders, tmp_path, monkeypatch, provenance, file, spec, deleted
):
    folders()
    monkeypatch.chdir(tmp_path)
    page = f"results/small/{file}"
    (tmp_path / page).parent.mkdir(parents=True)
    (tmp_path / f"{page}.html").write_text("mine")
    provenance(f"{page}.json", files=[f"{page}.html"], spec=spec)
    found = unused(USER, tmp_path / "config")
    assert found == ([f"{page}.html", f"{page}.json"] if deleted else [])
