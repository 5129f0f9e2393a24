"""The tables of a figure: each row has its sweep, its run and its point of the sweep."""

import pandas as pd
import pytest

from flatlas.claims.nets import Nets, Sweep
from flatlas.errors import FlatlasError
from flatlas.evidence.material import gather
from flatlas.plan.points import LACKS
from flatlas.store.tables import write_table

POINTS = [
    {"sweep": "alpha", "run": "one", "optimizer.lr": 0.1},
    {"sweep": "alpha", "run": "two", "optimizer.lr": 0.2},
    {"sweep": "batch", "run": "one", "batch": 25},
]


@pytest.fixture
def files(tmp_path):
    """Two realizations of run `one`, which both sweeps share, and of run `two`."""
    converged = {"one": [True, True], "two": [True, False]}
    for run, met in converged.items():
        reason = ["rule met" if one else "diverged" for one in met]
        columns = {"seed": [0, 1], "reason": reason, "met_epoch": 3, "epoch": 3, "converged": met}
        write_table(tmp_path / f"{run}.csv", pd.DataFrame(columns))
        losses = {"seed": [0, 1], "loss": [len(run) + 0.5, 9.0 if run == "one" else 8.0]}
        write_table(tmp_path / f"{run}.parquet", pd.DataFrame(losses))
    runs = [point["run"] for point in POINTS]
    return {
        "outcomes": [str(tmp_path / f"{run}.csv") for run in runs],
        "history": [str(tmp_path / f"{run}.parquet") for run in runs],
    }


def test_each_file_gets_the_point_at_its_place(files):
    table = gather(files, POINTS).tables["history"]
    assert table["run"].tolist() == ["one", "one", "two", "two", "one", "one"]
    assert table["loss"].tolist() == [3.5, 9.0, 3.5, 8.0, 3.5, 9.0]
    assert table["optimizer.lr"].tolist()[:4] == [0.1, 0.1, 0.2, 0.2]
    assert table["batch"].tolist()[4:] == [25, 25]


def test_fewer_points_than_files_are_refused(files):
    with pytest.raises(ValueError, match="shorter"):
        gather(files, POINTS[:2])


def test_a_point_that_lacks_a_measure_has_no_file_of_it(files, tmp_path, provenance):
    points = [POINTS[0], POINTS[1] | {LACKS: ["norms_cost"]}, POINTS[2]]
    file = tmp_path / "provenance.json"
    provenance(file, seconds=5.0, training_seconds=80.0)
    tables = gather(files | {"norms_cost": [file] * 2}, points).tables
    assert tables["norms_cost"][["sweep", "run"]].to_numpy().tolist() == [
        ["alpha", "one"],
        ["batch", "one"],
    ]
    assert tables["norms_cost"]["seconds"].tolist() == [80.0, 80.0]
    assert tables["history"]["run"].tolist() == ["one", "one", "two", "two", "one", "one"]
    assert not any(LACKS in table for table in tables.values())


def test_each_row_has_the_whole_of_a_list_in_a_point(files):
    """Two layers and two realizations: not one layer for each realization."""
    wide = [point | {"net.hidden": [30, 20]} for point in POINTS]
    table = gather(files, wide).tables["history"]
    assert table["net.hidden"].tolist() == [(30, 20)] * 6
    assert table.groupby("net.hidden").size().to_dict() == {(30, 20): 6}


def test_a_table_keeps_its_own_column_if_a_point_has_the_same_key(files, tmp_path):
    """A point of a borrowed sweep has a key `of`, as the stars of `regret_slice` have."""
    stars = pd.DataFrame({"seed": [0, 0], "of": ["f1", "f2"]})
    write_table(tmp_path / "stars.parquet", stars)
    borrowed = [point | {"of": "prior.sgd"} for point in POINTS]
    tables = gather(files | {"stars": [str(tmp_path / "stars.parquet")] * 3}, borrowed).tables
    assert tables["stars"]["of"].tolist() == ["f1", "f2"] * 3
    assert tables["stars"]["optimizer.lr"].tolist()[:4] == [0.1, 0.1, 0.2, 0.2]
    assert set(tables["history"]["of"]) == {"prior.sgd"}


def test_a_table_without_rows_changes_no_values_of_the_others(files, tmp_path):
    """A measure writes such a table if every realization diverged."""
    write_table(tmp_path / "one.parquet", pd.DataFrame({"seed": pd.Series(dtype="int64")}))
    table = gather(files, POINTS).tables["history"]
    table = table[table["sweep"] == "alpha"]
    assert table["loss"].tolist() == [3.5, 8.0]
    assert table["optimizer.lr"].tolist() == [0.2, 0.2]
    assert table["optimizer.lr"].dtype == table["loss"].dtype == float


def test_measured_rows_are_those_at_the_end_and_say_whether_the_training_converged(files, tmp_path):
    """The measure was taken at two moments; its own search never converged."""
    for run in ("one", "two"):
        columns = {"seed": [0, 0, 1, 1], "at": ["10", "final"] * 2, "converged": False}
        table = pd.DataFrame(columns | {"loss": [4.0, 1.0, 8.0, 2.0]})
        write_table(tmp_path / f"{run}.parquet", table)
    moments = gather(files, POINTS)
    table = moments.measured("history", "alpha")
    assert table["loss"].tolist() == [1, 2, 1, 2]
    assert table["converged"].tolist() == [True, True, True, False]
    every = moments.measured("history", "batch", every_moment=True)
    assert every["loss"].tolist() == [4, 1, 8, 2]


def test_every_run_of_a_figure_says_how_it_ended(files):
    runs = gather(files, POINTS).realizations()
    assert runs.keys() == {"one", "two"}
    assert [one["reason"] for one in runs["two"]] == ["rule met", "diverged"]
    assert [one["seed"] for one in runs["one"]] == [0, 1]


def test_runs_that_lack_the_value_of_an_axis_are_refused(files):
    """Grouping by the value would lose the others without a word."""
    material = gather(files, [POINTS[0], {"sweep": "alpha", "run": "two"}, POINTS[2]])
    with pytest.raises(FlatlasError, match=r"'alpha' has runs without optimizer\.lr"):
        material.measured("history", "alpha", "optimizer.lr")
    with pytest.raises(FlatlasError, match=r"'alpha' has runs without optimizer\.lr"):
        Sweep(material, "alpha", along="optimizer.lr").values  # noqa: B018
    assert material.measured("history", "batch", "optimizer.lr")["optimizer.lr"].isna().all()


def test_two_runs_at_one_value_of_an_axis_are_refused(files):
    """A claim would count only one of them, while a figure would show the mean of both."""
    material = gather(files, [POINTS[0], POINTS[1] | {"optimizer.lr": 0.1}, POINTS[2]])
    with pytest.raises(FlatlasError, match=r"'alpha' has several runs with the same optimizer\.lr"):
        material.measured("history", "alpha", "optimizer.lr")
    with pytest.raises(FlatlasError, match=r"'alpha' has several runs with the same optimizer\.lr"):
        Sweep(material, "alpha", along="optimizer.lr").values  # noqa: B018


def test_a_claim_about_one_run_is_not_judged_by_the_first_of_several(files):
    material = gather(files, POINTS)
    assert Nets(material, "batch").read_of_run("outcomes", "met_epoch").tolist() == [3, 3]
    with pytest.raises(FlatlasError, match="'alpha' has 2 runs"):
        Nets(material, "alpha").read_of_run("outcomes", "met_epoch")
