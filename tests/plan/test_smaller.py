"""What is smaller than the papers changes nothing else."""

from pathlib import Path

import yaml

from flatlas.plan.resolve import resolve
from flatlas.plan.trees import merged

CONFIG = Path(__file__).resolve().parents[2] / "config"
USER = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"preset": "paper"}


def test_the_smaller_study_prior_has_all_other_runs_of_the_paper():
    file = yaml.safe_load((CONFIG / "smaller" / "prior.yaml").read_text())
    paper, smaller = (resolve(user, CONFIG) for user in (USER, merged(USER, file)))
    assert paper.figures.keys() == smaller.figures.keys()
    gone = [run for name, run in paper.runs.items() if name not in smaller.runs]
    sizes = {run.samples.size for run in gone if run.net.family == "dense"}
    assert sizes == {1000, 3000, 5000, 7000, 9000}
    assert {run.net.family for run in gone} == {"dense", "resnet"}
    added = {run.net.family for name, run in smaller.runs.items() if name not in paper.runs}
    assert added == {"convolutional"}
