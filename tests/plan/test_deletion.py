"""What a deletion lists: files and folders that exist, with the bytes that they free."""

import pytest

from flatlas.plan.deletion import readable_size, would_delete


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
