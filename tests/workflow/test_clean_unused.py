"""`clean_unused` deletes what no preset needs with the settings as they are, and nothing else."""

from checkout import TINY


def test_results_of_earlier_settings_are_listed_and_deleted(demo):
    (demo / "config/presets/twin.yaml").write_text(
        "title: Twin\nstudies: {duality: {sweeps: {batch: {grid: {batch: [20, 40]}}}}}\n"
    )
    foreign = [
        demo / "results/runs/mine/notes.txt",
        demo / "results/downloads/MNIST/raw/a-0123456789ab",
    ]
    for path in foreign:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    demo.set_study("sweeps", "batch", "grid", "batch", value=[20, 50])
    assert "clean_unused: nothing" in demo.snakemake("-n", "clean_unused"), "twin needs the run"
    (demo / "config/presets/twin.yaml").unlink()
    demo.set_study("figures", value={"fig3": TINY["figures"]["fig3"]})
    before = demo.contents("**/*")
    listed = demo.snakemake("-n", "clean_unused")
    assert demo.contents("**/*") == before
    said = demo.snakemake("clean_unused")
    after = demo.contents("**/*").keys()
    deleted = {name for name in before.keys() - after if not name.startswith("logs/")}
    assert {name.split("/")[0] for name in deleted} == {"runs", "measures", "tiny"}
    assert {name for name in deleted if name.startswith("runs/")} == {
        name for name in before if name.startswith("runs/") and "-b40-" in name
    }
    for name in deleted:
        assert any(
            f"  results/{part}" in listed and f"  results/{part}" in said
            for part in (name, name.rpartition("/")[0])
        )
    assert all(path.read_text() == "mine" for path in foreign)
    assert demo.would_run("duality_fig3")["train"] == 1
