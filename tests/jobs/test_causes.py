"""Which jobs of a failed run have a known cause."""

import logging
from types import SimpleNamespace

from flatlas.jobs.messages import Messages


def test_of_a_group_only_the_members_with_a_known_cause_are_listed(tmp_path):
    """Even one whose cause reads like the sentence on an unknown one."""
    jobs = [job(number, tmp_path / f"{number}.log") for number in range(3)]
    alone = job(3, tmp_path / "3.log")
    messages = Messages([*jobs, alone])
    for one in (jobs[0], jobs[2]):
        failed = f"2020-01-01 00:00:00,000 E training failed: {CAUSES[one.jobid]}\n"
        (tmp_path / f"{one.jobid}.log").write_text(failed)
    for one in (*jobs, alone):
        messages.filter(error(one))
    lines = [*messages.failures(scheduler(Group(jobs), alone))]
    listed = [line for line in lines if "(log: " in line]
    assert len(listed) == 3
    for one in (jobs[0], jobs[2]):
        (line,) = [line for line in listed if str(one.log[0]) in line]
        assert CAUSES[one.jobid] in line
    assert any(str(alone.log[0]) in line for line in listed)


CAUSES = {0: "ValueError: it broke", 2: "ValueError: see what it printed above may say why"}


class Group(list):
    """A group of jobs, as Snakemake schedules it."""

    def is_group(self):
        return True

    def __hash__(self):
        return id(self)


def job(number, log):
    rule = SimpleNamespace(name=f"rule{number}", script="train.py")
    return SimpleNamespace(
        jobid=number, log=[str(log)], rule=rule, wildcards=[], is_group=lambda: False
    )


def error(one):
    record = logging.makeLogRecord({"msg": "failed"})
    record.__dict__ |= {
        "event": "job_error", "jobid": one.jobid, "log": one.log, "rule_msg": None
    }  # fmt: skip
    return record


def scheduler(*failed):
    return SimpleNamespace(failed=failed, remaining_jobs=[], running=[])
