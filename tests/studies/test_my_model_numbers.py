"""The numbers on the page of the user's networks, and with which ranges they are compared."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from flatlas.evidence.material import Material
from flatlas.studies.my_model.numbers import (
    WEIGHTS,
    comparable,
    definition,
    measured,
    readable,
)

CONFIG = Path(__file__).resolve().parents[2] / "config"
NET = {WEIGHTS: "a", "seed": 0, "run": "r", "sweep": "model"}
SHARPNESS = {"by": "corners", "box": 1e-4}
HESSIAN = {"top": 50}


@pytest.fixture
def ranges():
    """Of an atlas with these options."""
    rows = [
        ("sharpness", definition("sharpness", SHARPNESS), 149, 1.0, 2.0, 3.0),
        ("first_order", definition("sharpness", SHARPNESS), 149, 1.0, 2.0, 3.0),
        ("trace", definition("hessian", HESSIAN), 149, 1.0, 2.0, 3.0),
        ("prior", "", 149, 1.0, 2.0, 3.0),
    ]
    names = ["measure", "definition", "networks", "least", "median", "largest"]
    return pd.DataFrame(rows, columns=names)


def test_the_residual_of_the_largest_curvature_is_its_error_in_the_same_unit():
    columns = {"spectral_norm": 200.0, "spectral_norm_residual": 0.5, "converged": False}
    columns |= {"trace": 300.0, "trace_error": 7.0, "frobenius": 9.0, "frobenius_error": 1.0}
    found = measured(Material({"hessian_summary": pd.DataFrame([NET | columns])}))
    found = found.set_index("quantity")
    assert found.loc["spectral_norm", ["value", "error"]].tolist() == [200.0, 0.5]
    assert found.loc["trace", ["value", "error"]].tolist() == [300.0, 7.0]
    assert not found["settled"].any()


@pytest.mark.parametrize("change", [{"box": 1e-3}, {"by": "lbfgs"}])
def test_a_measure_with_other_options_is_not_compared_with_the_atlas(ranges, change):
    options = {"sharpness": SHARPNESS, "hessian": {"top": 20}}
    assert {*comparable(ranges, options).index} == {"sharpness", "first_order", "trace"}
    assert {*comparable(ranges, options | {"sharpness": SHARPNESS | change}).index} == {"trace"}


def test_the_shipped_sharpness_is_that_of_the_atlas():
    def measures(file):
        return yaml.safe_load((CONFIG / file).read_text())["measures"]

    study, _, name = measures("studies/atlas.yaml")["sharpness"]["borrowed"].partition(".")
    of_atlas = measures(f"studies/{study}.yaml")[name]
    here = measures("my_model.yaml")["sharpness"]
    assert definition("sharpness", here) == definition("sharpness", of_atlas)


def test_without_published_ranges_nothing_is_compared(ranges):
    nothing = pd.DataFrame(columns=[*ranges])
    assert comparable(nothing, {"sharpness": SHARPNESS}).empty


def test_readings_name_the_options_that_were_taken():
    found = readable({"sharpness": {"box": 0.25}, "duality": {"layer": "head"}})
    assert "0.25" in found["sharpness"].reading
    assert "head" in found["T_w"].reading
    assert "trace" not in found
