"""Scripts of figures, pages and costs start without importing torch."""

import subprocess
import sys
from pathlib import Path

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
SCRIPTS = ("figure", "dag", "scorecard", "report", "costs", "compare", "clean")
# Each script stops where it would read its job, after all its imports.
CODE = """
import runpy, sys
for script in sys.argv[1:]:
    sys.argv = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        print(end)
print("loaded:", *{"torch", "torchvision", "sklearn", "gpytorch"} & set(sys.modules))
"""


def test_scripts_of_pages_and_pictures_begin_without_torch():
    scripts = [str(WORKFLOW / "scripts" / f"{script}.py") for script in SCRIPTS]
    command = [sys.executable, "-c", CODE, *scripts]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True, check=True
    )
    *ends, loaded = done.stdout.splitlines()
    assert "\n".join(ends).count("runs inside Snakemake") == len(SCRIPTS)
    assert loaded.strip() == "loaded:"
