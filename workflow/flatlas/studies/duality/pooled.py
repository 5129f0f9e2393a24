"""The nets of several sweeps, for claims about all of them."""

from collections.abc import Iterable

from flatlas.claims.nets import Nets
from flatlas.evidence.material import Material


def pooled_nets(material: Material, names: Iterable[str]) -> Nets:
    """The nets of the named sweeps, in the realizations that all of their runs have.

    A run with more realizations than others would count for more.
    """
    kept = {*names}
    outcomes = material.tables["outcomes"]
    runs = outcomes[outcomes["sweep"].isin(kept)].groupby("run")["seed"]
    shared = set.intersection(*({*seeds} for _, seeds in runs)) if len(runs) else set()
    tables = {
        name: table[table["sweep"].isin(kept) & table["seed"].isin(shared)]
        for name, table in material.tables.items()
    }
    return Nets(Material(tables))
