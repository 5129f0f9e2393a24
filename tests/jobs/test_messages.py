"""How the messages at the end of a run count the jobs of groups."""

from types import SimpleNamespace

from flatlas.jobs.messages import Messages


class Job(SimpleNamespace):
    """As much of one of Snakemake's jobs as the messages read."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__

    def is_group(self):
        return False


class Group(tuple):
    """A group, which is its jobs."""

    def is_group(self):
        return True


def job(number):
    rule = SimpleNamespace(name="train", script="scripts/train.py")
    return Job(jobid=number, rule=rule, wildcards=[f"run{number}-0123"], log=[f"{number}.log"])


def last_lines(running, failed, waiting):
    """What the run ends with, where Snakemake counts the jobs of all groups as remaining."""
    members = [one for group in (*running, *failed) for one in group]
    scheduler = SimpleNamespace(running=running, failed=failed, remaining_jobs=[*members, *waiting])
    return " ".join(Messages([]).failures(scheduler))


def test_jobs_of_a_running_or_failed_group_do_not_wait():
    jobs = [job(number) for number in range(6)]
    first, second, waiting = Group(jobs[:2]), Group(jobs[2:4]), jobs[4:]
    assert "Jobs left: 4." in last_lines([first], [], waiting)
    assert "Jobs that did not run: 2." in last_lines([first], [second], waiting)
