"""The last lines of a run: failed jobs and their causes, or its figures and what came out."""

import re

import pandas as pd

# Of the three trainings of the tiny study, known by what their ids contain, one is killed before it
# opens its log, one raises, and one fails at its first attempt only.
KILLED = """
import os
if "b40" in snakemake.output.weights:
    os.kill(os.getpid(), 9)
"""
RAISES = """
    first = Path("attempted")
    if "sgd0.05" in job.output.weights:
        raise ValueError("it broke" + chr(10) + "in two lines")
    elif not first.exists():
        first.touch()
        raise ValueError("once only")
"""
OLD = "2020-01-01 00:00:00,000 E training failed: ValueError: of an earlier run\n"


def test_a_run_ends_with_a_line_for_each_failed_job(tiny):
    planned = re.findall(r"Training (\S+)", tiny.snakemake("-n", "-p", "duality_fig3"))
    (raised,) = (run for run in planned if "sgd0.05" in run)
    (killed,) = (run for run in planned if "b40" in run)
    (once,) = {*planned} - {raised, killed}
    (tiny / log_of(killed)).parent.mkdir(parents=True)
    (tiny / log_of(killed)).write_text(OLD)
    tiny.edit("workflow/scripts/train.py", r"(with Job\(.*?:\n)", rf"{KILLED}\1{RAISES}")
    said = tiny.snakemake("duality_fig3", "--retries", "1", fails=True)
    lines = failures(said)
    assert sorted(lines) == sorted(map(log_of, [raised, killed]))
    assert lines[log_of(raised)] == f"{plain(raised)} failed: ValueError: it broke"
    assert lines[log_of(killed)].startswith(f"{plain(killed)} failed: ")
    assert "SIGKILL" in lines[log_of(killed)]
    assert "message: None" not in said
    # The other training and its measure are done; without the two there is no figure.
    assert (tiny / "results/runs" / once).exists()
    end = said.rpartition("failed: ")[2]
    assert "did not run: 3." in end
    assert f"workflow/scripts/train.py {log_of(raised).removesuffix('.log')}.json" in end
    (log, *_) = sorted((tiny / ".snakemake/log").iterdir(), reverse=True)
    assert failures(log.read_text()) == lines


def test_a_run_that_went_well_ends_with_its_figures_and_the_verdicts_on_their_claims(demo):
    (demo / "results/tiny/duality/fig3.png").unlink()
    planned = demo.snakemake("-n", "duality_fig3")
    said = demo.snakemake("duality_fig3")
    table = pd.read_csv(demo / "results/tiny/duality/fig3.claims.csv")
    counts = table["verdict"].value_counts()
    end = said[said.index("(100%) done") :]
    assert "results/tiny/duality/fig3.png" in end
    for sign, verdict in {"✓": "reproduced", "✗": "not reproduced", "?": "undecided"}.items():
        assert f"{sign} {counts.get(verdict, 0)} {verdict}" in end
    log = "results/logs/figures/tiny_duality_fig3.log"
    assert log in said and log not in planned, "a dry run says nothing new"


def test_several_figures_and_their_page_end_in_a_line_each(demo):
    for picture in demo.root.glob("results/tiny/duality/*.png"):
        picture.unlink()
    said = demo.snakemake("duality")
    assert "2 figures: results/tiny/duality\n" in said
    assert re.search(r"^Page: results/tiny/\S*scorecard\S*.html$", said, re.MULTILINE)
    claims = pd.concat(map(pd.read_csv, demo.root.glob("results/tiny/duality/*.claims.csv")))
    counted = re.findall(r"^(?:Claims|Questions of ours): .*", said, re.MULTILINE)
    assert sum(map(int, re.findall(r"\d+", "".join(counted)))) == len(claims) > 0


def test_quiet_runs_end_without_these_lines(demo):
    (demo / "results/tiny/duality/fig3.png").unlink()
    assert "fig3.png" not in demo.snakemake("duality_fig3", "-q")


def log_of(run):
    return f"results/logs/train/{run}.log"


def plain(run):
    """The rule and the id without its digest."""
    return f"train {run.rpartition('-')[0]}"


def failures(text):
    """What the lines on failed jobs say, by the log that they name."""
    found = re.findall(r"^(\S+ \S+ failed: .*) \(log: (\S+)\)$", text, re.MULTILINE)
    return {log: sentence for sentence, log in found if not sentence.startswith("flatlas")}
