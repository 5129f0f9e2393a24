"""Results of a cluster's jobs that used code or settings edited after the command began."""

import asyncio
from types import SimpleNamespace

import pytest

from flatlas.jobs.edited_code import forget_edited_results
from flatlas.store.json_files import write_json

ASKED = {"spec": {"lr": 0.1}, "code": "0123"}


class Records:
    """Snakemake's records of results, as far as they are used."""

    def __init__(self):
        self.kept = set()

    async def finished(self, job):
        self.kept |= {*job.output.values()}

    def cleanup_metadata(self, file):
        self.kept.remove(file)


class Output(dict):
    """The files of a job by name; Snakemake's list of them gives the files themselves."""

    def __iter__(self):
        return iter(self.values())


@pytest.mark.parametrize("edit", [{}, {"spec": {"lr": 0.2}}, {"code": "4567"}])
def test_a_result_of_an_edited_spec_or_code_is_left_without_a_record(tmp_path, edit):
    output = Output(weights=f"{tmp_path}/weights", provenance=f"{tmp_path}/provenance.json")
    write_json(output["provenance"], ASKED | edit)
    job = SimpleNamespace(
        output=output, params=ASKED, rule=SimpleNamespace(name="train"), wildcards=["run-0123"]
    )
    records = Records()
    edited = forget_edited_results(records)
    asyncio.run(records.finished(job))
    assert edited == (["train run"] if edit else [])
    assert records.kept == (set() if edit else {*output.values()})


def test_a_job_without_provenance_is_recorded(tmp_path):
    job = SimpleNamespace(output=Output(txt=f"{tmp_path}/costs.txt"), params={})
    records = Records()
    edited = forget_edited_results(records)
    asyncio.run(records.finished(job))
    assert (edited, records.kept) == ([], {f"{tmp_path}/costs.txt"})
