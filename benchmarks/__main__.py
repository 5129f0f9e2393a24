"""`python -m benchmarks [name ...]` runs the named benchmarks, or all that write no files."""

import sys
from importlib import import_module
from pathlib import Path

# The library, and docs/made, whose modules `large_nets` and `gpu` share.
ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "docs" / "made")]
NAMES = (
    "training",
    "duality",
    "hessian",
    "libraries",
    "gaussian_process",
    "annealing",
    "planning",
)
# These write files of the pages, so they run only if they are named.
NAMED = ("large_nets", "gpu")

chosen = sys.argv[1:] or NAMES
for name in chosen:
    if name not in (*NAMES, *NAMED):
        sys.exit(f"'{name}' is not a benchmark. Allowed: {', '.join((*NAMES, *NAMED))}.")
for name in chosen:
    print(f"== {name}", flush=True)
    import_module(f"benchmarks.{name}").main()
