"""What a deletion lists: files and folders that exist, with the bytes that they free."""

import pytest

from flatlas.errors import FlatlasError
from flatlas.plan.deletion import delete, readable_size, would_delete


def test_sizes_are_of_all_files_below_and_links_count_as_themselves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").write_bytes(bytes(5_000_000))
    (tmp_path / "run" / "deep").mkdir(parents=True)
    (tmp_path / "run" / "weights").write_bytes(bytes(1500))
    (tmp_path / "run" / "deep" / "table").write_bytes(bytes(500))
    (tmp_path / "run" / "link").symlink_to("../elsewhere")
    (tmp_path / "fig3.csv").write_bytes(bytes(10))
    first, *lines = would_delete(["run", "gone", "fig3.csv"]).splitlines()
    assert "2 files and folders" in first
    assert [line.split() for line in lines] == [["2.0", "kB", "run"], ["10.0", "B", "fig3.csv"]]


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0.0 B"), (999, "999.0 B"), (1000, "1.0 kB"), (3.4e6, "3.4 MB"), (2e15, "2000.0 TB")],
)
def test_a_size_is_readable(size, said):
    assert readable_size(int(size)) == said


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The folder of results, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results/runs").mkdir(parents=True)
    return tmp_path / "results"


def test_deleting_a_link_keeps_what_it_points_to(results, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "weights").write_text("mine")
    (results / "runs/moved").symlink_to(elsewhere)
    (results / "runs/broken").symlink_to(tmp_path / "gone")
    (results / "runs/own").mkdir()
    (results / "runs/own/link").symlink_to(elsewhere)
    listed = [f"results/runs/{name}" for name in ("broken", "moved", "own", "absent")]
    assert [*delete(listed)] == listed[:3]
    assert [*(results / "runs").iterdir()] == []
    assert (elsewhere / "weights").read_text() == "mine"


@pytest.mark.parametrize("outside", ["results", "kept", "results/../kept", "results/runs/../.."])
def test_nothing_is_deleted_if_anything_lies_outside_the_results(results, tmp_path, outside):
    (tmp_path / "kept").mkdir()
    (results / "runs/a").mkdir()
    for path in (outside, str(tmp_path / outside)):
        with pytest.raises(FlatlasError, match=f"Nothing is deleted: {path} "):
            [*delete(["results/runs/a", path])]
    assert (results / "runs/a").is_dir() and (tmp_path / "kept").is_dir()
