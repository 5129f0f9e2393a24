"""The examples of docs/add-a-*.md work as printed, and rerun nothing that is not new."""

import re
import shutil
import subprocess
import sys
from textwrap import dedent, indent

import pandas as pd
import pytest
import yaml
from checkout import PAGES, ROOT

LIBRARY = "workflow/flatlas"
FIGURES = {"duality_fig3": 1, "duality_s4": 1, "duality_scorecard": 1} | PAGES


def blocks(page):
    """The code of a page, block by block."""
    text = (ROOT / "docs" / page).read_text()
    found = re.findall(r"(?:^ {8}.*\n(?:\n+(?= {8}))?)+", text, flags=re.MULTILINE)
    return [dedent(block) for block in found]


def add_to_study(checkout, block):
    for section, entries in yaml.safe_load(block).items():
        for name, entry in entries.items():
            checkout.set_study(section, name, value=entry)


@pytest.fixture
def with_trace(demo):
    """The finished study and a second measure, not yet taken."""
    declaration, module, study, figure, caption = blocks("add-a-measure.md")
    (demo / LIBRARY / "plan/measurements/trace.py").write_text(declaration)
    (demo / LIBRARY / "measures/trace.py").write_text(module)
    add_to_study(demo, study)
    (demo / LIBRARY / "studies/duality/trace.py").write_text(figure)
    (demo / LIBRARY / "studies/duality/trace.rst").write_text(caption)
    return demo


@pytest.fixture
def with_nadam(demo):
    """The finished study and a run with one more optimizer, not yet trained."""
    spec, union, module, *_, study = blocks("add-an-optimizer.md")
    specs = f"{LIBRARY}/plan/training_specs.py"
    demo.edit(specs, r"OptimizerSpec = Annotated\[.*?\n\]\n", f"{spec}\n\n{union}")
    (demo / LIBRARY / "training/optimizers/nadam.py").write_text(module)
    add_to_study(demo, study)
    return demo


@pytest.fixture
def with_large_batch(pristine):
    """The shipped studies and one that the presets do not list yet, and their missing entries."""
    study, *presets, package, shared, first, first_caption, second, second_caption = blocks(
        "add-a-study.md"
    )
    (pristine / "config/studies/large_batch.yaml").write_text(study)
    folder = pristine / LIBRARY / "studies/large_batch"
    folder.mkdir()
    (folder / "__init__.py").write_text(package)
    (folder / "over_batch.py").write_text(shared)
    for name, module, caption in (
        ("fig1", first, first_caption),
        ("fig2", second, second_caption),
    ):
        (folder / f"{name}.py").write_text(module)
        (folder / f"{name}.rst").write_text(caption)
    return pristine, dict(zip(("demo", "laptop"), presets, strict=True))


@pytest.fixture
def with_residual_mlp(demo):
    """The finished study and a run with a net of one more family, not yet trained."""
    declaration, builder, _, study = blocks("add-a-net.md")
    (demo / LIBRARY / "plan/families/residual_mlp.py").write_text(declaration)
    (demo / LIBRARY / "nets/residual_mlp.py").write_text(builder)
    add_to_study(demo, study)
    return demo


def test_each_of_two_measures_is_taken_again_alone(with_trace):
    kept = ("runs/*/*", "measures/duality/*/*")
    before = [with_trace.contents(pattern) for pattern in kept]
    new = {"measure_trace": 2, "duality_trace": 1, "report": 1}
    assert with_trace.would_run() == new | {"dag": 1}
    with_trace.snakemake()
    assert [with_trace.contents(pattern) for pattern in kept] == before
    drawn = pd.read_csv(with_trace / "results/tiny/duality/trace.csv")
    assert drawn.groupby("optimizer.lr").size().to_dict() == {0.05: 2, 0.1: 2}
    assert (drawn["trace"] > 0).all()
    assert with_trace.would_run() == {}

    unchanged = (with_trace / LIBRARY / "measures/trace.py").read_text()
    with_trace.change_function(f"{LIBRARY}/measures/trace.py", "measure")
    assert with_trace.would_run() == new
    (with_trace / LIBRARY / "measures/trace.py").write_text(unchanged)
    with_trace.change_function(f"{LIBRARY}/measures/duality.py", "measure")
    assert with_trace.would_run() == {"measure_duality": 3} | FIGURES


