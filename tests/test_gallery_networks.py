"""The gallery of the atlas publishes its measure table, to compute coefficients from."""

import re
from pathlib import Path
from textwrap import dedent

import collect
import numpy as np
import pandas as pd
import pytest
from shipped import shipped, shipped_jobs

from flatlas.plan.networks import networks_job
from flatlas.plan.tables import NETWORKS
from flatlas.statistics.rank_correlation import tau
from flatlas.studies.atlas.quantities import QUANTITIES

ROOT = Path(__file__).resolve().parents[1]
NETS, REALIZATIONS = 40, 2


@pytest.fixture(scope="module")
def options():
    """The options of each measure in the shipped configuration."""
    return networks_job(shipped("laptop"), shipped_jobs("laptop")).spec["options"]


@pytest.fixture
def published(tmp_path, monkeypatch, options, provenance):
    """The folder in which `make gallery` publishes a made-up table."""
    monkeypatch.setattr(collect, "ROOT", tmp_path)
    file = tmp_path / "results/laptop/atlas/networks.parquet"
    file.parent.mkdir(parents=True)
    table = made_up(options)
    table.to_parquet(file, index=False)
    provenance(file.with_suffix(".json"), files=[file])
    folder = tmp_path / "docs/gallery/atlas"
    folder.mkdir(parents=True)
    collect._publish("laptop", folder)
    return folder


def made_up(options):
    """A table with every declared column, in which measures and gap are random."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({name: [0] * NETS for name in [*NETWORKS, *QUANTITIES]})
    for name in ("gap", *QUANTITIES):
        table[name] = rng.normal(size=NETS)
    table["trace_error"] = 0.25
    table["run"] = [f"run{number // REALIZATIONS}" for number in range(NETS)]
    table["seed"] = [number % REALIZATIONS for number in range(NETS)]
    table["study"] = np.where(np.arange(NETS) < NETS // 2, "atlas", "prior")
    table["at"] = np.where(np.arange(NETS) % 5 == 4, "met+100", "met")
    table.loc[3, "trace"] = np.nan
    table.attrs["options"] = options
    return table


def test_the_files_have_the_same_rows(published):
    exact = pd.read_parquet(published / "networks.parquet")
    rounded = pd.read_csv(published / "networks.csv")
    pd.testing.assert_frame_equal(exact, rounded, rtol=1e-8, check_dtype=False)


def test_the_dictionary_explains_each_column(published):
    text, _, how = (published / "networks.md").read_text().partition("## How")
    for name in (*NETWORKS, *QUANTITIES):
        (row,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", text, re.MULTILINE)
        assert len([cell for cell in row.split("|") if cell.strip()]) > 2, name
    (trace,) = re.findall(r"^\| `trace` \|.*$", text, re.MULTILINE)
    cells = [cell.strip() for cell in trace.split("|")]
    assert "nat/w²" in cells and cells.count("✓") == 1 and str(NETS - 1) in cells
    assert "| `sharpness` |" in how, "and says how each was taken"


def test_the_five_lines_on_the_page_give_the_coefficients_of_flatlas(published, python):
    page = (ROOT / "docs/atlas.md").read_text().partition("## The measure table")[2]
    (block,) = re.findall(r"\n\n((?: {4}.*\n)+)", page)
    lines = dedent(block)
    assert len(lines.splitlines()) == 5
    # With pandas and SciPy alone: the library is not on the path.
    printed = python(lines, folder=published.parents[2], PYTHONPATH="").split()
    nets = pd.read_parquet(published / "networks.parquet")
    met = nets[nets["at"] == "met"]
    for study, some in met.groupby("study"):
        place = printed.index(study)
        whole = np.zeros(len(some))
        ours = tau(some, "trace", "gap", whole, whole).value
        assert float(printed[place + 2]) == pytest.approx(ours, rel=1e-12)
        assert int(printed[place + 1]) == some["trace"].notna().sum()


def test_a_table_that_was_changed_is_not_published(published):
    file = published.parents[2] / "results/laptop/atlas/networks.parquet"
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(SystemExit, match=r"networks\.parquet"):
        collect._publish("laptop", published)
