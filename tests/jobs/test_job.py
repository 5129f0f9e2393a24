"""Around the one call of a script: files and values in, a log, and last words that help."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
LOG = "results/logs/stage/one.log"
RESULT = "results/one.json"

# A script as Snakemake runs it: with the very object that Snakemake injects.
AS_SNAKEMAKE = f"""
from snakemake.iocontainers import (
    InputFiles, Log, OutputFiles, Params, ResourceList, Snakemake, Wildcards
)
files = InputFiles(toclone=["images.dat", "a.csv", "b.csv"])
files._set_name("images", 0)
files._set_name("tables", 1, end=3)
snakemake = Snakemake(
    input_=files,
    output=OutputFiles(fromdict={{"result": "{RESULT}"}}),
    params=Params(fromdict={{"spec": {{"lr": 0.1, "seeds": [0, 1]}}, "code": "abc", "none": None,
                              "resume": "results/resume/one"}}),
    wildcards=Wildcards(), threads=2, log=Log(toclone=["{LOG}"]),
    resources=ResourceList(fromdict={{"gpu": 0, "mem_mb": 100, "tmpdir": "/tmp"}}),
    config={{}}, rulename="stage", bench_iteration=None,
)
"""
SCRIPT = """
import gc, json, logging, warnings
usual = gc.get_threshold()
from pathlib import Path
from flatlas.errors import FlatlasError
from flatlas.jobs.job import Job

def fall():
    raise FlatlasError("per_class is 999: ask for at most 20.")

with Job(globals().get("snakemake"), "training") as job:
    logging.getLogger("flatlas").info("one step")
    warnings.warn("a warning of some library")
    job.progress(3, 3, loss=0.5)
    {body}
    seen = [vars(job.input), vars(job.params), job.resources["mem_mb"], job.threads, job.device]
    Path(job.output.result).parent.mkdir(parents=True, exist_ok=True)
    Path(job.output.result).write_text(json.dumps(seen))
"""


@pytest.fixture
def run(tmp_path):
    """Run a script with this line in the middle of its job, in an empty folder."""

    def ran(*arguments, body="pass", within_snakemake=True, flags=()):
        text = SCRIPT.replace("{body}", body)
        script = tmp_path / "stage.py"
        script.write_text((AS_SNAKEMAKE if within_snakemake else "") + text)
        return subprocess.run(
            [sys.executable, *flags, script, *arguments],
            cwd=tmp_path, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True,
        )  # fmt: skip

    return ran


def test_a_job_gets_files_values_and_resources_by_name(run, tmp_path):
    assert run().returncode == 0
    files, params, memory, threads, device = json.loads((tmp_path / RESULT).read_text())
    assert files == {"images": "images.dat", "tables": ["a.csv", "b.csv"]}
    assert params == {
        "spec": {"lr": 0.1, "seeds": [0, 1]},
        "code": "abc",
        "none": None,
        "resume": "results/resume/one",
    }
    assert (memory, threads, device) == (100, 2, "cpu")


def test_a_job_speaks_in_its_log_only(run, tmp_path):
    done = run()
    assert done.stdout == done.stderr == ""
    log = (tmp_path / LOG).read_text()
    for told in ("training began", "one step", "a warning of some library", "training done in"):
        assert told in log
    assert "3 of at most 3; loss 0.5" in log


def test_a_job_says_its_last_word_and_is_gone(run):
    """What was imported is not taken apart; what was printed into a pipe is not lost."""
    body = "import atexit; atexit.register(print, 'taken apart'); print('all')"
    done = run(body=body)
    assert (done.returncode, done.stdout) == (0, "all\n")


def test_work_collects_garbage_as_often_as_python_does(run):
    """Only what is imported before it is spared."""
    assert run(body="assert gc.get_threshold() == usual and gc.get_freeze_count()").returncode == 0


def test_a_log_holds_the_last_attempt_only(run, tmp_path):
    run(body="fall()")
    run()
    assert "failed" not in (tmp_path / LOG).read_text()


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("fall()", "per_class is 999: ask for at most 20."),
        ("[][0]", "IndexError: list index out of range"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_failure_is_told_in_a_sentence_and_in_full_in_the_log(run, tmp_path, body, cause):
    failed = run(body=body)
    assert failed.returncode == 1
    (sentence,) = failed.stderr.splitlines()
    assert sentence.startswith(f"flatlas: training failed: {cause}")
    assert sentence.endswith(f"(log: {LOG})")
    log = (tmp_path / LOG).read_text()
    assert "Traceback (most recent call last)" in log
    assert f'File "{tmp_path / "stage.py"}"' in log
    assert body.removeprefix("raise ") in log
    assert not (tmp_path / RESULT).exists()


@pytest.mark.parametrize("body", ["pass", "fall()"])
def test_the_same_job_can_be_done_again_by_hand(run, tmp_path, body):
    """Whether it succeeded or failed: the JSON beside the log has all that it was given."""
    run(body=body)
    before = tmp_path / RESULT
    first = before.read_text() if before.exists() else None
    again = run(LOG.replace(".log", ".json"), within_snakemake=False)
    assert again.returncode == 0
    assert (before.read_text() if before.exists() else None) == first, "it is not touched"
    apart = (tmp_path / "results" / "by-hand" / "one.json").read_text()
    told = (first or "").replace("/resume/", "/by-hand/resume/").replace('"abc"', '"by hand"')
    assert apart == told or first is None
    assert "one step" in again.stderr, "the log comes to the terminal"
    assert "3/3" in again.stderr, "and so does a progress bar"


def test_by_hand_a_job_has_its_own_results_resume_and_number_of_threads(run, tmp_path):
    """It is begun anew where the environment says another number, or none."""
    run()
    body = "import os; job.resources['mem_mb'] = [os.environ['OMP_NUM_THREADS'], job.params.resume]"
    again = run(LOG.replace(".log", ".json"), body=body, within_snakemake=False)
    assert again.returncode == 0, again.stderr
    seen = json.loads((tmp_path / "results" / "by-hand" / "one.json").read_text())
    assert seen[2] == ["2", "results/by-hand/resume/one"]


def test_by_hand_it_is_begun_anew_as_python_was_called(run, tmp_path):
    run()
    body = "import sys; job.resources['mem_mb'] = sys.flags.optimize"
    asked = LOG.replace(".log", ".json")
    again = run(asked, body=body, within_snakemake=False, flags=("-OO",))
    assert again.returncode == 0, again.stderr
    seen = json.loads((tmp_path / "results" / "by-hand" / "one.json").read_text())
    assert seen[2] == 2


def test_by_hand_a_failure_shows_its_traceback(run):
    run()
    failed = run(LOG.replace(".log", ".json"), body="fall()", within_snakemake=False)
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr
    assert "ask for at most 20" in failed.stderr


@pytest.mark.parametrize(
    "arguments", [[], ["one.txt"], ["one.json", "two.json"], ["results/logs/stage/gone.json"]]
)
def test_by_hand_without_the_json_it_says_what_to_do(run, arguments):
    failed = run(*arguments, within_snakemake=False)
    assert failed.returncode == 1
    (sentence,) = failed.stderr.splitlines()
    assert "stage.py runs inside Snakemake" in sentence
    assert "python workflow/scripts/stage.py results/logs/" in sentence
