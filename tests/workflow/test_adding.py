"""The examples of docs/add-a-*.md work as printed, and rerun nothing that is not new."""

import re
import shutil
from textwrap import indent

import pandas as pd
import pytest
import yaml
from checkout import PAGES, ROOT
from printed import blocks

LIBRARY = "workflow/flatlas"
BOTH = ("large_batch", "duality", "--config", "preset=demo")


def add_files(checkout, files):
    """Write files of the library; those of a user who keeps an example are the same."""
    for name, text in files.items():
        path = checkout / LIBRARY / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def add_to_study(checkout, block):
    for part, entries in yaml.safe_load(block).items():
        for name, entry in entries.items():
            checkout.set_study(part, name, value=entry)


@pytest.fixture
def with_study(demo):
    """The finished study and a sixth one, which takes a new measure of a new family of nets.

    The measure and the family are used in the finished study, too, as their pages say. The presets
    do not list the sixth study yet; what they lack is returned with the checkout.
    """
    declaration, module, measured, figure, caption = blocks("add-a-measure.md")
    family, builder, _, trained = blocks("add-a-net.md")
    study, in_demo, in_laptop, *modules = blocks("add-a-study.md")
    names = ("__init__.py", "over_batch.py", "fig1.py", "fig1.rst", "fig2.py", "fig2.rst")
    added = {
        "plan/measurements/trace.py": declaration,
        "measures/trace.py": module,
        "studies/duality/trace.py": figure,
        "studies/duality/trace.rst": caption,
        "plan/families/residual_mlp.py": family,
        "nets/residual_mlp.py": builder,
    }
    folder = zip(names, modules, strict=True)
    add_files(demo, added | {f"studies/large_batch/{name}": text for name, text in folder})
    add_to_study(demo, measured)
    add_to_study(demo, trained)

    study, in_demo = yaml.safe_load(study), yaml.safe_load(in_demo)
    study["runs"]["base"]["net"] = {"family": "residual_mlp", "width": 200, "depth": 2}
    in_demo["large_batch"]["runs"]["base"]["net"] = {"width": 12}
    study["measures"]["trace"] = {"measure": "trace", "layer": "fc"}
    study["figures"]["fig1"]["measures"].append("trace")
    (demo / "config/studies/large_batch.yaml").write_text(yaml.safe_dump(study))
    presets = {"demo": yaml.safe_dump(in_demo), "laptop": in_laptop}
    for preset in presets:
        (demo / f"config/presets/{preset}.yaml").write_text("title: D\nstudies:\n  duality: {}\n")
    (demo / "config/presets/paper.yaml").write_text("title: P\n")
    return demo, presets


def trained(checkout):
    """All files of trainings, and of the measure of the finished study."""
    return checkout.contents("runs/*/*") | checkout.contents("measures/duality/*/*")


def test_a_study_with_its_own_measure_and_net_changes_no_existing_file(with_study):
    checkout, presets = with_study
    for preset, entry in presets.items():
        file = checkout / f"config/presets/{preset}.yaml"
        said = checkout.snakemake("-n", "--config", f"preset={preset}", fails=True)
        assert f"config/presets/{preset}.yaml" in said and "'large_batch'" in said
        file.write_text(file.read_text() + indent(entry, "  "))

    # All of the sixth study; of the finished one its run of a new net, and its figures.
    fig1 = dict.fromkeys(("large_batch", "large_batch_fig1", "large_batch_scorecard"), 1)
    sixth = fig1 | {"large_batch_fig2": 1, "measure_sharpness": 3, "measure_norms": 3}
    s4 = {"train": 4, "measure_duality": 1, "duality_s4": 1, "duality_scorecard": 1}
    rest = {"subset": 1, "measure_trace": 5, "duality_fig3": 1, "duality_trace": 1}
    before = trained(checkout)
    assert checkout.would_run(*BOTH) == sixth | s4 | rest
    checkout.snakemake(*BOTH)
    after = trained(checkout)
    assert {name: after[name] for name in before} == before
    runs = {name.split("/")[1] for name in after.keys() - before.keys() if "runs/" in name}
    assert len(runs) == 4 and all("residual_mlp2x" in run for run in runs)
    for run in runs:
        assert pd.read_csv(checkout / f"results/runs/{run}/outcomes.csv")["converged"].all()

    results = checkout / "results/demo"
    trace = pd.read_csv(results / "duality/trace.csv")
    assert trace.groupby("optimizer.lr").size().to_dict() == {0.05: 2, 0.1: 2}
    assert (trace["trace"] > 0).all()
    for figure, columns in {"fig1": ["sharpness"], "fig2": ["test_error", "distance"]}.items():
        points = pd.read_csv(results / f"large_batch/{figure}.csv")
        assert points.groupby("batch").size().to_dict() == {10: 2, 40: 2, 160: 2}
        assert points["converged"].all() and points[columns].notna().all(axis=None)
    claims = pd.read_csv(results / "large_batch/scorecard.csv")
    assert claims["value"].notna().all()
    names = ("fig1.trend", "fig1.ends", "fig2.error", "fig2.distance")
    assert set(claims["claim"]) == {f"large_batch_{name}" for name in names}
    assert checkout.would_run(*BOTH) == {}

    assert_passes_the_tests_of_every_figure(checkout)

    unchanged = (checkout / LIBRARY / "measures/trace.py").read_text()
    checkout.change_function(f"{LIBRARY}/measures/trace.py", "measure")
    assert checkout.would_run(*BOTH) == fig1 | {"measure_trace": 5, "duality_trace": 1}
    (checkout / LIBRARY / "measures/trace.py").write_text(unchanged)
    checkout.change_function(f"{LIBRARY}/nets/residual_mlp.py", "build")
    assert checkout.would_run(*BOTH) == sixth | s4 | {"measure_trace": 3}


def assert_passes_the_tests_of_every_figure(checkout):
    shutil.copytree(ROOT / "tests", checkout / "tests")
    shutil.copy(ROOT / "pyproject.toml", checkout.root)
    files = ("tests/studies/test_completeness.py", "tests/studies/test_every_figure.py")
    options = ("-q", "-p", "no:cacheprovider", "-k", "large_batch")
    said = checkout.python("import pytest; pytest.console_main()", *options, *files)
    assert re.search(r"^\d+ passed", said, re.MULTILINE)


def test_a_new_optimizer_trains_its_own_run_alone(demo):
    spec, module, *_, study = blocks("add-an-optimizer.md")
    specs = f"{LIBRARY}/plan/training_specs.py"
    if spec not in (demo / specs).read_text():
        demo.edit(specs, r"(?=OPTIMIZERS = )", f"{spec}\n\n")
    add_files(demo, {"training/optimizers/nadam.py": module})
    add_to_study(demo, study)
    before = demo.contents("runs/*/*")
    new = {"train": 1, "measure_duality": 1, "duality_s4": 1, "duality_scorecard": 1, "dag": 1}
    assert demo.would_run() == new | PAGES
    demo.snakemake("duality_s4")
    after = demo.contents("runs/*/*")
    assert {path: after[path] for path in before} == before
    (run,) = {path.split("/")[1] for path in after.keys() - before.keys()}
    assert "nadam0.002" in run
    assert pd.read_csv(demo / "results/runs" / run / "outcomes.csv")["converged"].all()
    assert demo.would_run("duality_s4") == {}

    demo.change_function(f"{LIBRARY}/training/optimizers/nadam.py", "build")
    assert demo.would_run() == new | PAGES