def test_a_new_optimizer_trains_its_own_run_alone(with_nadam):
    before = with_nadam.contents("runs/*/*")
    new = {"train": 1, "measure_duality": 1, "duality_s4": 1, "duality_scorecard": 1} | PAGES
    assert with_nadam.would_run() == new | {"dag": 1}
    with_nadam.snakemake()
    after = with_nadam.contents("runs/*/*")
    assert {path: after[path] for path in before} == before
    (run,) = {path.split("/")[1] for path in after.keys() - before.keys()}
    assert "nadam0.002" in run
    outcomes = pd.read_csv(with_nadam / "results/runs" / run / "outcomes.csv")
    assert outcomes["converged"].all()
    assert with_nadam.would_run() == {}

    with_nadam.change_function(f"{LIBRARY}/training/optimizers/nadam.py", "build")
    assert with_nadam.would_run() == new


def test_a_new_study_is_refused_until_the_presets_list_it_and_then_made(with_large_batch):
    checkout, presets = with_large_batch
    for preset, entry in presets.items():
        file = checkout / f"config/presets/{preset}.yaml"
        error = checkout.snakemake("-n", "--config", f"preset={preset}", fails=True)
        assert f"config/presets/{preset}.yaml" in error and "'large_batch'" in error
        file.write_text(file.read_text() + indent(entry, "  "))
    checkout.snakemake("large_batch", "--config", "preset=demo")
    outcomes = [pd.read_csv(path) for path in checkout.root.glob("results/runs/*/outcomes.csv")]
    assert [len(table) for table in outcomes] == [2, 2, 2], "the demo's own size"
    for figure, columns in {"fig1": ["sharpness"], "fig2": ["test_error", "distance"]}.items():
        drawn = pd.read_csv(checkout / f"results/demo/large_batch/{figure}.csv")
        assert drawn.groupby("batch").size().to_dict() == {10: 2, 40: 2, 160: 2}
        assert drawn["converged"].all() and drawn[columns].notna().all(axis=None)
    claims = pd.read_csv(checkout / "results/demo/large_batch/scorecard.csv")
    assert claims["value"].notna().all()
    assert {name.removeprefix("large_batch_") for name in claims["claim"]} == {
        "fig1.trend", "fig1.ends", "fig2.error", "fig2.distance",
    }  # fmt: skip


def test_a_new_study_passes_the_tests_of_every_figure(with_large_batch):
    checkout, presets = with_large_batch
    for preset, entry in presets.items():
        file = checkout / f"config/presets/{preset}.yaml"
        file.write_text(file.read_text() + indent(entry, "  "))
    shutil.copytree(ROOT / "tests", checkout / "tests")
    shutil.copy(ROOT / "pyproject.toml", checkout.root)
    files = ("tests/studies/test_completeness.py", "tests/studies/test_every_figure.py")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "large_batch")
    ran = subprocess.run(
        [*command, *files], cwd=checkout.root, env=checkout.env, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
    assert re.search(r"^\d+ passed", ran.stdout, re.MULTILINE)


def test_a_new_net_family_trains_its_own_run_alone(with_residual_mlp):
    before = with_residual_mlp.contents("runs/*/*")
    new = {"train": 1, "measure_duality": 1, "duality_s4": 1, "duality_scorecard": 1} | PAGES
    assert with_residual_mlp.would_run() == new | {"dag": 1}
    with_residual_mlp.snakemake()
    after = with_residual_mlp.contents("runs/*/*")
    assert {path: after[path] for path in before} == before
    (run,) = {path.split("/")[1] for path in after.keys() - before.keys()}
    assert "residual_mlp2x30" in run
    outcomes = pd.read_csv(with_residual_mlp / "results/runs" / run / "outcomes.csv")
    assert outcomes["converged"].all()
    with_residual_mlp.change_function(f"{LIBRARY}/nets/residual_mlp.py", "build")
    assert with_residual_mlp.would_run() == new
