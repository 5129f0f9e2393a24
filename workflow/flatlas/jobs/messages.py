"""Additions to Snakemake's messages: each job's log, why a job failed, how the run ended."""

import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flatlas.errors import first_few

if TYPE_CHECKING:
    from snakemake.jobs import AbstractJob, Job
    from snakemake.scheduling.job_scheduler import JobScheduler

# A failure as a job logs it (job.py), with the first line of its cause. The rest is in the log.
FAILED = re.compile(r"^\S+ \S+ E .+? failed: (.*)", re.MULTILINE)
# A failed process as Python and Snakemake describe it.
ENDED = re.compile(r"died with .+|returned non-zero exit status \d+")
KILLED = ("SIGKILL", "status 137")
UNEXPLAINED = "its output above may give the reason"
# The extensions of pages and pictures.
SHOWN = (".html", ".png")


class Messages(logging.Filter):
    """Adds the log to the message that a job starts, and the cause to the message that it failed.

    It collects the causes (None if unknown) and how processes ended; `failures` lists them.
    """

    def __init__(self, jobs: Iterable["AbstractJob"]) -> None:
        """Take the jobs that the run will start, before it starts any."""
        super().__init__()
        logs = [log for job in single(jobs) for log in job.log]
        self.before = {file: _written(file) for log in logs for file in (log, _json_beside(log))}
        self.ended: dict[int | None, str] = {}
        self.processes: dict[int, str] = {}
        self.causes: dict[int, str | None] = {}
        # The cluster's own log, if any, of the last failure of a job whose log gives no cause.
        self.cluster_logs: dict[int, list[str]] = {}

    def is_new(self, log: str) -> bool:
        """Whether a job of this run, not of an earlier one, has written this log or its JSON."""
        return _written(log) not in (0, self.before.get(log))

    def filter(self, record: logging.LogRecord) -> bool:
        """Complete the message; no message is dropped."""
        message: dict[str, Any] = record.__dict__
        event = message.get("event")
        if event == "job_info" and message["rule_msg"] and message["log"]:
            message["rule_msg"] += f"\nLog: {message['log'][0]}"
        elif event == "error" and (ended := ENDED.search(record.getMessage())):
            # The next message of this thread says which job it was.
            self.ended[record.thread] = ended[0].rstrip(".")
        elif event == "group_error":
            # Messages of its jobs follow, without the cluster's log.
            for one in message["job_error_info"]:
                self.cluster_logs[one["jobid"]] = message["aux_logs"][:1]
        elif event == "job_error":
            job = message["jobid"]
            self.processes[job] = self._process(record.thread)
            self._note_cause(job, message["log"], message["rule_msg"])
            message["rule_msg"] = self._sentence_of(job)
        return True

    def _process(self, thread: int | None) -> str:
        """A sentence on how the process of the job that this thread reports ended."""
        ended = self.ended.pop(thread, "ended")
        killed = ", perhaps because memory ran out" if any(sign in ended for sign in KILLED) else ""
        return f"its process {ended}{killed}; {UNEXPLAINED}"

    def _note_cause(self, job: int, logs: list[str], reported: str | None) -> None:
        """Note the cause from the job's log, or else the cluster's report and the cluster's log.

        `logs` are the job's log and then the cluster's.
        """
        cause = cause_in(logs[0]) if logs and self.is_new(logs[0]) else None
        self.causes[job] = cause or reported or None
        if cause:
            self.cluster_logs.pop(job, None)
        elif logs[1:] or reported:
            self.cluster_logs[job] = logs[1:2]

    def _sentence_of(self, job: int) -> str:
        """The cause; else how the process ended, if Snakemake has reported the job at all."""
        return self.causes.get(job) or self.processes.get(job, UNEXPLAINED)

    def failures(self, scheduler: "JobScheduler") -> Iterator[str]:
        """The last lines of a run: one for each failed job, and what to do."""
        failed = sorted(self._failed(scheduler.failed), key=name_of)
        for job in failed:
            sentence = self._sentence_of(job.jobid).partition("\n")[0]
            log = next(iter(self.cluster_logs.get(job.jobid, [])), job.log[0])
            yield f"{name_of(job)} failed: {sentence} (log: {log})"
        running = {*single(scheduler.running)}
        # Snakemake counts the jobs of a running or failed group as remaining.
        waiting = {*scheduler.remaining_jobs} - running - {*single(scheduler.failed)}
        if not failed:
            to_do = len(waiting) + len(running)
            yield f"Stopped. Jobs left: {to_do}. The same command continues."
            return
        yield (
            f"Jobs that did not run: {len(waiting)}. Fix the cause and give the same command "
            "again: finished jobs are kept."
        )
        if old := shown_before(waiting):
            yield f"Made by an earlier run, not by this one: {first_few(old)}."
        script, again = Path(failed[0].rule.script).name, _json_beside(failed[0].log[0])
        # A job that was refused before it began has none.
        if self.is_new(again):
            yield (
                "To repeat a job by hand, such as the first: PYTHONPATH=workflow python "
                f"workflow/scripts/{script} {again}"
            )

    def _failed(self, jobs: Iterable["AbstractJob"]) -> Iterator["Job"]:
        """The failed jobs. A group fails as a whole: those with a cause, if any has one."""
        for job in jobs:
            members = list(single([job]))
            yield from [one for one in members if self.causes.get(one.jobid)] or members


def shown_before(waiting: Iterable["Job"]) -> list[str]:
    """Pages and pictures of the jobs that did not run, left by an earlier run."""
    files = (file for job in waiting for file in job.output)
    return sorted(file for file in files if Path(file).suffix in SHOWN and Path(file).exists())


def single(jobs: Iterable["AbstractJob"]) -> Iterator["Job"]:
    """The jobs, with each group split into its jobs."""
    for job in jobs:
        yield from job if job.is_group() else [job]


def name_of(job: "Job") -> str:
    """The rule and the readable part of an id, as in 'train mnist-400pc-dense30x30-sgd0.1-b25'."""
    return " ".join([job.rule.name, *(one.rpartition("-")[0] for one in job.wildcards)])


def cause_in(log: str) -> str | None:
    """The first line of the cause that a job's log gives for its failure, if it does."""
    causes = FAILED.findall(Path(log).read_text(errors="replace"))
    return causes[-1] if causes else None


def _json_beside(log: str) -> str:
    """The file from which the job of a log can be repeated."""
    return str(Path(log).with_suffix(".json"))


def _written(file: str) -> int:
    """When a file was last written; 0 if there is none."""
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0
