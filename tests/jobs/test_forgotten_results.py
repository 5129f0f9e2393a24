"""Results of a cluster's jobs that used code or settings edited after the command began."""

from types import SimpleNamespace

import pytest

from flatlas.jobs.edited_code import forget_edited_results
from flatlas.store.json_files import write_json

ASKED = {"spec": {"lr": 0.1}, "code": "0123"}


class Records(set):
    """Snakemake's records of results, as far as they are used."""

    def cleanup_metadata(self, file):
        self.remove(file)


class Output(dict):
    """The files of a job by name; Snakemake's list of them gives the files themselves."""

    def __iter__(self):
        return iter(self.values())


def left(job):
    """The records that a job keeps, and what is said of it."""
    records = Records(job.output)
    said = forget_edited_results(SimpleNamespace(finished_jobs=[job]), records)
    return records, said


@pytest.mark.parametrize("edit", [{}, {"spec": {"lr": 0.2}}, {"code": "4567"}])
def test_a_result_of_an_edited_spec_or_code_is_left_without_a_record(tmp_path, edit):
    output = Output(weights=f"{tmp_path}/weights", provenance=f"{tmp_path}/provenance.json")
    write_json(output["provenance"], ASKED | edit)
    job = SimpleNamespace(
        output=output, params=ASKED, rule=SimpleNamespace(name="train"), wildcards=["run-0123"]
    )
    records, said = left(job)
    assert records == (set() if edit else {*output.values()})
    assert ("train run" in said) if edit else said is None


def test_a_job_without_provenance_keeps_its_record(tmp_path):
    job = SimpleNamespace(output=Output(txt=f"{tmp_path}/costs.txt"), params={})
    assert left(job) == ({f"{tmp_path}/costs.txt"}, None)
