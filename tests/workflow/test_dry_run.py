"""A dry run ends with a short table: what would run, why, and how long it may take."""

import re
from base64 import urlsafe_b64encode


def rows(said):
    """The lines of the table as stage, study, number of jobs, and the reason."""
    row = re.compile(
        r"^(\w+) +(\w*) +(\d+)  +(?:–|[\d.]+ \w+)(?: \+ \d+ unknown)?  (.+)$", re.MULTILINE
    )
    return {(stage, study): (int(jobs), why) for stage, study, jobs, why in row.findall(said)}


def test_everything_is_to_be_made(tiny):
    said = tiny.snakemake("-n", "duality_fig3")
    new = "not made yet"
    assert rows(said) == {
        ("data", "duality"): (2, new),
        ("train", "duality"): (3, new),
        ("measure", "duality"): (3, new),
        ("figures", "duality"): (1, new),
    }
    assert "Reason:" not in said
    assert max(map(len, said.splitlines())) < 200
    assert "Reason:" in tiny.snakemake("-n", "-p", "duality_fig3")
    assert not (tiny / "results").exists()


def test_what_changed_is_named(demo):
    before = demo.contents("tiny/**/*")
    demo.change_function("workflow/flatlas/measures/duality.py", "measure")
    assert rows(demo.snakemake("-n", "duality_fig3")) == {
        ("measure", "duality"): (3, "changed code: flatlas.measures.duality"),
        ("figures", "duality"): (1, "reads new results"),
    }
    demo.set_study("sweeps", "batch", "grid", "batch", value=[20])
    demo.edit("workflow/flatlas/measures/duality.py", "    changed = True\n", "")
    assert rows(demo.snakemake("-n", "duality_fig3")) == {("figures", "duality"): (1, "other runs")}
    options = "workflow/flatlas/plan/measurements/duality.py"
    demo.edit(options, r'= "steepest"\n', "= 3\n")
    said = rows(demo.snakemake("-n", "duality_fig3"))
    assert said["measure", "duality"] == (2, "changed settings: options.sharp")
    demo.edit(options, r"steepest\"\] = 3\n", 'steepest"] = "steepest"\n')
    assert demo.contents("tiny/**/*") == before
    demo.only("tiny/duality/fig3.csv").unlink()
    said = rows(demo.snakemake("-n", "duality_fig3"))
    assert said == {("figures", "duality"): (1, "missing: fig3.csv")}


def test_an_interrupted_job_is_not_called_forced(demo):
    """With a mark as a killed Snakemake leaves it."""
    figure = "results/tiny/duality/fig3.csv"
    mark = demo / ".snakemake/incomplete" / urlsafe_b64encode(figure.encode()).decode()
    mark.parent.mkdir(exist_ok=True)
    mark.touch()
    said = rows(demo.snakemake("-n", "--rerun-incomplete", "duality_fig3"))
    assert said == {("figures", "duality"): (1, "was interrupted")}
