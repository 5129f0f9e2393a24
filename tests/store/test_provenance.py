"""The provenance beside every result."""

import json
import platform

import numpy
import pandas

from flatlas.store.provenance import write_json, write_provenance


def test_provenance_says_what_was_asked_by_which_code_and_where(tmp_path):
    path = tmp_path / "provenance.json"
    spec = {"lr": 0.1, "seeds": [0, 1]}
    write_provenance(path, spec=spec, code="abc", seconds=1.23456, device="cpu", converged=2)
    found = json.loads(path.read_text())
    assert found["spec"] == spec
    assert found["code"] == "abc"
    assert found["wall_seconds"] == 1.235
    assert found["python"] == platform.python_version()
    assert (found["device"], found["converged"]) == ("cpu", 2)
    assert found["libraries"]["numpy"] == numpy.__version__
    assert found["libraries"]["pandas"] == pandas.__version__
    assert found["peak_memory_mib"] > 10


def test_json_is_readable(tmp_path):
    path = tmp_path / "some.json"
    write_json(path, {"what": "σ_g", "values": [1, 2]})
    assert "σ_g" in path.read_text()
    assert len(path.read_text().splitlines()) > 4
    assert json.loads(path.read_text()) == {"what": "σ_g", "values": [1, 2]}
