"""The scorecard of all studies: of every figure, or of those that are drawn."""

import pandas as pd

SCORECARD = "results/tiny/scorecard.csv"


def verdicts(checkout):
    """Each figure's verdicts."""
    rows = pd.read_csv(checkout / SCORECARD)
    return {name: set(claims["verdict"]) for name, claims in rows.groupby("figure")}


def test_it_has_every_claim_of_every_figure(finished):
    rows = pd.read_csv(finished / SCORECARD)
    for name in ("fig3", "s4"):
        claims = pd.read_csv(finished / f"results/tiny/duality/{name}.claims.csv")
        here = rows[rows["figure"] == name]
        assert list(here["claim"]) == list(claims["claim"])
        assert list(here["verdict"]) == list(claims["verdict"])
        assert set(here["picture"]) == {f"duality/{name}.png"}
        assert (finished / "results/tiny" / here["picture"].iloc[0]).is_file()
    assert set(rows["study"]) == {"duality"}
    assert set(rows["scale"]) == {"Tiny"}


def test_it_waits_for_every_figure_by_default(tiny):
    assert {"duality_fig3", "duality_s4", "train"} <= tiny.would_run("scorecard").keys()
    assert tiny.would_run("scorecard", "--config", "complete=false") == {"scorecard": 1}


def test_a_missing_figure_counts_as_not_run_and_is_not_made(demo):
    for kind in ("png", "claims.csv"):
        (demo / f"results/tiny/duality/s4.{kind}").unlink()
    drawn = verdicts(demo)["fig3"]
    demo.snakemake("scorecard", "--config", "complete=false")
    assert verdicts(demo) == {"fig3": drawn, "s4": {"not run"}}
    assert not (demo / "results/tiny/duality/s4.png").exists()
    demo.snakemake("duality_s4")
    assert demo.would_run("scorecard", "--config", "complete=false") == {"scorecard": 1}
