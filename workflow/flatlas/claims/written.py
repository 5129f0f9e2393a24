"""Tables of claims as their figures wrote them."""

from pathlib import Path

import pandas as pd

from flatlas.claims.claim import known
from flatlas.claims.comparison import NUMBER
from flatlas.store.damage import unreadable

NUMBERS = (*NUMBER, "holds_from", "holds_to")


def read_claims(file: str | Path) -> pd.DataFrame:
    """The claims in a file. All cells are text as it was written, except those of `NUMBERS`."""
    claims = read_cells(file)
    return claims.assign(**claims[[*NUMBERS]].apply(pd.to_numeric))


def read_cells(file: str | Path) -> pd.DataFrame:
    """The claims in a file, every cell the text that was written."""
    # A paper's 30 and 2.00 are text: as numbers beside an empty cell they would be 30.0 and 2.0.
    try:
        cells = pd.read_csv(file, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    return known(cells, str(file))
