"""A job that fails says why and where to read on, leaves nothing, and stops no other job."""

import re

import yaml
from PIL import Image


def test_a_failing_job_names_cause_and_log_and_leaves_no_output(tiny, tmp_path):
    """The plan does not know how many images a folder has: one in each of two classes."""
    for place in ("train/cat", "train/dog", "test/cat", "test/dog"):
        (tmp_path / "pictures" / place).mkdir(parents=True)
        Image.new("L", (8, 8)).save(tmp_path / "pictures" / place / "0.png")
    config = tiny / "config/config.yaml"
    own = {"kind": "folder", "path": "pictures", "classes": 2, "channels": 1, "side": 8}
    settings = {"data_root": str(tmp_path), "sources": {"own": own}}
    config.write_text(yaml.safe_dump(yaml.safe_load(config.read_text()) | settings))
    data = {"source": "own", "per_class": 1000, "test_size": 2}
    tiny.set_study("runs", "base", "data", value=data)
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
