"""After a change, Snakemake remakes what depends on it, and nothing else.

It knows results by their parameters, and the fingerprint of a stage's code is one of them.
"""

import re
import shutil

import pandas as pd
from checkout import PAGES

EVERYTHING = {"source": 1, "subset": 1, "train": 3, "measure_duality": 3}
FIGURES = {"duality_fig3": 1, "duality_s4": 1, "duality_scorecard": 1} | PAGES
KINDS = ("pdf", "png", "csv", "json", "claims.csv")
LIBRARY = "workflow/flatlas"
SCORECARD = {"duality_scorecard": 1}
FIGURE = {"duality_fig3": 1} | SCORECARD
# One more statement at the beginning of the function that a stage calls.
STATEMENT = (r'(def (?:build|measure|draw)\(.*?""".*?"""\n)', r"\1    changed = True\n")


def test_everything_is_made_the_first_time(tiny):
    assert tiny.would_run() == EVERYTHING | FIGURES | {"dag": 1}


def test_every_result_has_its_provenance_and_every_figure_its_points(finished):
    for kind in ("data/sources", "data/subsets", "runs", "measures/duality"):
        folders = list((finished / f"results/{kind}").iterdir())
        assert folders
        assert all((folder / "provenance.json").is_file() for folder in folders)
        assert all(re.fullmatch(r".+-[0-9a-f]{12}", folder.name) for folder in folders)
    figures = {path.name for path in (finished / "results/tiny/duality").iterdir()}
    made = {f"{name}.{kind}" for name in ("fig3", "s4") for kind in KINDS}
    assert figures == made | {f"scorecard.{kind}" for kind in ("csv", "html", "json")}


def test_what_no_result_depends_on_reruns_nothing(demo):
    """Remarks everywhere, code that the study does not use, other places and requests."""
    modules = sorted((demo / LIBRARY).rglob("*.py"))
    assert len(modules) > 40
    for number, path in enumerate(modules):
        text = path.read_text()
        if number % 2:
            path.write_text(text.replace('"""', '"""Once upon a time.\n\n    ', 1))
        else:
            path.write_text(f"# A remark.\n{text}\n# Another.\n")
    for path in (*(demo / "workflow").glob("*/*.smk"), *(demo / "workflow/scripts").glob("*.py")):
        path.write_text(path.read_text() + "\n# A last remark.\n")
    unused = ("training/optimizers/adam", "data/sources/mnist", "nets/convolutional")
    for module in (*unused, "plan/graph", "jobs/progress"):
        demo.edit(f"{LIBRARY}/{module}.py", r"\Z", "\nCHANGED = True\n")
    demo.edit("config/config.yaml", r"data_root: \S+", "data_root: /elsewhere")
    demo.edit(f"{LIBRARY}/plan/requests.py", r"attempt \* jobs\[", "2 * attempt * jobs[")
    assert demo.would_run() == {}


def test_a_changed_value_of_a_sweep_trains_and_measures_one_run(demo):
    """Really run: the files of all other runs are untouched. The old value needs nothing."""
    runs = {path.name for path in (demo / "results/runs").iterdir()}
    before = stamps(demo)
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.07)
    expected = {"train": 1, "measure_duality": 1, "dag": 1} | FIGURES
    assert demo.would_run() == expected
    demo.snakemake("duality_fig3", "duality_s4")
    assert {path: stamp for path, stamp in stamps(demo).items() if path in before} == before
    (new,) = {path.name for path in (demo / "results/runs").iterdir()} - runs
    assert "sgd0.07" in new
    drawn = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    assert set(drawn["optimizer.lr"].dropna()) == {0.07, 0.1}
    assert demo.would_run("duality_fig3", "duality_s4") == {}
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.05)
    assert demo.would_run() == FIGURES


def test_added_realizations_are_trained_alone_and_drawn_with_the_others(demo):
    before, figure = stamps(demo), demo / "results/tiny/duality/fig3.csv"
    demo.set_study("realizations", value=[2, 1])
    assert demo.would_run() == {"subset": 1, "dag": 1} | RETRAINED
    demo.snakemake("duality_fig3")
    assert {path: stamp for path, stamp in stamps(demo).items() if path in before} == before
    pooled, grouped = pd.read_csv(figure), stamps(demo)
    demo.set_study("realizations", value=3)
    demo.snakemake("duality_fig3")
    assert len(stamps(demo)) > len(grouped)
    pd.testing.assert_frame_equal(pd.read_csv(figure), pooled)


