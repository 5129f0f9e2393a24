"""Joins made-up tables of many nets, as `flatlas.evidence.material.gather` joins those of runs."""

import math

import numpy as np
import pandas as pd

from flatlas.evidence.material import Material

COLUMNS = (list, tuple, np.ndarray, pd.Series)


def material_of(nets):
    """The material of a figure from its nets: for each its point, and its tables by name."""
    parts = {}
    for point, tables in nets:
        for name, table in tables.items():
            parts.setdefault(name, []).append((point, table))
    return with_history({name: side_by_side(some) for name, some in parts.items()})


def with_history(tables):
    """The material of these tables; without a history, all nets have learnt their task."""
    outcomes = tables.get("outcomes")
    return Material(tables if outcomes is None else {"history": learnt(outcomes), **tables})


def learnt(outcomes):
    """The last row of the history of each net: it is right on nine of ten new images."""
    return outcomes.assign(test_error=0.1)


def side_by_side(parts):
    """A data frame of the rows of all parts, each with the values of its point.

    A part is a point and a table: columns by name (some may be one value for all rows), or a list
    of rows. To concatenate a data frame for each part would take fifty times as long.
    """
    return pd.DataFrame({name: series(values) for name, values in joined(parts).items()})


def series(values):
    """Keep None instead of NaN. A column without rows has floats."""
    if any(one is None for one in values):
        return pd.Series(values, dtype=object)
    return pd.Series(values, dtype=None if values else float)


def joined(parts):
    """The rows of all parts as columns."""
    parts = [(point, columns_of(table)) for point, table in parts]
    names = dict.fromkeys(name for point, columns in parts for name in (*columns, *point))
    whole = {name: [] for name in names}
    for point, columns in parts:
        rows = max(len(one) for one in columns.values() if isinstance(one, COLUMNS))
        for name, values in whole.items():
            if name in point:
                values.extend([point[name]] * rows)
            elif isinstance(one := columns.get(name, math.nan), COLUMNS):
                values.extend(one.tolist() if isinstance(one, np.ndarray | pd.Series) else one)
            else:
                values.extend([one] * rows)
    return whole


def without_rows(table):
    """The columns of a table, empty."""
    return {name: [] for name in columns_of(table)}


def columns_of(table):
    if isinstance(table, list):
        names = dict.fromkeys(name for row in table for name in row)
        return {name: [row.get(name, math.nan) for row in table] for name in names}
    return dict(table)
