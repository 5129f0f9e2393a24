"""The scorecards of all studies and of one: of every figure, or of those that are drawn."""

import pandas as pd
import pytest

SCORECARD = "results/tiny/scorecard.csv"


EACH = pytest.mark.parametrize(
    ("target", "file"),
    [("scorecard", SCORECARD), ("duality_scorecard", "results/tiny/duality/scorecard.csv")],
)


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


@EACH
def test_it_waits_for_every_figure_by_default(tiny, target, file):
    assert {"duality_fig3", "duality_s4", "train"} <= tiny.would_run(target).keys()
    assert tiny.would_run(target, "--config", "complete=false") == {target: 1}


@EACH
def test_a_figure_without_its_pdf_is_missed(demo, target, file):
    demo.snakemake(target, "--config", "complete=false")
    assert demo.would_run(target, "--config", "complete=false") == {}
    (demo / "results/tiny/duality/s4.pdf").unlink()
    assert demo.would_run(target, "--config", "complete=false") == {target: 1}
    assert demo.would_run(target) == {"duality_s4": 1, target: 1}


@EACH
def test_a_missing_figure_counts_as_not_run_and_is_not_made(demo, target, file):
    for kind in ("png", "claims.csv"):
        (demo / f"results/tiny/duality/s4.{kind}").unlink()
    before = verdicts(demo, file)
    demo.snakemake(target, "--config", "complete=false")
    assert verdicts(demo, file) == before | {"s4": {"not run"}}
    assert not (demo / "results/tiny/duality/s4.png").exists()
    # With its study it waits for the figures.
    demo.snakemake("duality", "--config", "complete=false")
    assert (demo / "results/tiny/duality/s4.png").exists()
    if target == "duality_scorecard":
        assert verdicts(demo, file) == before
    else:
        assert demo.would_run(target, "--config", "complete=false") == {target: 1}
