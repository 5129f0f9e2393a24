"""A job that fails says why and where to read on, leaves nothing, and stops no other job."""

import re


def test_a_failing_job_names_cause_and_log_and_leaves_no_output(tiny):
    """No plan objects to this net, but its kernel is larger than the images."""
    stages = [{"channels": 2, "kernel": 9}]
    net = {"family": "convolutional", "stages": stages, "hidden": [12]}
    tiny.set_study("runs", "base", "net", value=net)
    said = tiny.snakemake("all", fails=True)
    sentences = {line for line in said.splitlines() if line.startswith("flatlas: ")}
    assert len(sentences) == 3
    for sentence in sentences:
        cause, log = re.fullmatch(
            r"flatlas: \w+ failed: (net\.stages\.0 .*) \(log: (results/logs/\S+\.log)\)", sentence
        ).groups()
        text = (tiny / log).read_text()
        assert "Traceback (most recent call last)" in text
        assert cause in text
    assert tiny.contents("runs/**/*") == tiny.contents("tiny/duality/*") == {}
    assert tiny.contents("tiny/dag.*").keys() == {"tiny/dag.pdf", "tiny/dag.png"}
