"""The gallery of the atlas publishes the range of each measure."""

import importlib.util
from pathlib import Path

import pandas as pd

from flatlas.plan.tables import RANGES

COLLECT = Path(__file__).resolve().parents[1] / "docs" / "gallery" / "collect.py"


def test_ranges_are_those_over_the_networks_that_have_a_measure(tmp_path):
    spec = importlib.util.spec_from_file_location("collect", COLLECT)
    collect = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(collect)
    points = pd.DataFrame(
        {"study": "prior", "run": list("abc"), "seed": 0, "trace": [3.0, 1.0, 9.0]}
    )
    points.assign(sharpness=[0.5, None, 0.25]).to_csv(tmp_path / "fig4.csv", index=False)
    options = {"sharpness": {"by": "corners", "box": 0.5}, "hessian": {}}
    found = collect.ranges(tmp_path / "fig4.csv", options)
    assert [*found] == [*RANGES]
    found = found.set_index("measure")
    assert found.pop("definition").to_dict() == {
        "sharpness": "sharpness, by corners, box 0.5",
        "trace": "hessian",
    }
    assert found.loc["trace"].tolist() == [3, 1.0, 3.0, 9.0]
    assert found.loc["sharpness"].tolist() == [2, 0.25, 0.375, 0.5]
    assert [*found.index] == ["sharpness", "trace"], "quantities only"
