"""The scorecards of all studies and of one: of every figure, or of those that are drawn."""

import pandas as pd

SCORECARD = "results/tiny/scorecard.csv"
OF_STUDY = "results/tiny/duality/scorecard.csv"
BOTH = {"scorecard": 1, "duality_scorecard": 1}
DRAWN_ONLY = ("--config", "complete=false")


def verdicts(checkout, file):
    """Each figure's verdicts."""
    rows = pd.read_csv(checkout / file)
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


def test_each_waits_for_every_figure_by_default(tiny):
    for target in BOTH:
        assert {"duality_fig3", "duality_s4", "train"} <= tiny.would_run(target).keys()
    assert tiny.would_run(*BOTH, *DRAWN_ONLY) == BOTH


def test_a_figure_without_its_pdf_is_missed(demo):
    demo.snakemake(*BOTH, *DRAWN_ONLY)
    assert demo.would_run(*BOTH, *DRAWN_ONLY) == {}
    (demo / "results/tiny/duality/s4.pdf").unlink()
    assert demo.would_run(*BOTH, *DRAWN_ONLY) == BOTH
    assert demo.would_run(*BOTH) == {"duality_s4": 1} | BOTH


def test_a_missing_figure_counts_as_not_run_and_is_not_made(demo):
    for kind in ("png", "claims.csv"):
        (demo / f"results/tiny/duality/s4.{kind}").unlink()
    before = verdicts(demo, OF_STUDY)
    demo.snakemake(*BOTH, *DRAWN_ONLY)
    for file in (SCORECARD, OF_STUDY):
        assert verdicts(demo, file) == before | {"s4": {"not run"}}
    assert not (demo / "results/tiny/duality/s4.png").exists()
    # With its study the scorecard of the study waits for the figures.
    demo.snakemake("duality", *DRAWN_ONLY)
    assert (demo / "results/tiny/duality/s4.png").exists()
    assert verdicts(demo, OF_STUDY) == before
    assert demo.would_run("scorecard", *DRAWN_ONLY) == {"scorecard": 1}
