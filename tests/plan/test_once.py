"""Our replacements of functions of Snakemake return the same values."""

import functools
import inspect

import pytest
import snakemake.api  # noqa: F401  (first: its parts import one another)
from snakemake import common, io
from snakemake.resources import Resource

from flatlas.plan import once


@pytest.fixture
def snakemake_as_it_was(monkeypatch):
    """Restore afterwards what `work_out_once` replaces."""
    from snakemake import dag, jobs, output_index, rules

    for module in (io, io.fmt, jobs, rules, dag):
        monkeypatch.setattr(module, "is_flagged", module.is_flagged)
    for module in (common, rules):
        monkeypatch.setattr(module, "get_function_params", common.get_function_params)
    for owner, name in (
        (dag.ScriptProcessor, "process_job"),
        (output_index.OutputIndex, "match_producers"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))


def of_wildcards(wildcards, attempt=1):
    return wildcards


FUNCTIONS = {
    "function": of_wildcards,
    "lambda": lambda wildcards, threads: wildcards,
    "partial": functools.partial(of_wildcards, attempt=2),
    "method": Resource("mem_mb", of_wildcards).evaluate,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_has_the_parameters_of_its_signature(snakemake_as_it_was, function):
    once.work_out_once()
    for _ in range(2):
        assert common.get_function_params(function) == inspect.signature(function).parameters


@pytest.mark.parametrize(
    "file",
    ["a.txt", io.temp("a.txt"), io.protected("a.txt"), io.AnnotatedString(of_wildcards)],
    ids=["plain", "temporary", "protected", "function"],
)
def test_a_file_has_the_flags_that_snakemake_sees(snakemake_as_it_was, file):
    flags = ("temp", "protected", "pipe", "storage_object")
    before = [io.is_flagged(one, flag) for one in (file, io.IOFile(file)) for flag in flags]
    once.work_out_once()
    assert [io.is_flagged(one, flag) for one in (file, io.IOFile(file)) for flag in flags] == before
