"""A job that fails says why and where to read on, leaves nothing, and stops nobody else."""

import re

import pytest

# A setting that no plan can object to, and the rule that finds it impossible.
IMPOSSIBLE = {
    "subset": (("data", "per_class"), 5000, r"per_class is 5000, but class \d of digits has only"),
    "train": (
        ("net",),
        {"family": "convolutional", "stages": [{"channels": 2, "kernel": 9}], "hidden": [12]},
        r"net\.stages\.0 leaves no pixel of an image of side 8",
    ),
}


@pytest.mark.parametrize("rule", IMPOSSIBLE)
def test_a_failing_job_names_cause_and_log_and_leaves_no_output(tiny, rule):
    keys, value, cause = IMPOSSIBLE[rule]
    tiny.set_study("runs", "base", *keys, value=value)
    said = tiny.snakemake("all", fails=True)
    sentences = {line for line in said.splitlines() if line.startswith("flatlas: ")}
    assert len(sentences) == {"subset": 1, "train": 3}[rule]
    for sentence in sentences:
        told = re.fullmatch(r"flatlas: \w+ failed: (.*) \(log: (results/logs/\S+\.log)\)", sentence)
        assert re.search(cause, told[1])
        log = (tiny / told[2]).read_text()
        assert "Traceback (most recent call last)" in log
        assert told[1] in log
    assert tiny.contents("runs/**/*") == tiny.contents("tiny/duality/*") == {}
    assert tiny.contents("tiny/dag.*").keys() == {"tiny/dag.pdf", "tiny/dag.png"}
