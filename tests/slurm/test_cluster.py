"""The pipeline on a real SLURM: `make test-slurm` brings one up around these tests."""

import socket

import pytest
from checkout import copied, with_tiny_study
from on_cluster import OnCluster, ask, ended
from waiting import PATIENCE, wait_for

from flatlas.store.tables import read_table
from flatlas.training.resume import read_state

pytestmark = pytest.mark.slurm
NEEDS = "workflow/flatlas/plan/needs.py"
NODE = socket.gethostname().split(".")[0]


def want_a_gpu(checkout):
    """Count even the tiny net as worth a GPU."""
    checkout.edit(NEEDS, r"WORTH_A_GPU = .*?\n", "WORTH_A_GPU = 1\n")


def test_a_figure_is_made_and_its_jobs_request_a_gpu(tiny):
    want_a_gpu(tiny)
    tiny.snakemake("--until", "subset")
    tiny.submit("duality_fig3")
    assert (tiny / "results/tiny/duality/fig3.pdf").stat().st_size > 1000
    (train,) = tiny.jobs("train")
    assert (train["JobState"], train["TresPerJob"]) == ("COMPLETED", "gres:gpu:1")
    assert "a GPU would be faster" in next((tiny / "results/logs/train").glob("*.log")).read_text()
    (measure,) = tiny.jobs("measure_duality")
    assert (measure["JobState"], measure["TresPerJob"]) == ("COMPLETED", "gres:gpu:1")
    assert (measure["NumCPUs"], measure["MinMemoryNode"]) == ("1", "4001M")
    assert measure["TimeLimit"] == "01:00:00"
    (figure,) = tiny.jobs("duality_fig3")
    assert figure["JobState"] == "COMPLETED"
    assert "TresPerJob" not in figure


def test_a_cancelled_training_resumes_and_ends_with_the_same_bytes(tiny):
    """This cluster needs --gres for its GPUs."""
    want_a_gpu(tiny)
    # No loss is ever this low, and the state is saved after each epoch.
    tiny.set_study("runs", "base", "stop", value={"loss_below": 1e-12, "epochs": 1500})
    tiny.save_each_epoch()
    tiny.snakemake("--until", "subset")
    process = tiny.submitting("--until", "train", profile="slurm-gres")
    seen = set()

    def saved():
        for state in (tiny / "results/resume").glob("*/state"):
            seen.add(state.stat().st_mtime_ns)
        return len(seen) > 3

    wait_for(saved, process)
    (first,) = tiny.jobs("train")
    ask("scancel", first["JobId"])
    epochs = read_state(tiny.only("resume/*/state"))["times"].tolist()
    assert len(epochs) < 1500
    ended(process)

    cancelled, again = tiny.jobs("train")
    assert (cancelled["JobState"], again["JobState"]) == ("CANCELLED", "COMPLETED")
    assert again["TresPerNode"] == "gres:gpu:1"
    assert "TresPerJob" not in again
    resumed = tiny.contents("runs/*/*")
    seconds = read_table(tiny.only("runs/*/times.csv"))["seconds"].tolist()
    assert seconds[: len(epochs)] == epochs, "it went on from there"

    tiny.snakemake("--until", "train", "--forcerun", "train")
    whole = tiny.contents("runs/*/*")
    assert {name.rpartition("/")[2] for name in whole if whole[name] != resumed[name]} == {
        "times.csv",
        "provenance.json",
    }


def test_learners_are_processes_of_one_job(tiny):
    tiny.set_study("runs", "base", "learners", value={"kind": "dpsgd", "count": 2})
    tiny.snakemake("--until", "subset")
    tiny.submit("--until", "train", "--cores", "2", "--config", "distributed=true")
    (train,) = tiny.jobs("train")
    assert (train["JobState"], train["NumCPUs"], train["NumNodes"]) == ("COMPLETED", "2", "1")
    assert "cpu with 2 ranks" in tiny.only("logs/train/*.log").read_text()
    assert len(tiny.contents("runs/*/*")) == 5


