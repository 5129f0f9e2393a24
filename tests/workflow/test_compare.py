"""compare holds two folders of results side by side, whatever made them."""


def test_two_trees_are_compared(demo):
    (demo / "results/tiny/scorecard.csv").rename(demo / "scorecard.csv")
    said = demo.snakemake("compare", "--config", "before=results/tiny", "after=.", fails=True)
    assert "there is no results/tiny/scorecard.csv" in said
    demo.snakemake("scorecard", "-f")
    said = demo.snakemake("compare", "--config", "before=results/tiny", "after=.")
    assert "all alike." in said
    assert (demo / "results/comparison.html").is_file()
    assert "needs two folders of results" in demo.snakemake("compare", fails=True)
