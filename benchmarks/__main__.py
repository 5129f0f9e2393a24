"""`python -m benchmarks [name ...]` runs the named benchmarks, or all that only print."""

import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
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
