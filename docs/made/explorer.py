"""The explorer of the gallery, from the atlas' measure table and the galleries' scorecards."""

from pathlib import Path

import pandas as pd
from gallery import GALLERY, SCORECARD, read_drawn, read_scorecard
from pages import ROOT

from flatlas.explorer.atlas import atlas_explorer
from flatlas.explorer.curves import learning_curves
from flatlas.explorer.page import explorer_page
from flatlas.store.tables import read_table, write_table

ATLAS = GALLERY / "atlas"
NETWORKS, CURVES = ATLAS / "networks.parquet", ATLAS / "curves.parquet"
EXPLORER = ATLAS / "explorer.html"
# A figure, seen from there.
PICTURE = "../{study}/{figure}.png"


def explorer(picture: str = PICTURE) -> str:
    """The page; `picture` is the link to a figure, with {study} and {figure} in it."""
    page = atlas_explorer(
        read_table(NETWORKS),
        _claims(picture),
        read_table(CURVES) if CURVES.is_file() else pd.DataFrame(),
        read_drawn(ATLAS).preset,
    )
    return explorer_page(page)


def write_explorer() -> None:
    """Write it, if the atlas has published its networks."""
    if NETWORKS.is_file():
        EXPLORER.write_text(explorer(), encoding="utf-8")


def write_curves(folder: Path) -> None:
    """Write the learning curves of the networks whose table is in a folder, if there is one."""
    table = folder / NETWORKS.name
    if table.is_file():
        runs = sorted(read_table(table)["run"].unique())
        files = [one for run in runs for one in (ROOT / "results").glob(f"*/{run}/history.parquet")]
        write_table(folder / CURVES.name, learning_curves(files))


def _claims(picture: str) -> pd.DataFrame:
    tables = []
    for file in sorted(GALLERY.glob(f"*/{SCORECARD}")):
        study = file.parent.name
        claims = read_scorecard(file.parent).rename(columns={"preset": "scale"})
        figures = [claim.partition(".")[0].removeprefix(f"{study}_") for claim in claims["claim"]]
        links = [picture.format(study=study, figure=figure) for figure in figures]
        tables.append(claims.assign(study=study, figure=figures, picture=links))
    table = pd.concat(tables, ignore_index=True)
    ends = ["holds_from", "holds_to"]
    return table.assign(**table[ends].apply(pd.to_numeric, errors="coerce"))