def test_results_without_snakemakes_records_are_known_by_their_provenance(demo):
    """Copied without `.snakemake`, for example: what was made otherwise runs, and all pages."""
    shutil.rmtree(demo / ".snakemake")
    assert demo.would_run() == {"dag": 1} | SCORECARD | PAGES
    assert demo.would_run("--rerun-triggers", "mtime") == {}
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.07)
    assert demo.would_run() == {"train": 1, "measure_duality": 1, "dag": 1} | FIGURES
    demo.snakemake("duality_fig3")
    drawn = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    assert set(drawn["optimizer.lr"].dropna()) == {0.07, 0.1}
    assert demo.would_run("duality_fig3") == {}
    shutil.rmtree(demo / ".snakemake")
    demo.edit(f"{LIBRARY}/measures/duality.py", *STATEMENT)
    assert demo.would_run("duality_fig3") == {"measure_duality": 3, "duality_fig3": 1}


def stamps(checkout):
    """When each file was written that is data, a training or a measurement."""
    folders = ("data", "runs", "measures")
    files = [path for name in folders for path in (checkout / "results" / name).rglob("*.*")]
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


MEASURED = {"measure_duality": 3} | FIGURES
RETRAINED = {"train": 3} | MEASURED
# What is edited in which file of the library, and what that remakes.
CHANGES = [
    ("training/optimizers/sgd.py", *STATEMENT, RETRAINED),
    ("measures/duality.py", *STATEMENT, MEASURED),
    ("flatness/dual_weights.py", "ROUND_OFF = 1e-12", "ROUND_OFF = 2e-12", MEASURED),
    ("studies/duality/s4.py", *STATEMENT, {"duality_s4": 1} | SCORECARD | PAGES),
    ("studies/duality/s4.rst", r"\A.*\Z", "**Four.** Another text.\n", {"report": 1}),
    ("report/templates/style.css", r"\Z", "h1 { color: red; }\n", SCORECARD | PAGES),
]


def test_a_change_remakes_what_depends_on_it_and_nothing_else(demo):
    for file, old, new, remade in CHANGES:
        path = demo / LIBRARY / file
        before = path.read_text()
        demo.edit(f"{LIBRARY}/{file}", old, new)
        assert demo.would_run() == remade, file
        path.write_text(before)
    demo.set_study("realizations", value=3)
    assert demo.would_run() == {"subset": 1, "dag": 1} | RETRAINED


def test_every_file_of_a_figure_is_missed(demo):
    """Each file is deleted alone; the other figure has all of its files."""
    for kind in KINDS:
        file = demo / f"results/tiny/duality/fig3.{kind}"
        elsewhere = file.rename(demo / "elsewhere")
        assert demo.would_run() == FIGURE | PAGES, kind
        elsewhere.rename(file)


def test_a_figure_is_drawn_again_from_the_kept_tables_the_same_to_the_byte(demo):
    kept, figures = stamps(demo), "tiny/duality/*.[!j]*"
    before = demo.contents(figures)
    (demo / "results/tiny/duality/fig3.png").unlink()
    (demo / "results/tiny/duality/s4.csv").unlink()
    assert demo.would_run() == FIGURES
    demo.snakemake()
    assert demo.contents(figures) == before
    assert len(before) == 10
    assert stamps(demo) == kept
    assert demo.would_run() == {}


def test_a_deleted_measurement_is_taken_again_from_the_kept_weights(demo):
    """It is taken only if a figure needs it: Snakemake checks no inputs of finished files."""
    table = next((demo / "results/measures/duality").glob("*/summary.parquet"))
    before = table.read_bytes()
    table.unlink()
    assert demo.would_run() == {}
    (demo / "results/tiny/duality/s4.pdf").unlink()
    assert demo.would_run() == {"measure_duality": 1} | FIGURES
    demo.snakemake("--until", "measure_duality")
    assert table.read_bytes() == before
