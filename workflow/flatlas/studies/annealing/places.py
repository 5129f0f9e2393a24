"""Points along a profile, known by their place on it: where they lie differs from net to net."""

from flatlas.evidence.material import Material


def placed(material: Material, table: str, profile: str = "rank") -> Material:
    """The material with a column `place` in a table of profiles, one a value of `profile`."""
    keys = ["sweep", "run", "seed", "at", profile]
    rows = material.tables[table].reindex(
        columns=list(dict.fromkeys([*material.tables[table].columns, *keys]))
    )
    numbered = rows.assign(place=rows.groupby(keys, dropna=False).cumcount())
    return Material({**material.tables, table: numbered})
