"""A data root that is wrong or broken: refused with the place that says it, before any job."""

import pytest


def test_a_data_root_is_checked_before_anything_runs(tiny, tmp_path):
    """Also in a dry run; a set that is missing will be downloaded."""
    tiny.set_study("runs", "base", "data", "source", value="mnist")
    assert tiny.would_run("duality", "--config", f"data_root={tmp_path}")["source"] == 1
    folder = tmp_path / "MNIST" / "raw"
    said = tiny.snakemake("-n", "duality", "--config", f"data_root={tmp_path}")
    assert sum("download" in line and str(folder) in line for line in said.splitlines()) == 1
    labels = folder / "train-labels-idx1-ubyte"
    labels.parent.mkdir(parents=True)
    labels.write_bytes(bytes(60_000))
    (tiny / "mine.yaml").write_text(f"data_root: {labels.parent}\n")
    for options, said in (
        (("--config", f"data_root={tmp_path}"), [f"{labels} is truncated"]),
        (
            ("-n", "--configfile", "mine.yaml"),
            [f"Set data_root={tmp_path}, which has it.", f"from {tiny / 'mine.yaml'}."],
        ),
    ):
        shown = tiny.snakemake("duality", *options, fails=True)
        assert all(part in shown for part in said), shown
        assert "Traceback" not in shown
        assert not (tiny / "results").exists()


@pytest.fixture
def nowhere(tiny):
    """Run a command, where the data root of all its data is missing."""
    tiny.set_study("runs", "base", "data", "source", value="mnist")
    return lambda *words, **more: tiny.snakemake(*words, "--config", "data_root=/nowhere", **more)


@pytest.mark.parametrize("words", [("scorecard",), ("-n", "--until", "source")])
def test_a_page_or_a_step_of_everything_needs_its_data(nowhere, words):
    said = nowhere(*words, fails=True)
    assert "/nowhere is not a folder" in said and "Traceback" not in said


@pytest.mark.parametrize("word", ["--unlock", "--list-rules", "clean_unused"])
def test_a_command_that_reads_no_data_needs_no_data_root(nowhere, word):
    assert "is not a folder" not in nowhere(word)
