"""What a figure, a scorecard or the report needs at hand is a second's worth of imports."""

import subprocess
import sys
from pathlib import Path

import pytest

WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
SCRIPTS = ("figure", "dag", "scorecard", "report", "costs", "compare", "clean")
# The script stops where it would have taken its job, all its imports behind it.
CODE = """
import runpy, sys
sys.argv = [sys.argv[1]]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    print(end)
print("loaded:", *{"torch", "torchvision", "sklearn", "gpytorch"} & set(sys.modules))
"""


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_of_pages_and_pictures_begins_without_torch(script):
    command = [sys.executable, "-c", CODE, str(WORKFLOW / "scripts" / f"{script}.py")]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(WORKFLOW)}, capture_output=True, text=True, check=True
    )
    assert "runs inside Snakemake" in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
