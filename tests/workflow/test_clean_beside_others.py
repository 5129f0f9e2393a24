"""Nothing is deleted beside another Snakemake or a training; links lose only themselves."""

import fcntl
import json

import pytest
from waiting import wait_for

WAITING = """
rule wait:
    output: "waited"
    shell: "until [ -e may_end ]; do sleep 0.1; done; touch {output}"
"""


@pytest.fixture
def given_up(tiny):
    """Make a result that no setting needs, and return its folder."""

    def made(name):
        folder = tiny / f"results/runs/{name}-0123456789ab"
        folder.mkdir(parents=True)
        (folder / "provenance.json").write_text("{}")
        return folder

    return made


def test_it_waits_for_another_snakemake_and_for_trainings(tiny, given_up):
    run = given_up("one")
    (tiny / "waiting.smk").write_text(WAITING)
    other = tiny.start("-s", "waiting.smk")
    locks = tiny / ".snakemake/locks"
    wait_for(lambda: [*locks.glob("*.lock")], other)
    # The refused call leaves the lock of the other.
    for target in ("clean_unused", "clean_duality"):
        said = tiny.snakemake(target, fails=True)
        assert "another Snakemake" in said and "Traceback" not in said
    assert str(run.relative_to(tiny.root)) in tiny.snakemake("-n", "clean_unused")
    (tiny / "may_end").touch()
    other.communicate()
    (tiny / "results/resume").mkdir()
    with (tiny / "results/resume/two-0.1-ba9876543210.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = tiny.snakemake("clean_unused", fails=True)
        assert "still works on results/resume/two-0.1-ba9876543210." in said
    assert run.is_dir()
    tiny.snakemake("clean_unused")
    assert not run.exists()


def test_it_is_refused_beside_a_target_whose_results_it_could_delete(tiny, given_up):
    run = given_up("old")
    for target in ("clean_unused", "clean_duality"):
        assert "duality_fig3" in tiny.snakemake(target, "duality_fig3", fails=True)
    assert "--config preset=laptop" in tiny.snakemake("clean_unused", "preset=laptop", fails=True)
    assert run.exists()
    assert not (tiny / "results/demo").exists()


def test_the_list_is_made_when_it_deletes(tiny, given_up):
    moved = given_up("moved").rename(tiny / "disk")
    (tiny / "results/runs/moved-0123456789ab").symlink_to(moved)
    tiny.snakemake("clean_unused")
    assert not (tiny / "results/runs/moved-0123456789ab").is_symlink()
    assert (moved / "provenance.json").read_text() == "{}"
    later = given_up("later")
    job = tiny / "results/logs/cleaning/unused.json"
    assert json.loads(job.read_text())["params"]["study"] is None
    tiny.by_hand("clean", job)
    assert not later.exists()


def test_a_mistake_at_another_preset_deletes_nothing(tiny, given_up):
    run = given_up("one")
    (tiny / "config/presets/twin.yaml").write_text("title: Twin\nstudies: {duality: {runs: 3}}\n")
    for dry in ([], ["-n"]):
        said = tiny.snakemake(*dry, "clean_unused", fails=True)
        assert "Nothing is deleted" in said and "twin" in said and "Traceback" not in said
    assert run.is_dir()
