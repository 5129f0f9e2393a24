"""After a change, what depends on it is made again, and nothing else.

Snakemake itself says what there is to do: it knows results by their parameters, and the
fingerprint of a stage's code is one of them.
"""

import re

import pandas as pd
from checkout import PAGES

EVERYTHING = {"source": 1, "subset": 1, "train": 3, "measure_duality": 3}
FIGURES = {"duality_fig3": 1, "duality_s4": 1, "duality_scorecard": 1} | PAGES
KINDS = ("pdf", "png", "csv", "json", "claims.csv")
LIBRARY = "workflow/flatlas"


def test_everything_is_made_the_first_time(tiny):
    assert tiny.would_run() == EVERYTHING | FIGURES | {"dag": 1}


def test_every_result_has_its_provenance_and_every_figure_its_points(finished):
    for room in ("data/sources", "data/subsets", "runs", "measures/duality"):
        folders = list((finished / f"results/{room}").iterdir())
        assert folders
        assert all((folder / "provenance.json").is_file() for folder in folders)
        assert all(re.fullmatch(r".+-[0-9a-f]{12}", folder.name) for folder in folders)
    figures = {path.name for path in (finished / "results/tiny/duality").iterdir()}
    made = {f"{name}.{kind}" for name in ("fig3", "s4") for kind in KINDS}
    assert figures == made | {"scorecard.csv", "scorecard.html"}


def test_what_no_result_depends_on_reruns_nothing(demo):
    """All of it at once, and a finished run that nobody touched is as it was."""
    write_comments_and_docstrings(demo)
    change_what_the_study_does_not_use(demo)
    change_where_data_lie_and_how_much_a_job_gets(demo)
    change_a_value_and_change_it_back(demo)
    assert demo.would_run() == {}


def write_comments_and_docstrings(demo):
    """One or the other in modules of every room, in the scripts, and in the rules."""
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


def test_a_changed_constant_of_a_measure_reruns_it_too(demo):
    demo.edit(f"{LIBRARY}/measures/dual_weights.py", "ROUND_OFF = 1e-12", "ROUND_OFF = 2e-12")
    assert demo.would_run() == {"measure_duality": 3} | FIGURES


def test_a_changed_measure_reruns_its_measurements_and_their_figures(demo):
    demo.change_function(f"{LIBRARY}/measures/duality.py", "measure")
    assert demo.would_run() == {"measure_duality": 3} | FIGURES


def test_a_changed_plot_redraws_its_figure_alone(demo):
    demo.change_function(f"{LIBRARY}/studies/duality/s4.py", "draw")
    assert demo.would_run() == {"duality_s4": 1, "duality_scorecard": 1} | PAGES


def test_a_changed_optimizer_retrains_what_it_trained(demo):
    demo.change_function(f"{LIBRARY}/training/optimizers/sgd.py", "build")
    retrained = {"train": 3, "measure_duality": 3} | FIGURES
    assert demo.would_run() == retrained


def change_what_the_study_does_not_use(demo):
    for file in (
        "training/optimizers/adam.py",
        "data/sources/mnist.py",
        "nets/convolutional.py",
        "plan/graph.py",
        "jobs/progress.py",
    ):
        path = demo / LIBRARY / file
        path.write_text(path.read_text() + "\nCHANGED = True\n")


def change_where_data_lie_and_how_much_a_job_gets(demo):
    demo.edit("config/config.yaml", r"data_root: \S+", "data_root: /elsewhere")
    demo.edit(f"{LIBRARY}/plan/requests.py", r"attempt \* jobs\[", "2 * attempt * jobs[")


def change_a_value_and_change_it_back(demo):
    """A result lies where its values say, so it is still there."""
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.07)
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.05)


def test_a_changed_value_of_a_sweep_trains_and_measures_one_run(demo):
    """Really run: the files of all other runs are the same files, untouched."""
    runs = {path.name for path in (demo / "results/runs").iterdir()}
    before = stamps(demo)
    demo.set_study("sweeps", "alpha", "grid", "optimizer.lr", 0, value=0.07)
    expected = {"train": 1, "measure_duality": 1, "dag": 1} | FIGURES
    assert demo.would_run() == expected
    demo.snakemake()
    assert {path: stamp for path, stamp in stamps(demo).items() if path in before} == before
    (new,) = {path.name for path in (demo / "results/runs").iterdir()} - runs
    assert "sgd0.07" in new
    drawn = pd.read_csv(demo / "results/tiny/duality/fig3.csv")
    assert set(drawn["optimizer.lr"].dropna()) == {0.07, 0.1}
    assert demo.would_run() == {}


def stamps(checkout):
    """When each file was written that is data, a training or a measurement."""
    rooms = ("data", "runs", "measures")
    files = [path for room in rooms for path in (checkout / "results" / room).rglob("*.*")]
    return {path: path.stat().st_mtime_ns for path in files if path.is_file()}


def test_more_realizations_are_other_runs(demo):
    demo.set_study("realizations", value=3)
    afresh = {rule: count for rule, count in EVERYTHING.items() if rule != "source"}
    assert demo.would_run() == afresh | FIGURES | {"dag": 1}


def test_every_file_of_a_figure_is_missed(demo):
    """Each alone; the other figure has all of its files."""
    for kind in KINDS:
        file = demo / f"results/tiny/duality/fig3.{kind}"
        elsewhere = file.rename(demo / "elsewhere")
        assert demo.would_run() == {"duality_fig3": 1, "duality_scorecard": 1} | PAGES, kind
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
    """As soon as a figure needs it: Snakemake asks for nothing that only finished files need."""
    table = next((demo / "results/measures/duality").glob("*/summary.parquet"))
    before = table.read_bytes()
    table.unlink()
    assert demo.would_run() == {}
    (demo / "results/tiny/duality/s4.pdf").unlink()
    assert demo.would_run() == {"measure_duality": 1} | FIGURES
    demo.snakemake("--until", "measure_duality")
    assert table.read_bytes() == before
