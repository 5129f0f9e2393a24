"""The shipped configuration, and its plans with their jobs: of each preset once in a process."""

from functools import cache

import yaml
from declared import CONFIG

from flatlas.plan.jobs import jobs_of
from flatlas.plan.resolve import resolve

SHIPPED = yaml.safe_load((CONFIG / "config.yaml").read_text())


@cache
def shipped(preset):
    """The plan of the shipped configuration."""
    return resolve(SHIPPED | {"preset": preset}, CONFIG)


@cache
def shipped_jobs(preset):
    return jobs_of(shipped(preset))
