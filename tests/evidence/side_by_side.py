"""Made-up tables of many nets as one, as `flatlas.evidence.material.gather` reads those of runs."""

import math

import numpy as np
import pandas as pd

COLUMNS = (list, tuple, np.ndarray, pd.Series)


def side_by_side(parts):
    """A data frame of the rows of all parts, each row with the values its part stands at.

    A part is what it stands at and its table: columns by name (of which some may be one value for
    all rows), or a list of rows. Column by column: a data frame for each part, and one assignment
    for each of its values, takes fifty times as long.
    """
    return pd.DataFrame({name: series(values) for name, values in joined(parts).items()})


def series(values):
    """None is no missing number and stays None; a column without rows could hold numbers."""
    if any(one is None for one in values):
        return pd.Series(values, dtype=object)
    return pd.Series(values, dtype=None if values else float)


def joined(parts):
    """The same as columns."""
    parts = [(stands, columns_of(table)) for stands, table in parts]
    names = dict.fromkeys(name for stands, columns in parts for name in (*columns, *stands))
    whole = {name: [] for name in names}
    for stands, columns in parts:
        rows = max(len(one) for one in columns.values() if isinstance(one, COLUMNS))
        for name, values in whole.items():
            if name in stands:
                values.extend([stands[name]] * rows)
            elif isinstance(one := columns.get(name, math.nan), COLUMNS):
                values.extend(one.tolist() if isinstance(one, np.ndarray | pd.Series) else one)
            else:
                values.extend([one] * rows)
    return whole


def without_rows(table):
    """The names of its columns."""
    return {name: [] for name in columns_of(table)}


def columns_of(table):
    if isinstance(table, list):
        names = dict.fromkeys(name for row in table for name in row)
        return {name: [row.get(name, math.nan) for row in table] for name in names}
    return dict(table)
