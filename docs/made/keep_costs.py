"""Keep the times of a run, for docs/figures.md and estimates: `make costs PRESET=paper`.

`snakemake costs` has written results/<preset>/costs.csv, with all targets, and costs_by_job.csv. A
target whose jobs have all run replaces its row in docs/made/costs/<preset>.csv. Other rows stay, so
studies may run one after the other, each in a checkout of its own.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow"))

from figures import COSTS, REAL
from pages import ROOT

from flatlas.store.tables import write_table


def keep(run: Path, costs: Path, preset: str) -> list[str]:
    """Merge the tables in the folder `run` into those in `costs`; the targets with times."""
    made = _read(run / "costs.csv")
    targets = made[made["made"] == made["jobs"]]
    _merge(costs / f"{preset}.csv", targets, ["target"])
    # Studies ask different sizes of a measure, with other options, so each keeps its own.
    by = ["stage", "net", "units"]
    _merge(costs / f"{preset}_jobs.csv", _read(run / "costs_by_job.csv"), by)
    return targets["target"].to_list()


def _merge(file: Path, new: pd.DataFrame, by: list[str]) -> None:
    """Replace the rows of a file that the new table has; append the others."""
    if file.is_file():
        old, known = _read(file), pd.MultiIndex.from_frame(new[by])
        new = pd.concat([old[~pd.MultiIndex.from_frame(old[by]).isin(known)], new])
    write_table(file, new)


def _read(file: Path) -> pd.DataFrame:
    """A CSV as text, so that no number changes."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def main() -> None:
    """Merge, and say which targets have times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset", choices=REAL)
    preset = parser.parse_args().preset
    kept = keep(ROOT / "results" / preset, COSTS, preset)
    print(f"Times of {len(kept)} targets: {', '.join(kept) or 'none has run as a whole'}.")


if __name__ == "__main__":
    main()
