"""Damage files, kill processes and misconfigure, at random; print what came of it.

    python tests/faults damage --trials 3000 --results results
    python tests/faults kills --trials 60
    python tests/faults configurations --trials 1000

Each takes `--seed`. `damage` works on a copy of finished results.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "workflow"), str(TESTS / "workflow")]

import pandas as pd  # noqa: E402


def main() -> None:
    """Read the command line and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", choices=["damage", "kills", "configurations"])
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=Path("results"))
    given = parser.parse_args()
    if given.faults == "configurations":
        from configurations import report

        sys.exit(not report(given.trials, given.seed))
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        if given.faults == "damage":
            from damage import try_kinds

            shutil.copytree(given.results, scratch / "results")
            rows = try_kinds(scratch / "results", scratch, given.trials, given.seed)
        else:
            from kills import try_kills

            rows = try_kills(scratch, given.trials, given.seed)
        table = pd.DataFrame(rows).fillna(0)
    counts = table.select_dtypes("number").columns
    table[counts] = table[counts].astype(int)
    total = table[counts].sum().to_frame().T.assign(**{table.columns[0]: "all"})
    print(pd.concat([table, total]).to_markdown(index=False))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
