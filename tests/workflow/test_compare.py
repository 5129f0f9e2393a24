"""`compare` compares two folders of results, however they were made."""

import shutil


def test_two_trees_are_compared(demo):
    shutil.copy(demo / "results/tiny/scorecard.csv", demo / "scorecard.csv")
    said = demo.snakemake("compare", "--config", "before=results/tiny", "after=.")
    assert "all alike." in said
    assert (demo / "results/comparison.html").is_file()
    made = {file: file.read_bytes() for file in (demo / "results").glob("comparison.*")}
    (demo / "scorecard.csv").unlink()
    said = demo.snakemake("compare", "--config", "before=results/tiny", "after=.", fails=True)
    assert "there is no scorecard.csv" in said
    assert "needs two folders of results" in demo.snakemake("compare", fails=True)
    assert {file: file.read_bytes() for file in made} == made, "the earlier comparison is kept"
    assert len(made) == 2
    shutil.copy(demo / "results/tiny/scorecard.csv", demo / "scorecard.csv")
    chosen = ("before=.", "after=results/tiny/scorecard.csv")
    assert "all alike." in demo.snakemake("compare", "--config", *chosen)
