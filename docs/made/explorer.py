"""The explorer of the gallery, from the atlas' measure table and the galleries' scorecards."""

from pathlib import Path

import pandas as pd
from gallery import GALLERY, TABLE, figure_of, read_drawn, scorecard_files
from pages import ROOT

from flatlas.claims.written import read_claims
from flatlas.explorer.atlas import atlas_explorer
from flatlas.explorer.curves import learning_curves
from flatlas.explorer.page import explorer_page
from flatlas.plan.paths import ATLAS, RESULTS
from flatlas.store.tables import read_table, write_table

CURVES, EXPLORER = "curves.parquet", "explorer.html"


def write_explorer(gallery: Path = GALLERY) -> None:
    """Write the page beside the atlas' measure table, if that is published."""
    atlas = gallery / ATLAS
    if not (atlas / TABLE).is_file():
        return
    curves = atlas / CURVES
    page = atlas_explorer(
        read_table(atlas / TABLE),
        _claims(gallery),
        read_table(curves) if curves.is_file() else pd.DataFrame(),
        read_drawn(atlas).preset,
    )
    (atlas / EXPLORER).write_text(explorer_page(page), encoding="utf-8")


def write_curves(folder: Path) -> None:
    """Write the learning curves of the networks whose table is in a folder."""
    runs = sorted(read_table(folder / TABLE)["run"].unique())
    files = [one for run in runs for one in (ROOT / RESULTS).glob(f"*/{run}/history.parquet")]
    write_table(folder / CURVES, learning_curves(files))


def _claims(gallery: Path) -> pd.DataFrame:
    """The claims of all studies, each with the picture of its figure, seen from the atlas."""
    tables = []
    for file in scorecard_files(gallery):
        study = file.parent.name
        claims = read_claims(file).rename(columns={"preset": "scale"})
        figures = [figure_of(claim, study) for claim in claims["claim"]]
        pictures = [f"../{study}/{figure}.png" for figure in figures]
        tables.append(claims.assign(study=study, figure=figures, picture=pictures))
    return pd.concat(tables, ignore_index=True)
