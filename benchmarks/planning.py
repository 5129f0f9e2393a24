"""Dry runs, in units of Snakemake's own dry run of a workflow of one rule.

Times are processor times, user and system. Runs alternate, since a machine's speed varies. Each
command runs once before it is timed, so plans and fingerprints are kept as for a user.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

CHECKOUT = Path(__file__).parents[1]
ONE_RULE = 'rule all:\n    output:\n        "made.txt",\n    shell:\n        "touch {output}"\n'
# The largest number of units that each may take.
COMMANDS = {
    "duality_fig3 -n": 1.3,
    "--list-rules": 1.3,
    "duality annealing prior mystery false_friend -n --config preset=paper": 2.5,
    "all -n --config preset=paper": 2.5,
}
ROUNDS = 3


def main() -> None:
    """Print one row per command."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Snakefile").write_text(ONE_RULE)
        for command in COMMANDS:
            _seconds(command, CHECKOUT)
        units: list[float] = []
        taken: dict[str, list[float]] = {command: [] for command in COMMANDS}
        for _ in range(ROUNDS):
            units.append(_seconds("-n", Path(folder)))
            for command in COMMANDS:
                taken[command].append(_seconds(command, CHECKOUT))
    unit = median(units)
    print(f"{'a unit, a dry run of one rule':<80} {unit:5.1f} s of a core")
    for command, most in COMMANDS.items():
        ratio = median(one / of for one, of in zip(taken[command], units, strict=True))
        print(f"snakemake {command:<70} {ratio:5.2f} units (at most {most})")


def _seconds(command: str, folder: Path) -> float:
    """The processor seconds of a Snakemake command."""
    before = getrusage(RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "snakemake", *command.split()]
    subprocess.run(call, cwd=folder, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
