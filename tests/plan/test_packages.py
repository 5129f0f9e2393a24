"""Which package may import which, read from the syntax tree of every module."""

import ast
from functools import cache
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
LIBRARY = WORKFLOW / "flatlas"

FOUNDATION = {"plan", "store", "statistics"}
# What each package may import besides itself, and besides `errors`, which everyone may raise.
MAY_IMPORT = {
    "plan": {"layer_names", "data_root", "image_files", "published_sets", "reasons"},
    "store": set(),
    "statistics": set(),
    "data": {*FOUNDATION, "seeds", "data_root", "image_files", "published_sets"},
    "nets": {*FOUNDATION, "device", "layer_names", "seeds"},
    "training": {
        *FOUNDATION,
        "device",
        "layer_names",
        "reasons",
        "search_path",
        "seeds",
        "data",
        "nets",
    },
    "hessian": {*FOUNDATION, "seeds", "nets"},
    "gaussian_process": {*FOUNDATION, "seeds", "nets"},
    "measures": {
        *FOUNDATION,
        *("device", "seeds", "data", "nets", "hessian", "gaussian_process", "flatness", "models"),
    },
    "models": {"nets", "hessian"},
    "flatness": {"statistics", "seeds", "hessian"},
    "library": {"plan", "seeds", "store", "hessian", "models", "flatness", "plotting"},
    "evidence": FOUNDATION,
    "plotting": {"store", "statistics", "evidence", "reasons"},
    "claims": {"store", "statistics", "evidence"},
    "studies": {"minus", "store", "statistics", "evidence", "plotting", "claims", "reasons"},
    "report": {*FOUNDATION, "claims", "minus", "published_sets", "reasons"},
    "explorer": {"store", "statistics", "claims", "report", "evidence", "studies"},
    "jobs": {"plan", "store", "device"},
    "device": set(),
    "errors": set(),
    "data_root": set(),
    "image_files": {"data_root"},
    "published_sets": {"data_root"},
    "layer_names": set(),
    "minus": set(),
    "reasons": set(),
    "search_path": set(),
    "seeds": set(),
    # Its public names, imported at first use.
    "__init__": {"library"},
}
LIGHT = (
    *("plan", "store", "statistics", "evidence", "plotting", "claims", "studies", "report"),
    *("explorer", "jobs", "data_root", "device", "errors", "image_files", "layer_names"),
    *("minus", "published_sets", "reasons", "search_path", "seeds"),
)
HEAVY = {"torch", "torchvision", "sklearn", "gpytorch"}
# Scripts that must start without torch.
LIGHT_SCRIPTS = ("figure", "dag", "scorecard", "report", "costs", "compare", "clean")
# Names from the plan that are no specs, and that no result depends on.
WITHOUT_RESULTS = {
    # Files and the environment.
    ("find", "fingerprint"),
    ("cache_folder", "kept"),
    ("THREAD_VARIABLES", "requests"),
    # The tables of a measure are compared with these.
    ("MEASURES", "measure_specs"),
    # How a point names what it lacks, and marks a full batch; which jobs a page lists as one.
    ("LACKS", "points"),
    ("FULL_BATCH", "points"),
    ("SAMPLING", "paths"),
    # How much memory a check allows for.
    ("PAIRED", "measurements.duality"),
    # How an error names a source.
    ("named", "data_specs"),
    # What a dry run prints.
    ("changed_modules", "fingerprint"),
    # Which figure's comparisons the last lines of a run name.
    ("ATLAS_MINE", "paths"),
    ("PLACE", "paths"),
    ("by_key", "trees"),
    ("would_delete", "deletion"),
    ("deletable", "cleaning"),
    # How options of the library are checked.
    ("validated", "mistakes"),
    ("dotted", "trees"),
}
MODULES = sorted(LIBRARY.rglob("*.py"))


def package_of(path):
    return path.relative_to(LIBRARY).with_suffix("").parts[0]


