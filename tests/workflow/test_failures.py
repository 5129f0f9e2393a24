"""A job that fails says why and where to read on, leaves nothing, and stops no other job."""

import re


def test_a_failing_job_names_cause_and_log_and_leaves_no_output(tiny):
    """The plan does not know how many images of a class there are."""
    tiny.set_study("runs", "base", "data", "per_class", value=1000)
    said = tiny.snakemake("all", fails=True)
    (sentence,) = {line for line in said.splitlines() if line.startswith("flatlas: ")}
    cause, log = re.fullmatch(
        r"flatlas: \w+ failed: (per_class is 1000.*) \(log: (results/logs/\S+\.log)\)", sentence
    ).groups()
    text = (tiny / log).read_text()
    assert "Traceback (most recent call last)" in text
    assert cause in text
    assert tiny.contents("runs/**/*") == tiny.contents("tiny/duality/*") == {}
    made = {f"tiny/dag.{kind}" for kind in ("pdf", "png", "json")}
    assert tiny.contents("tiny/dag.*").keys() == made
