"""The messages at the end of a run: which jobs failed, why, and how many are left."""

import logging
from types import SimpleNamespace

import pytest

from flatlas.jobs.messages import Messages

CAUSES = {0: "ValueError: it broke", 2: "ValueError: see its output above may give the reason"}


class Job(SimpleNamespace):
    """A job of Snakemake, as far as the messages read it."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def is_group(self):
        return False


class Group(tuple):
    """A group of jobs."""

    def is_group(self):
        return True


def job(number, folder="logs"):
    rule = SimpleNamespace(name="train", script="scripts/train.py")
    wildcards, log = [f"run{number}-0123"], [f"{folder}/{number}.log"]
    output = [f"{folder}/{number}.{kind}" for kind in ("html", "csv")]
    return Job(jobid=number, rule=rule, wildcards=wildcards, log=log, output=output)


def last_lines(messages, running, failed, waiting):
    """The last lines of a run; Snakemake counts the jobs of all groups as remaining."""
    members = [one for group in (*running, *failed) for one in group]
    scheduler = SimpleNamespace(running=running, failed=failed, remaining_jobs=[*members, *waiting])
    return [*messages.failures(scheduler)]


def test_jobs_of_a_running_or_failed_group_are_not_counted_as_waiting():
    jobs = [job(number) for number in range(6)]
    first, second, waiting = Group(jobs[:2]), Group(jobs[2:4]), jobs[4:]
    assert "Jobs left: 4." in " ".join(last_lines(Messages([]), [first], [], waiting))
    said = " ".join(last_lines(Messages([]), [first], [second], waiting))
    assert "Jobs that did not run: 2." in said


def test_a_failed_group_lists_its_members_with_a_known_cause(tmp_path):
    """Even if a cause contains the words for an unknown cause."""
    jobs = [job(number, tmp_path) for number in range(4)]
    messages = Messages(jobs)
    for number, cause in CAUSES.items():
        failed = f"2020-01-01 00:00:00,000 E training failed: {cause}\n"
        (tmp_path / f"{number}.log").write_text(failed)
    for one in jobs:
        messages.filter(error(one))
    groups = [Group(jobs[:3]), Group(jobs[3:])]
    listed = [line for line in last_lines(messages, [], groups, []) if "(log: " in line]
    assert len(listed) == 3
    for number, cause in CAUSES.items():
        (line,) = [line for line in listed if f"{number}.log" in line]
        assert cause in line
    assert any("3.log" in line for line in listed)


def test_pages_of_an_earlier_run_are_named(tmp_path):
    jobs = [job(number, tmp_path) for number in range(3)]
    for name in ("0.html", "1.html", "1.csv"):
        (tmp_path / name).touch()
    said = " ".join(last_lines(Messages(jobs), [], [Group(jobs[:1])], jobs[1:]))
    assert f": {tmp_path / '1.html'}." in said


@pytest.mark.parametrize("grouped", [False, True])
def test_a_job_that_says_nothing_is_listed_with_the_log_of_the_cluster(tmp_path, grouped):
    """SLURM writes there that a job took too much memory; the job's own log is empty."""
    jobs = [job(number, tmp_path) for number in range(2)]
    messages = Messages(jobs)
    (tmp_path / "0.log").touch()
    (tmp_path / "1.log").write_text("2020-01-01 00:00:00,000 E training failed: it broke\n")
    if grouped:
        messages.filter(group_error(jobs, "slurm/7.log"))
    for one in jobs:
        messages.filter(error(one, *([] if grouped else ["slurm/7.log"])))
    silent, explained, *_ = last_lines(messages, [], [Group([one]) for one in jobs], [])
    assert silent.endswith("(log: slurm/7.log)")
    assert explained.endswith(f"it broke (log: {tmp_path / '1.log'})")


@pytest.mark.parametrize("grouped", [False, True])
def test_the_log_of_an_earlier_attempt_is_not_that_of_a_refused_one(tmp_path, grouped):
    one = job(0, tmp_path)
    messages = Messages([one])
    for logs in (["slurm/7.log"], []):
        if grouped:
            messages.filter(group_error([one], *logs))
            messages.filter(error(one))
        else:
            messages.filter(error(one, *logs, said="cancelled or refused"))
    line, *_ = last_lines(messages, [], [Group([one])], [])
    assert line.endswith(f"(log: {one.log[0]})")


def error(one, *more_logs, said=None):
    """The record of a job's failure, as Snakemake logs it; a cluster adds its own log."""
    return record("job_error", jobid=one.jobid, log=[*one.log, *more_logs], rule_msg=said)


def group_error(jobs, *logs):
    """The record of a group's failure on a cluster, with the cluster's logs."""
    return record(
        "group_error", aux_logs=[*logs], job_error_info=[{"jobid": one.jobid} for one in jobs]
    )


def record(event, **facts):
    made = logging.makeLogRecord({"msg": "failed"})
    made.__dict__ |= {"event": event, **facts}
    return made
