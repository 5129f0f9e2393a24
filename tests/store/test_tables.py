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
def test_a_table_comes_back_without_its_index_and_is_the_same_bytes_each_time(tmp_path, name):
    paths = [tmp_path / folder / name for folder in ("one", "two")]
    for path in paths:
        write_table(path, TABLE)
        found = read_table(path)
        pd.testing.assert_frame_equal(found, TABLE.reset_index(drop=True), check_exact=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_format_is_what_the_name_says(tmp_path):
    for name in NAMES:
        write_table(tmp_path / name, TABLE)
    assert pyarrow.parquet.read_table(tmp_path / "table.parquet").column_names == list(TABLE)
    first = (tmp_path / "table.csv").read_text().splitlines()[0]
    assert first == "seed,loss,converged,reason"


@pytest.mark.parametrize(
    ("name", "share"),
    [("table.csv", None), ("table.csv", 0.0)]
    + [("table.parquet", share) for share in (None, 0.0, 0.5, 0.99)],
)
def test_a_missing_empty_or_truncated_table_is_named_with_the_remedy(tmp_path, name, share):
    path = tmp_path / name
    if share is not None:
        write_table(path, TABLE)
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(FlatlasError, match=r"Delete it, and snakemake makes it again\.$") as raised:
        read_table(path)
    assert str(raised.value).startswith(f"{path} can't be read (")


@pytest.mark.parametrize("name", NAMES)
def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path, name):
    class Unwritable:
        def __str__(self):
            raise RuntimeError("no text")

    with pytest.raises(Exception, match=r"no text|Unwritable"):
        write_table(tmp_path / name, pd.DataFrame({"any": [1, Unwritable()]}))
    assert list(tmp_path.iterdir()) == []
