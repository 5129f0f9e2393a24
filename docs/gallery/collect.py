"""Copy the figures of a study here, as small pictures on one page with their verdicts.

    make gallery STUDY=duality PRESET=paper

FROM="laptop:cifar_fig3,cifar_fig4" takes these figures from another preset, WITHOUT="s1,s3" leaves
figures out, and KEEP="fig7" leaves them as they are here, so that only the others need to be drawn
again. CONFIGFILE=mine.yaml names the --configfile that the figures were drawn with. For figures
with other numbers of realizations than the study's, first write these into the gallery's
realizations.yaml. The gallery of the atlas gets its measure table, too. `make docs` makes the pages
again from what lies here.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "made"))

from explorer import write_curves, write_explorer
from gallery import GALLERY, REALIZATIONS, SCORECARD, Drawn, figure_of, page
from means import MEANS, means_of
from networks import dictionary
from pages import ROOT
from pictures import with_few_colours

from flatlas.claims.written import read_cells
from flatlas.errors import FlatlasError
from flatlas.plan.paths import ATLAS, FIGURE, NETWORKS
from flatlas.store.provenance import verify
from flatlas.store.tables import read_table

WIDTH = 1400


def main() -> None:
    """Make the page of a study beside the old one, then put it in the old one's place."""
    parser = argparse.ArgumentParser(description=__doc__)
    studies = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))
    parser.add_argument("study", choices=studies)
    parser.add_argument("preset")
    parser.add_argument("--from", dest="others", default="", help="PRESET:FIGURE,FIGURE")
    parser.add_argument("--configfile", type=Path, help="what the figures were drawn with")
    parser.add_argument("--without", default="", help="FIGURE,FIGURE")
    parser.add_argument("--keep", default="", help="FIGURE,FIGURE")
    given = parser.parse_args()
    study, file = given.study, given.configfile
    drawn = Drawn(given.preset, given.others, given.without, file.name if file else "")
    settings = yaml.safe_load((ROOT / "config" / "studies" / f"{study}.yaml").read_bytes())
    presets = drawn.presets(settings["figures"])
    kept = [name for name in given.keep.split(",") if name]
    if missing := [name for name in kept if not (GALLERY / study / f"{name}.png").is_file()]:
        sys.exit(f"The gallery of {study} has no {', '.join(missing)} to keep.")
    for name, preset in presets.items():
        if name in kept:
            continue
        if not (picture := _result(study, preset, name)).is_file():
            command = f"snakemake {study}_{name} --config preset={preset}"
            sys.exit(f"There is no {picture}. `{command}` draws it.")
    with tempfile.TemporaryDirectory(dir=GALLERY) as folder:
        fresh, old, target = Path(folder) / "fresh", Path(folder) / "old", GALLERY / study
        fresh.mkdir()
        _collect(study, presets, fresh, kept)
        if study == ATLAS:
            _publish(given.preset, fresh)
            write_curves(fresh)
        for one in (file, target / REALIZATIONS):
            if one and one.is_file():
                shutil.copy(one, fresh)
        drawn.write(fresh)
        (fresh / "README.md").write_text(page(study, fresh, ROOT), encoding="utf-8")
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    # It has the claims of all studies.
    write_explorer(GALLERY)


def _collect(study: str, presets: Mapping[str, str], folder: Path, kept: Sequence[str]) -> None:
    """The pictures, the claims and the means of all figures."""
    tables, means = [], []
    for name, preset in presets.items():
        if name in kept:
            _keep(study, name, folder, tables, means)
            continue
        picture = _result(study, preset, name)
        file, points = picture.with_suffix(".claims.csv"), picture.with_suffix(".csv")
        try:
            verify([one for one in (picture, file, points) if one.is_file()])
            if file.is_file():
                tables.append(read_cells(file).assign(preset=preset))
        except FlatlasError as error:
            sys.exit(str(error))
        if points.is_file():
            means.append(means_of(pd.read_csv(points)).assign(figure=name, preset=preset))
        _shrink(picture, folder / f"{name}.png")
    if sum(map(len, means)):
        pd.concat(means, ignore_index=True).convert_dtypes().to_csv(folder / MEANS, index=False)
    if tables:
        pd.concat(tables, ignore_index=True).to_csv(folder / SCORECARD, index=False)


def _keep(
    study: str, name: str, folder: Path, tables: list[pd.DataFrame], means: list[pd.DataFrame]
) -> None:
    """Take the picture, the claims and the means of a figure from the gallery as it is."""
    shutil.copy(GALLERY / study / f"{name}.png", folder)
    if (file := GALLERY / study / SCORECARD).is_file():
        claims = read_cells(file)
        tables.append(claims[claims["claim"].map(lambda claim: figure_of(claim, study)) == name])
    if (file := GALLERY / study / MEANS).is_file():
        rows = pd.read_csv(file)
        means.append(rows[rows["figure"] == name])


def _publish(preset: str, folder: Path) -> None:
    """The atlas' measure table; nine digits of each number as CSV, where whole ones take 1.5 MB."""
    source = _result(ATLAS, preset, NETWORKS, "parquet")
    if not source.is_file():
        command = f"snakemake {ATLAS}_{NETWORKS} --config preset={preset}"
        sys.exit(f"There is no {source}. `{command}` makes it.")
    try:
        verify([source])
    except FlatlasError as error:
        sys.exit(str(error))
    shutil.copy(source, folder)
    table = read_table(source)
    table.to_csv(folder / f"{NETWORKS}.csv", index=False, float_format="%.9g")
    (folder / f"{NETWORKS}.md").write_text(dictionary(table), encoding="utf-8")


def _result(study: str, preset: str, figure: str, extension: str = "png") -> Path:
    return ROOT / FIGURE.format(preset=preset, study=study, figure=figure, extension=extension)


def _shrink(source: Path, target: Path) -> None:
    """A picture of at most 256 colours, enough for lines and dots."""
    with Image.open(source) as picture:
        flat = picture.convert("RGB")
        flat.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
        with_few_colours(flat, 256).save(target, optimize=True)


if __name__ == "__main__":
    main()
