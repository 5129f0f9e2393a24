"""Copy the figures of a study here, as small pictures on one page with their verdicts.

    make gallery STUDY=duality PRESET=paper

FROM="laptop:cifar_fig3,cifar_fig4" takes these figures from another preset, WITHOUT="s1,s3" leaves
figures out. CONFIGFILE=mine.yaml names the --configfile that the figures were drawn with.
`make docs` makes the pages again from what lies here.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "made"))

from gallery import SCORECARD, Drawn, page

from flatlas.claims.claim import known
from flatlas.errors import FlatlasError
from flatlas.plan.resolve import resolve
from flatlas.store.provenance import verify
from flatlas.studies.atlas.quantities import QUANTITIES
from flatlas.studies.my_model.numbers import MEASURES, definition

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIDTH = 1400


def main() -> None:
    """Make the page of a study beside the old one, then put it in the old one's place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("preset")
    parser.add_argument("--from", dest="others", default="", help="PRESET:FIGURE,FIGURE")
    parser.add_argument("--configfile", type=Path, help="what the figures were drawn with")
    parser.add_argument("--without", default="", help="FIGURE,FIGURE")
    given = parser.parse_args()
    study, file = given.study, given.configfile
    drawn = Drawn(given.preset, given.others, given.without, file.name if file else "")
    settings = yaml.safe_load((ROOT / "config" / "studies" / f"{study}.yaml").read_text())
    presets = drawn.presets(settings["figures"])
    for name, preset in presets.items():
        if not (picture := _picture(study, preset, name)).is_file():
            command = f"snakemake {study}_{name} --config preset={preset}"
            sys.exit(f"There is no {picture}. `{command}` draws it.")
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        fresh, old, target = Path(folder) / "fresh", Path(folder) / "old", HERE / study
        fresh.mkdir()
        _collect(study, presets, fresh, file)
        if file:
            shutil.copy(file, fresh)
        drawn.write(fresh)
        (fresh / "README.md").write_text(page(study, fresh, ROOT), encoding="utf-8")
        if target.exists():
            target.rename(old)
        fresh.rename(target)


def _collect(study: str, presets: Mapping[str, str], folder: Path, configfile: Path | None) -> None:
    """The pictures and the claims of all figures, and the ranges over the atlas' networks."""
    tables = []
    for name, preset in presets.items():
        picture = _picture(study, preset, name)
        points, file = (picture.with_suffix(kind) for kind in (".csv", ".claims.csv"))
        try:
            verify([one for one in (picture, points, file) if one.is_file()])
            if file.is_file():
                claims = pd.read_csv(file, dtype=str, keep_default_na=False)
                tables.append(known(claims, str(file)).assign(preset=preset))
        except FlatlasError as error:
            sys.exit(str(error))
        _shrink(picture, folder / f"{name}.png")
        if (study, name) == ("atlas", "fig4"):
            ranges(points, _options(preset, configfile)).to_csv(folder / "ranges.csv", index=False)
    if tables:
        pd.concat(tables, ignore_index=True).to_csv(folder / SCORECARD, index=False)


def _options(preset: str, configfile: Path | None) -> dict[str, Mapping[str, Any]]:
    """The options of each measure of the atlas, which are the same for every network."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    config |= yaml.safe_load(configfile.read_text()) if configfile else {}
    plan = resolve(config | {"preset": preset}, ROOT / "config")
    return {
        name: plan.measurements[one].options.model_dump()
        for entry in plan.figures["atlas_fig4"].entries
        for name, one in entry.measurements.items()
    }


def ranges(points: Path, options: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The range of each quantity over the atlas' networks, for the page of `snakemake my_model`."""
    nets = pd.read_csv(points)
    known = nets[[name for name in QUANTITIES if name in nets]]
    table = known.agg(["count", "min", "median", "max"]).T
    table.columns = ["networks", "least", "median", "largest"]
    defined = [
        definition(MEASURES[name].measure, options[MEASURES[name].measure])
        if name in MEASURES
        else ""
        for name in table.index
    ]
    table.insert(0, "definition", defined)
    return table.rename_axis("measure").reset_index()


def _picture(study: str, preset: str, figure: str) -> Path:
    return ROOT / "results" / preset / study / f"{figure}.png"


def _shrink(source: Path, target: Path) -> None:
    """A picture of at most 256 colours, enough for lines and dots."""
    with Image.open(source) as picture:
        flat = picture.convert("RGB")
        flat.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
        flat.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
