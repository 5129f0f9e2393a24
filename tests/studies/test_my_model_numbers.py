"""The numbers on the page of the user's networks."""

import pandas as pd

from flatlas.evidence.material import Material
from flatlas.studies.my_model.numbers import WEIGHTS, measured, readable

NET = {WEIGHTS: "a", "seed": 0, "run": "r", "sweep": "model"}


def test_the_residual_of_the_largest_curvature_is_its_error_in_the_same_unit():
    columns = {"spectral_norm": 200.0, "spectral_norm_residual": 0.5, "converged": False}
    columns |= {"trace": 300.0, "trace_error": 7.0, "frobenius": 9.0, "frobenius_error": 1.0}
    found = measured(Material({"hessian_summary": pd.DataFrame([NET | columns])}))
    found = found.set_index("quantity")
    assert found.loc["spectral_norm", ["value", "error"]].tolist() == [200.0, 0.5]
    assert found.loc["trace", ["value", "error"]].tolist() == [300.0, 7.0]
    assert not found["settled"].any()


def test_readings_name_the_options_that_were_taken():
    found = readable({"sharpness": {"box": 0.25}, "duality": {"layer": "head"}})
    assert "0.25" in found["sharpness"].reading
    assert "head" in found["T_w"].reading
    assert "trace" not in found
