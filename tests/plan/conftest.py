"""The plan of the small configuration, after a few changes."""

import pytest
from small_configuration import PRESET, STUDY, USER, changed, write

from flatlas.plan.plan import Plan
from flatlas.plan.resolve import resolve


@pytest.fixture
def plan_of(tmp_path):
    """Resolve the small configuration; each argument changes one file, by dotted or listed keys."""

    def resolved(study=None, preset=None, user=None) -> Plan:
        root = tmp_path / "config"
        write(root / "studies" / "flat.yaml", changed(STUDY, study))
        write(root / "presets" / "small.yaml", changed(PRESET, preset))
        return resolve(changed(USER, user), root)

    return resolved
