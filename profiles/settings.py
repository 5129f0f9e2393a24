"""What each profile runs, before Snakemake reads --config and --configfile."""

import sys
from pathlib import Path

# The Snakefile of -s may belong to another checkout, whose library must not be mixed with this one.
if not any(word.startswith(("-s", "--snake")) for word in sys.argv):
    sys.path.insert(0, str(Path("workflow").resolve()))
    from flatlas.plan.command_line import read_settings_better

    read_settings_better()
