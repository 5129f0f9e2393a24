"""Tables in parquet and CSV: values, types and bytes."""

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest

from flatlas.errors import FlatlasError
from flatlas.store.tables import read_table, write_table

TABLE = pd.DataFrame(
    {
        "seed": [0, 1, 2],
        "loss": [1 / 3, np.nan, 5e-324],
        "converged": [True, False, True],
        "reason": ["rule met", "epochs, exhausted", 'a "quote" and ∇'],
    },
    index=[7, 8, 9],
)
NAMES = ["table.parquet", "table.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_comes_back_without_its_index(tmp_path, name):
    write_table(tmp_path / "deep" / name, TABLE)
    found = read_table(tmp_path / "deep" / name)
    pd.testing.assert_frame_equal(found, TABLE.reset_index(drop=True), check_exact=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_table_is_the_same_bytes(tmp_path, name):
    written = []
    for folder in ("one", "two"):
        write_table(tmp_path / folder / name, TABLE)
        written.append((tmp_path / folder / name).read_bytes())
    assert written[0] == written[1]


def test_the_format_is_what_the_name_says(tmp_path):
    for name in NAMES:
        write_table(tmp_path / name, TABLE)
    assert pyarrow.parquet.read_table(tmp_path / "table.parquet").column_names == list(TABLE)
    first = (tmp_path / "table.csv").read_text().splitlines()[0]
    assert first == "seed,loss,converged,reason"


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_table_is_named_with_the_remedy(tmp_path, share):
    path = tmp_path / "table.parquet"
    write_table(path, TABLE)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(FlatlasError) as raised:
        read_table(path)
    assert str(raised.value).startswith(f"{path} can't be read (")
    assert str(raised.value).endswith("Delete it, and snakemake makes it again.")


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_or_missing_file_is_named(tmp_path, name):
    path = tmp_path / name
    for _ in ("missing", "empty"):
        with pytest.raises(FlatlasError, match=rf"{name} can't be read"):
            read_table(path)
        path.touch()


@pytest.mark.parametrize("name", NAMES)
def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path, name):
    class Unwritable:
        def __str__(self):
            raise RuntimeError("no text")

    with pytest.raises(Exception, match=r"no text|Unwritable"):
        write_table(tmp_path / name, pd.DataFrame({"any": [1, Unwritable()]}))
    assert list(tmp_path.iterdir()) == []
