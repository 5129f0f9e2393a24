"""The numbers on the page of the user's networks, and with which ranges they are compared."""

import pandas as pd
import pytest
import yaml
from declared import CONFIG
from shipped import shipped, shipped_jobs

from flatlas.evidence.material import Material
from flatlas.plan.networks import networks_job
from flatlas.studies.my_model.numbers import (
    WEIGHTS,
    comparable,
    definition,
    measured,
    ranges,
    readable,
)

NET = {WEIGHTS: "a", "seed": 0, "run": "r", "sweep": "model"}
SHARPNESS = {"measure": "sharpness", "by": "corners", "box": 1e-4}
HESSIAN = {"measure": "hessian", "top": 50}


@pytest.fixture
def networks():
    """An atlas of two networks with these options, one of them at a second moment."""
    rows = [("a", 0, 1.0), ("a", 0, 90.0), ("b", 0, 3.0)]
    table = pd.DataFrame(rows, columns=["run", "seed", "trace"])
    table = table.assign(**dict.fromkeys(("sharpness", "first_order", "prior"), table["trace"]))
    table.attrs["options"] = {"sharpness": SHARPNESS, "hessian": HESSIAN}
    return table


def test_the_residual_of_the_largest_curvature_is_its_error_in_the_same_unit():
    columns = {"spectral_norm": 200.0, "spectral_norm_residual": 0.5, "converged": False}
    columns |= {"trace": 300.0, "trace_error": 7.0, "frobenius": 9.0, "frobenius_error": 1.0}
    found = measured(Material({"hessian_summary": pd.DataFrame([NET | columns])}))
    found = found.set_index("quantity")
    assert found.loc["spectral_norm", ["value", "error"]].tolist() == [200.0, 0.5]
    assert found.loc["trace", ["value", "error"]].tolist() == [300.0, 7.0]
    assert not found["settled"].any()


@pytest.mark.parametrize("change", [{"box": 1e-3}, {"by": "lbfgs"}])
def test_a_measure_with_other_options_is_not_compared_with_the_atlas(networks, change):
    options = {"sharpness": SHARPNESS, "hessian": HESSIAN | {"top": 20}}
    assert {*comparable(networks, options)} == {"sharpness", "first_order", "trace"}
    assert {*comparable(networks, options | {"sharpness": SHARPNESS | change})} == {"trace"}


def test_a_range_is_over_networks_not_over_moments(networks):
    found = ranges(comparable(networks, {"hessian": HESSIAN}))
    assert found.loc["trace"].to_dict() == {
        "networks": 2, "least": 1.0, "median": 2.0, "largest": 3.0
    }  # fmt: skip


def test_a_measure_that_the_atlas_did_not_take_has_no_range(networks):
    found = ranges(comparable(networks.assign(trace=float("nan")), {"hessian": HESSIAN}))
    assert found.empty


def test_the_shipped_sharpness_is_that_of_the_atlas():
    atlas = networks_job(shipped("laptop"), shipped_jobs("laptop")).spec["options"]["sharpness"]
    here = yaml.safe_load((CONFIG / "my_model.yaml").read_text())["measures"]["sharpness"]
    assert definition(here) == definition(atlas)


def test_readings_name_the_options_that_were_taken():
    found = readable({"sharpness": {"box": 0.25}, "duality": {"layer": "head"}})
    assert "0.25" in found["sharpness"].reading
    assert "head" in found["T_w"].reading
    assert "trace" not in found
