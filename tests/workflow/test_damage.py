"""Damaged results: no figure is drawn from them, and `verify` lists them all."""

import os
import shutil

from checkout import Checkout
from damage import try_kinds

FIGURE = "duality_fig3"


def flip(path):
    """Change one bit in the middle of a file, which keeps its times, as a failing disk would."""
    times = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_no_figure_is_drawn_from_a_damaged_file(demo):
    demo.snakemake("verify")
    before = demo.contents("tiny/duality/fig3.[cp][sn][vg]")
    weights = next((demo / "results/runs").glob("*/weights.safetensors"))
    flip(weights)
    for path in (*(demo / "results/measures").glob("*/*"), demo / "results/tiny/duality/fig3.csv"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    said = demo.snakemake(FIGURE, fails=True)
    named = weights.relative_to(demo.root)
    assert f"{named} is damaged" in said
    assert not (demo / "results/tiny/duality/fig3.csv").exists()
    assert str(named) in demo.snakemake("verify", fails=True)

    shutil.rmtree(weights.parent)
    demo.snakemake(FIGURE)
    demo.snakemake("verify")
    assert demo.contents("tiny/duality/fig3.[cp][sn][vg]") == before


def test_verify_finds_all_damage_to_what_people_read(demo):
    names = ("fig3.png", "scorecard.csv", "s4.claims.csv")
    for name in names:
        flip(demo / "results/tiny/duality" / name)
    said = demo.snakemake("verify", fails=True)
    assert all(f"results/tiny/duality/{name} is damaged" in said for name in names)


def test_a_damaged_cache_entry_is_made_again_and_replaced(tiny, output_cache, tmp_path):
    tiny.keep_one_run()
    asked = ("--until", "train", "--cache")
    homes = [shutil.copytree(tiny.root, tmp_path / name) for name in ("one", "two", "three")]
    one, two, three = (Checkout(home, tiny.memory) for home in homes)
    one.snakemake(*asked, **output_cache)
    (entry,) = (tmp_path / "cache").glob("*_weights.safetensors")
    whole = entry.read_bytes()

    entry.write_bytes(whole[:1000])
    assert str(entry) in two.snakemake(*asked, **output_cache)
    assert entry.read_bytes() == whole
    three.snakemake(*asked, **output_cache)
    (log,) = (three / "results/logs/train").glob("*.log")
    assert not log.read_text(), "taken from the cache, so nothing ran"


def test_no_random_damage_passes_for_intact(finished, tmp_path):
    """A few of the faults that `python tests/faults` tries by the thousand."""
    results = shutil.copytree(finished / "results", tmp_path / "results")
    rows = list(try_kinds(results, tmp_path, trials=200, seed=1))
    assert len(rows) > 15
    assert [row for row in rows if set(row) != {"kind", "tried", "found"}] == []