def test_a_job_that_needs_more_memory_than_it_asked_for_is_given_more(tiny):
    """The first attempt has too little to load torch; the third has enough."""
    tiny.edit(NEEDS, r"2000 \* ranks", "400 * ranks")
    tiny.snakemake("--until", "subset")
    tiny.submit("--until", "train")
    *too_small, enough = tiny.jobs("train")
    asked = [job["MinMemoryNode"] for job in (*too_small, enough)]
    assert asked in (["400M", "800M"], ["400M", "800M", "1200M"])
    assert "COMPLETED" not in {job["JobState"] for job in too_small}
    assert enough["JobState"] == "COMPLETED"
    assert enough["TimeLimit"] != too_small[0]["TimeLimit"]


def test_a_job_over_its_time_is_ended_and_given_more(tiny):
    """SLURM has no limit below a minute, and checks twice a minute."""
    tiny.edit(NEEDS, r" 20 \+ _minutes", " 1 + _minutes")
    hang = 'if job.resources["runtime"] == 1: __import__("time").sleep(600)'
    tiny.edit("workflow/scripts/train.py", r"( +)(task\.run.*?\n)", rf"\1\2    {hang}\n")
    tiny.snakemake("--until", "subset")
    tiny.submit("--until", "train")
    hung, again = tiny.jobs("train")
    assert (hung["JobState"], hung["TimeLimit"]) == ("TIMEOUT", "00:01:00")
    assert (again["JobState"], again["TimeLimit"]) == ("COMPLETED", "00:02:00")
    assert len(tiny.contents("runs/*/*")) == 5


def test_a_job_waits_until_a_drained_node_is_back(tiny):
    ask("scontrol", "update", f"nodename={NODE}", "state=drain", "reason=test")
    try:
        process = tiny.submitting("results/tiny/dag.png")
        wait_for(lambda: tiny.jobs("dag"), process)
        (waiting,) = tiny.jobs("dag")
        assert waiting["JobState"] == "PENDING"
        assert "drain" in ask("sinfo", "--noheader", "--format=%T")
    finally:
        ask("scontrol", "update", f"nodename={NODE}", "state=resume")
    ended(process)
    assert (tiny / "results/tiny/dag.png").exists()
    (done,) = tiny.jobs("dag")
    assert done["JobState"] == "COMPLETED"


def test_a_figure_whose_code_was_edited_while_its_job_waited_is_made_again(tiny):
    figure = "workflow/flatlas/studies/duality/strategies.py"
    before = (tiny / figure).read_text()
    tiny.snakemake("--until", "measure_duality")
    process = tiny.submitting(
        "duality_fig3", "--set-resources", "duality_fig3:slurm_extra='--hold'"
    )
    wait_for(lambda: tiny.jobs("duality_fig3"), process)
    tiny.edit(figure, "at the largest α", "at the smallest α")
    ask("scontrol", "release", tiny.jobs("duality_fig3")[0]["JobId"])
    said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    assert "duality_fig3" in said.rpartition("WorkflowError")[2]
    assert tiny.would_run("duality_fig3") == {}
    (tiny / figure).write_text(before)
    assert tiny.would_run("duality_fig3") == {"duality_fig3": 1}


def test_many_trainings_go_in_as_one_array(tmp_path):
    """One sbatch for all trainings that are ready."""
    checkout = OnCluster(with_tiny_study(copied(tmp_path / "tiny")), tmp_path / "memory")
    checkout.snakemake("--until", "subset")
    checkout.submit("--until", "train", "--slurm-array-jobs", "train")
    jobs = checkout.jobs("train")
    assert len({job["ArrayJobId"] for job in jobs}) == 1
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}
    assert len(list((checkout / "results/runs").glob("*/weights.safetensors"))) == len(jobs) > 1
