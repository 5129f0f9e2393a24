"""The measure table of the atlas: a row for each network and moment, and errors."""

import pandas as pd
import pytest
from atlas_worlds import STANDING, columns
from declared import ended
from side_by_side import material_of

from flatlas.plan.tables import NETWORK_SETTINGS, NETWORKS
from flatlas.store.tables import read_table, write_table
from flatlas.studies.atlas.networks import networks
from flatlas.studies.atlas.quantities import QUANTITIES, TABLES

TYPES = {name: column.type.__name__ for name, column in NETWORK_SETTINGS.items()}
LATER = STANDING | {"at": "met+40", "epoch": 100}
ERRORS = {
    "sharpness": {"residual": 0.5},
    "hessian": {"spectral_norm_residual": 2.0, "trace_error": 3.0, "frobenius_error": 4.0},
    "regret": {"regret_error": 5.0},
    "ball": {"regret_error": 6.0},
    "contrast": {"contrast_error": 7.0},
}


def net(run, sweep, x, later=()):
    """A network in a sweep, with every measure as x when its rule is met and at `later` moments."""
    parts = columns(x)
    for part, more in ERRORS.items():
        parts[part] = [row | more for row in parts[part]]
    outcome = {"train_error": 0.125, "test_error": 0.25 + x / 100, "test_loss": 1.5}
    outcome |= dict.fromkeys(("train_loss", "gradient_norm"), 0.5) | {"weight_norm": 2.0}
    parts["norms"] = [row | outcome for row in parts["norms"]]
    for part, rows in parts.items():
        if part != "valley":
            parts[part] = [*rows, *(row | at for row in rows for at in later)]
    tables = {TABLES[part]: rows for part, rows in parts.items()}
    return {"sweep": sweep, "run": run, "seed": 0}, tables | {"outcomes": ended(60)}


def table_of(*nets):
    settings = {point["run"]: {"optimizer.lr": 0.1, "batch": 8} for point, _ in nets}
    return networks(material_of(nets), "atlas", settings, TYPES)


@pytest.fixture(scope="module")
def table():
    return table_of(net("a", "rate", 1.0, later=[LATER]), net("b", "rate", 2.0))


def test_its_columns_are_those_that_are_declared(table):
    assert [*table][: len(NETWORKS)] == [*NETWORKS]
    assert {*QUANTITIES} <= {*table}


def test_each_network_has_a_row_for_each_moment(table):
    assert table[["run", "at", "epochs"]].values.tolist() == [
        ["a", "met", 60], ["a", "met+40", 100], ["b", "met", 60]
    ]  # fmt: skip
    assert table["pca_flatness"].notna().tolist() == [True, False, True], "measured once"


def test_a_network_of_two_sweeps_has_one_row_that_names_both():
    table = table_of(net("a", "rate", 1.0), net("a", "batch", 1.0), net("b", "batch", 2.0))
    assert table[["run", "axes"]].values.tolist() == [["a", "rate;batch"], ["b", "batch"]]


def test_a_network_that_met_no_rule_has_no_row():
    point, tables = net("lost", "rate", 9.0)
    lost = point, tables | {"outcomes": tables["outcomes"] | {"converged": False}}
    assert table_of(net("a", "rate", 1.0), lost)["run"].tolist() == ["a"]


def test_errors_are_in_the_unit_of_their_measure(table):
    row = table.iloc[2]
    assert row["gap"] == pytest.approx(0.27 - 0.125)
    errors = {"trace": 3, "spectral_norm": 2, "frobenius": 4, "regret": 5, "kl_regret": 6}
    for name, error in (errors | {"contrast": 7}).items():
        assert row[f"{name}_error"] == error, name
    # What the search lacks is half of the rise that it found.
    assert row["sharpness_error"] == 0.5 * row["sharpness"] == 1.0
    assert row["norm_sharpness_error"] == 0.5 * row["norm_sharpness"] == 4.0


def test_each_search_says_whether_it_converged(table):
    searched = {name for name, quantity in QUANTITIES.items() if quantity.searched}
    said = {name.removesuffix("_converged") for name in table if name.endswith("_converged")}
    assert said == searched
    assert table[[f"{name}_converged" for name in searched]].all(axis=None)


def test_settings_have_their_types_also_where_one_is_missing(table):
    kinds = {"optimizer.lr": "float64", "batch": "Int64", "optimizer.adaptive": "boolean"}
    assert table[[*kinds]].dtypes.astype(str).to_dict() == kinds
    assert table["optimizer.adaptive"].isna().all() and (table["batch"] == 8).all()


def test_runs_of_another_study_keep_its_name():
    point, tables = net("a", "rate", 1.0)
    table = table_of((point | {"of": "duality.alpha"}, tables), net("b", "rate", 2.0))
    assert table["study"].tolist() == ["atlas", "duality"]


def test_parquet_gives_back_the_table_and_how_it_was_measured(table, tmp_path):
    table = table.copy()
    table.attrs["options"] = {"hessian": {"measure": "hessian", "top": 20}}
    write_table(tmp_path / "networks.parquet", table)
    back = read_table(tmp_path / "networks.parquet")
    pd.testing.assert_frame_equal(back, table)
    assert back.attrs == table.attrs
