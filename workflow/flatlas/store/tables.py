"""Tables in parquet or CSV, by the extension of the file."""

from pathlib import Path

import pandas as pd

from flatlas.store.atomic import replacing
from flatlas.store.damage import unreadable


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table without its index."""
    with replacing(path) as temporary:
        if temporary.suffix == ".csv":
            table.to_csv(temporary, index=False)
        else:
            table.to_parquet(temporary, index=False)


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table that `write_table` wrote."""
    try:
        is_csv = Path(path).suffix == ".csv"
        return pd.read_csv(path) if is_csv else pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
