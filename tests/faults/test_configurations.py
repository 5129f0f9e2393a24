"""The short form of the fuzzer; `python tests/faults configurations` runs the long one."""

import subprocess
import sys
from pathlib import Path


def test_a_changed_configuration_is_planned_or_refused_with_a_sentence():
    """The fuzzer is a new process: its memory limit would count what this one has loaded."""
    command = [sys.executable, Path(__file__).parent, "configurations", "--trials", "60"]
    done = subprocess.run([*command, "--seed", "25"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
