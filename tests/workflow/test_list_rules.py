"""`--list-rules` says what each rule is: figures have their titles."""

import re

import yaml
from checkout import ROOT


def test_every_rule_says_what_it_is(pristine):
    lines = pristine.snakemake("--list-rules").splitlines()
    said = dict(
        found.groups() for line in lines if (found := re.fullmatch(r"(\w+) \((.+)\)", line))
    )
    listed = {line for line in lines if re.fullmatch(r"\w+", line)}
    assert listed == set(), "rules without a word"
    for path in (ROOT / "config" / "studies").glob("*.yaml"):
        study = yaml.safe_load(path.read_text())
        assert study["title"] in said[path.stem]
        for name, figure in study["figures"].items():
            assert said[f"{path.stem}_{name}"] == f"Figure: {figure['title']}"
    internal = {name for name, text in said.items() if text.startswith("Internal: ")}
    assert {"source", "subset", "train", "record", "kernel", "measure_duality"} <= internal
