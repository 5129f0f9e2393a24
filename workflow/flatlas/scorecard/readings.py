"""Tables as arrays with the realizations on the first axis, as statistics want them.

A realization whose training met no stopping rule is no solution: it stands as NaN.
"""

import numpy as np
import pandas as pd

from flatlas.store.material import Material


def by_value(material: Material, name: str, column: str, sweep: str, key: str) -> np.ndarray:
    """A quantity of each net of a sweep (realizations, values), the values of `key` ascending."""
    table = material.measured(name, [column], sweep)
    return _solutions(table, column).pivot_table(
        index="seed", columns=key, values=column, dropna=False
    ).to_numpy()


def spectra(material: Material, name: str, column: str, sweep: str, key: str) -> np.ndarray:
    """A quantity of each direction (realizations, values, directions), directions by rank n."""
    table = material.measured(name, ["n", column], sweep)
    wide = _solutions(table, column).pivot_table(
        index="seed", columns=[key, "n"], values=column, dropna=False
    )
    values, directions = wide.columns.levshape
    return wide.to_numpy().reshape(len(wide), values, directions)


def _solutions(table: pd.DataFrame, column: str) -> pd.DataFrame:
    return table.assign(**{column: table[column].where(table["converged"])})
