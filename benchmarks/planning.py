"""The planning of `snakemake -n all` at the paper's scale, and the weight of the plan's imports."""

import subprocess
import sys
import time


def main() -> None:
    """Print seconds."""
    began = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "-n",
        "-q",
        "all",
        "all",
        "--config",
        "preset=paper",
    ]
    subprocess.run(command, check=True, capture_output=True)
    print(f"snakemake -n all, preset paper: {time.perf_counter() - began:.1f} s (at most 15)")
    watched = "import sys, flatlas.plan.resolve; print('torch' in sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", watched],
        check=True, capture_output=True, text=True, env={"PYTHONPATH": "workflow"},
    )  # fmt: skip
    print(f"the plan imports torch: {told.stdout.strip()}")
