"""A job gets files and values by name, has a log, and says in a sentence why it failed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
LOG = "results/logs/stage/one.log"
RESULT, APART = "results/one.json", "results/by-hand/one.json"

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
    seen = [vars(job.input), vars(job.params), job.resources["mem_mb"], job.device]
    Path(job.output.result).parent.mkdir(parents=True, exist_ok=True)
    Path(job.output.result).write_text(json.dumps(seen))
"""


@pytest.fixture
def run(tmp_path):
    """Run a script with this line in the middle of its job, in an empty folder."""

    def ran(*arguments, body="pass", within_snakemake=True, flags=(), cwd=tmp_path):
        text = SCRIPT.replace("{body}", body)
        script = tmp_path / "stage.py"
        script.write_text((AS_SNAKEMAKE if within_snakemake else "") + text)
        return subprocess.run(
            [sys.executable, *flags, script, *arguments],
            cwd=cwd, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True,
        )  # fmt: skip

    return ran


def test_a_job_gets_files_values_and_resources_by_name(run, tmp_path):
    assert run().returncode == 0
    files, params, *others = json.loads((tmp_path / RESULT).read_text())
    assert files == {"images": "images.dat", "tables": ["a.csv", "b.csv"]}
    spec = {"lr": 0.1, "seeds": [0, 1]}
    assert params == {"spec": spec, "code": "abc", "none": None, "resume": "results/resume/one"}
    assert others == [100, "cpu"]


def test_the_log_has_all_output_of_the_last_attempt_alone(run, tmp_path):
    run(body="fall()")
    done = run()
    assert done.stdout == done.stderr == ""
    log = (tmp_path / LOG).read_text()
    for line in ("training began", "one step", "a warning of some library", "training done in"):
        assert line in log
    assert "3 of at most 3; loss 0.5" in log
    assert "failed" not in log


def test_a_warning_is_one_line_on_the_terminal_and_in_the_log(run, by_hand, tmp_path):
    warned = run(body="job.warn('50 % are wrong.')")
    assert warned.returncode == 0
    assert warned.stderr == f"flatlas: training warns: 50 % are wrong. (log: {LOG})\n"
    assert " W 50 % are wrong.\n" in (tmp_path / LOG).read_text()
    assert by_hand(body="job.warn('50 % are wrong.')").stderr.count("50 % are wrong.") == 1


def test_a_job_flushes_what_it_printed_and_ends_without_cleaning_up(run):
    body = "import atexit; atexit.register(print, 'cleaned up'); print('all')"
    done = run(body=body)
    assert (done.returncode, done.stdout) == (0, "all\n")


def test_work_collects_garbage_as_often_as_python_does(run):
    """Only objects from the imports before the work are exempt from collection."""
    assert run(body="assert gc.get_threshold() == usual and gc.get_freeze_count()").returncode == 0


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("fall()", "per_class is 999: ask for at most 20."),
        ("[][0]", "IndexError: list index out of range"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_failure_is_one_sentence_and_a_traceback_in_the_log(run, tmp_path, body, cause):
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


@pytest.fixture
def by_hand(run):
    """Repeat the job of `run` by hand, with the JSON beside its log."""
    return lambda **how: run(LOG.replace(".log", ".json"), within_snakemake=False, **how)


def test_a_job_can_be_repeated_by_hand(run, by_hand, tmp_path):
    run()
    first = (tmp_path / RESULT).read_text()
    again = by_hand()
    assert again.returncode == 0
    assert (tmp_path / RESULT).read_text() == first, "the first result stays"
    expected = first.replace("/resume/", "/by-hand/resume/").replace('"abc"', '"by hand"')
    assert (tmp_path / APART).read_text() == expected
    assert "one step" in again.stderr, "the log comes to the terminal"
    assert "3/3" in again.stderr, "and so does a progress bar"


def test_a_failed_job_can_be_repeated_by_hand_and_shows_its_traceback(run, by_hand, tmp_path):
    run(body="fall()")
    failed = by_hand(body="fall()")
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr
    assert "ask for at most 20" in failed.stderr
    assert by_hand().returncode == 0
    assert (tmp_path / APART).exists() and not (tmp_path / RESULT).exists()


def test_a_job_repeated_by_hand_keeps_its_threads_and_the_flags_of_python(run, by_hand, tmp_path):
    """Python restarts if the environment has another number of threads, or none."""
    run()
    seen = "[os.environ['OMP_NUM_THREADS'], sys.flags.optimize]"
    again = by_hand(body=f"import os, sys; job.resources['mem_mb'] = {seen}", flags=("-OO",))
    assert again.returncode == 0, again.stderr
    assert json.loads((tmp_path / APART).read_text())[2] == ["2", 2]


@pytest.mark.parametrize(
    "arguments", [[], ["one.txt"], ["one.json", "two.json"], ["results/logs/stage/gone.json"]]
)
def test_a_script_started_by_hand_without_the_json_says_what_to_do(run, arguments):
    failed = run(*arguments, within_snakemake=False)
    assert failed.returncode == 1
    (sentence,) = failed.stderr.splitlines()
    assert "stage.py runs inside Snakemake" in sentence
    assert "python workflow/scripts/stage.py results/logs/" in sentence


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"spec": {}}', "names no job"),
        ("[]", "names no job"),
        ('{"job": "training"}', "is of the job 'training'"),
        ('{"job": "measure", "log": "results/logs/one.log"}', "is of the job 'measure'"),
        ("{", "can't be read"),
    ],
)
def test_a_script_is_not_started_with_the_json_of_something_else(run, tmp_path, text, why):
    (tmp_path / "other.json").write_text(text)
    failed = run("other.json", within_snakemake=False)
    assert failed.returncode == 1
    (sentence,) = failed.stderr.splitlines()
    assert sentence.startswith(f"other.json {why}")


def test_a_job_repeated_by_hand_elsewhere_is_told_where_to_start(run, tmp_path):
    run()
    there = (tmp_path / LOG).with_suffix(".json")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    failed = run(str(there), within_snakemake=False, cwd=elsewhere)
    assert failed.returncode == 1
    (sentence,) = failed.stderr.splitlines()
    assert str(elsewhere) in sentence and "folder in which Snakemake ran" in sentence
    assert not list(elsewhere.iterdir())