@cache
def syntax(path):
    return ast.parse(path.read_text())


def imported(path, nodes=ast.walk):
    """Every module that a file imports, in full, in some of its nodes."""
    for node in nodes(syntax(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import, which fingerprints do not see"
            yield node.module
            if node.module == "flatlas":
                yield from (f"flatlas.{alias.name}" for alias in node.names)


def run_at_import(tree):
    """The nodes of a file that run when it is imported itself."""
    for node in ast.iter_child_nodes(tree):
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not later and not types:
            yield node
            yield from run_at_import(node)


def test_imports_go_one_way():
    found = set()
    for path in MODULES:
        names = {*imported(path)}
        packages = {name.split(".")[1] for name in names if name.startswith("flatlas.")}
        package = package_of(path)
        assert package in MAY_IMPORT, "a new package: say in MAY_IMPORT what it may import"
        assert packages <= MAY_IMPORT[package] | {package, "errors"}, path
        found |= names
    # Imports inside functions are found, too.
    assert {"flatlas.data.samples", "flatlas.store.atomic", "snakemake.cli"} <= found


def test_nothing_imports_the_scripts():
    scripts = [*(WORKFLOW / "scripts").glob("*.py")]
    for path in [*MODULES, *scripts]:
        roots = {name.split(".")[0] for name in imported(path)}
        assert not roots & {*(one.stem for one in scripts), "scripts", "workflow"}, path


def test_what_computes_takes_only_specs_from_the_plan():
    """Fingerprints leave `plan` out: a number or a name from there could change unseen."""
    paths = [path for path in MODULES if package_of(path) not in ("plan", "jobs")]
    found = {(name, place) for path in paths for name, place in taken_from_plan(path)}
    values = {(name, place) for name, place in found if name.isupper() or name[0].islower()}
    assert len(found) > 20
    assert values == WITHOUT_RESULTS


def taken_from_plan(path):
    """Each name that a file imports from a module of the plan, and that module."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("flatlas.plan"):
            yield from (
                (alias.name, node.module.removeprefix("flatlas.plan.")) for alias in node.names
            )


def test_no_package_is_for_leftovers():
    leftovers = {"util", "utils", "common", "helper", "helpers", "misc", "shared", "lib"}
    files = [path for path in WORKFLOW.rglob("*") if path.suffix in ("", ".py", ".smk")]
    assert [path for path in files if path.stem in leftovers] == []


def test_packages_open_without_snakemake():
    roots = {name.split(".")[0] for path in MODULES for name in imported(path, run_at_import)}
    assert "torch" in roots
    assert not {name for name in roots if name.startswith("snakemake")}


def test_light_packages_open_without_torch(python):
    """Every job on a cluster resolves the plan, so it loads neither numpy nor pandas."""
    light = [path for path in MODULES if package_of(path) in LIGHT]
    assert set(LIGHT) <= {package_of(path) for path in MODULES}
    code = "import importlib, sys\n"
    for paths in ([LIBRARY / "plan" / "resolve.py"], light):
        names = [".".join(path.relative_to(WORKFLOW).with_suffix("").parts) for path in paths]
        names = [name.removesuffix(".__init__") for name in names]
        code += f"for name in {names}: importlib.import_module(name)\n"
        code += "print(*{name.split('.')[0] for name in sys.modules})\n"
    plan, loaded = (set(line.split()) for line in python(code).splitlines())
    assert "pydantic" in plan
    assert not plan & {*HEAVY, "numpy", "scipy", "pandas", "matplotlib"}
    assert "pandas" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("name", LIGHT_SCRIPTS)
def test_a_script_of_pages_or_pictures_imports_only_what_opens_without_torch(name):
    modules = [one.split(".") for one in imported(WORKFLOW / "scripts" / f"{name}.py")]
    packages = {below[0] for root, *below in modules if root == "flatlas"}
    assert packages and packages <= {*LIGHT}
    assert not {root for root, *_ in modules} & HEAVY
