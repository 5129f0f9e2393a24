"""The provenance of a result, and the damage that its checksums reveal."""

import json
import os
import platform
import shutil

import numpy
import pandas
import pytest

from flatlas.errors import FlatlasError
from flatlas.store.arrays import write_arrays
from flatlas.store.json_files import read_json, write_json
from flatlas.store.provenance import damage, read_provenance, verify, write_provenance
from flatlas.store.tables import write_table

SPEC = {"lr": 0.1, "seeds": [0, 1]}


@pytest.fixture
def result(tmp_path):
    """A folder as a job leaves it."""
    folder = tmp_path / "result"
    write_arrays(folder / "weights.safetensors", {"w": numpy.arange(50.0)})
    write_table(folder / "history.parquet", pandas.DataFrame({"loss": [0.5, 0.25]}))
    write_table(folder / "outcomes.csv", pandas.DataFrame({"seed": [0, 1]}))
    write_provenance(
        folder / "provenance.json",
        files=sorted(folder.iterdir()),
        spec=SPEC,
        code="abc",
        seconds=1.23456,
        device="cpu",
        ended={1: (2.5, float("nan"))},
    )
    return folder


def test_provenance_has_the_spec_the_code_and_the_machine(result):
    found = read_provenance(result / "provenance.json")
    assert found["spec"] == SPEC
    assert found["code"] == "abc"
    assert found["wall_seconds"] == 1.235
    assert found["python"] == platform.python_version()
    assert found["device"] == "cpu"
    assert found["libraries"]["numpy"] == numpy.__version__
    assert found["libraries"]["pandas"] == pandas.__version__
    assert found["peak_memory_mib"] > 10


def test_an_intact_result_passes(result):
    verify(result.iterdir())


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
@pytest.mark.parametrize(
    "name", ["weights.safetensors", "history.parquet", "outcomes.csv", "provenance.json"]
)
def test_any_damage_is_found_and_the_folder_is_named(result, name, damage):
    path = result / name
    whole = path.read_bytes()
    half = len(whole) // 2
    for at in (0, half, len(whole) - 2):
        flipped = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
        path.write_bytes({"flip": flipped, "cut": whole[:at], "empty": b""}[damage])
        with pytest.raises(FlatlasError, match=f"{name} is damaged.*Delete the folder {result},"):
            verify([path])


def test_a_changed_number_in_the_provenance_is_found(result):
    path = result / "provenance.json"
    path.write_text(path.read_text().replace("1.235", "1.236"))
    with pytest.raises(FlatlasError, match="is damaged"):
        read_provenance(path)


def test_a_file_without_provenance_is_refused(result):
    (result / "provenance.json").unlink()
    with pytest.raises(FlatlasError, match=f"{result}/provenance.json is damaged"):
        verify([result / "outcomes.csv"])


def test_a_file_that_the_job_did_not_write_is_refused(result):
    shutil.copy(result / "outcomes.csv", result / "other.csv")
    with pytest.raises(FlatlasError, match=r"other\.csv is damaged"):
        verify([result / "other.csv"])


def test_a_damaged_link_names_where_it_leads(result, tmp_path):
    entry = (result / "outcomes.csv").rename(tmp_path / "entry.csv")
    os.symlink(entry, result / "outcomes.csv")
    verify([result / "outcomes.csv"])
    entry.write_text("seed\n0\n2\n")
    with pytest.raises(FlatlasError, match=f"a link to {entry},"):
        verify([result / "outcomes.csv"])


def test_figures_of_one_folder_have_a_provenance_each(tmp_path, provenance):
    for figure in ("fig1", "fig10"):
        files = [tmp_path / f"{figure}.csv", tmp_path / f"{figure}.claims.csv"]
        for file in files:
            file.write_text(f"of {file.name}")
        provenance(tmp_path / f"{figure}.json", files=files)
    verify(tmp_path.iterdir())
    (tmp_path / "fig1.claims.csv").write_text("changed")
    verify([tmp_path / "fig10.claims.csv"])
    with pytest.raises(FlatlasError, match=f"Delete {tmp_path}/fig1"):
        verify([tmp_path / "fig1.claims.csv"])


def test_json_is_readable_and_comes_back(tmp_path):
    path = tmp_path / "some.json"
    write_json(path, {"what": "σ_g", "values": [1, 2]})
    assert "σ_g" in path.read_text()
    assert len(path.read_text().splitlines()) > 4
    assert read_json(path) == json.loads(path.read_text()) == {"what": "σ_g", "values": [1, 2]}


@pytest.mark.parametrize("content", [b"", b'{"seeds": [0,', b"\xff\xfe{}"])
def test_json_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "some.json"
    path.write_bytes(content)
    with pytest.raises(FlatlasError, match=r"some\.json can't be read"):
        read_json(path)


def test_all_damage_is_listed_and_a_damaged_provenance_once(result, tmp_path):
    (result / "outcomes.csv").unlink()
    (result / "history.parquet").write_bytes(b"")
    files = [result / name for name in ("history.parquet", "outcomes.csv", "weights.safetensors")]
    assert [str(error).split(" ")[0] for error in damage(files)] == [str(one) for one in files[:2]]
    (result / "provenance.json").write_text("{}")
    (older,) = damage(files)
    assert "older flatlas" in str(older)
