"""Checkouts whose jobs go to the cluster of the tests' own (tests/slurm/cluster.py)."""

import pytest
from checkout import copied, with_tiny_study
from on_cluster import OnCluster


@pytest.fixture
def tiny(tmp_path):
    """The tiny study of the workflow's tests: one run, one measure, one figure."""
    checkout = OnCluster(with_tiny_study(copied(tmp_path / "tiny")), tmp_path / "memory")
    checkout.keep_one_run()
    return checkout
