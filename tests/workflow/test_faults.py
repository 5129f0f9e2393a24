"""A few of the random faults that `python tests/faults` tries by the thousand."""

import shutil

from damage import try_kinds


def test_no_damage_passes_for_intact(finished, tmp_path):
    results = shutil.copytree(finished / "results", tmp_path / "results")
    rows = list(try_kinds(results, tmp_path, trials=200, seed=1))
    assert len(rows) > 15
    assert [row for row in rows if set(row) != {"kind", "tried", "found"}] == []
