"""`clean_<study>` deletes what only this study needs, and it can be made again."""

import yaml


def test_results_that_another_study_needs_stay(demo):
    study = yaml.safe_load((demo / "config/studies/duality.yaml").read_text())
    other = study | {"figures": {"fig1": {"title": "Shared", "sweeps": ["alpha"], "claims": False}}}
    (demo / "config/studies/prior.yaml").write_text(yaml.safe_dump(other))
    (demo / "workflow/flatlas/studies/prior/fig1.py").write_text("def draw(material):\n    ...\n")
    runs = {path.name for path in (demo / "results/runs").iterdir()}
    before = demo.contents("**/*.parquet")
    listed = demo.snakemake("-n", "clean_duality")
    assert demo.contents("**/*.parquet") == before
    said = demo.snakemake("clean_duality")
    assert all(f"  results/runs/{name}\n" in listed + said for name in runs if "-b20-" not in name)
    left = {path.name for path in (demo / "results/runs").iterdir()}
    assert len(runs) == 3
    assert {name for name in runs if "-b20-" in name} == left, "those of the sweep alpha"
    assert not (demo / "results/tiny/duality").exists()
    assert not list(demo.contents("measures/duality/*/*"))
    assert "Kept 4 that another study or scale needs" in said
    assert demo.would_run("duality")["train"] == 1
