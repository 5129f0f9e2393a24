"""Copy the figures of a study here, as small pictures on one page with their verdicts.

    make gallery STUDY=duality PRESET=paper

FROM="laptop:cifar_fig3,cifar_fig4" takes these figures from another preset, WITHOUT="s1,s3" leaves
figures out. CONFIGFILE=mine.yaml names the --configfile that the figures were drawn with.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import indent, wrap
from typing import Any

import pandas as pd
import yaml
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow"))

from flatlas.claims.claim import known
from flatlas.errors import FlatlasError
from flatlas.report.pages import Entry
from flatlas.report.rendering import render
from flatlas.report.verdicts import count_verdicts
from flatlas.store.provenance import verify

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIDTH = 1400
NUMBERS = ["value", "low", "high"]


def main() -> None:
    """Make the page of a study beside the old one, then put it in the old one's place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("preset")
    parser.add_argument("--from", dest="others", default="", help="PRESET:FIGURE,FIGURE")
    parser.add_argument("--configfile", type=Path, help="what the figures were drawn with")
    parser.add_argument("--without", default="", help="FIGURE,FIGURE")
    given = parser.parse_args()
    study = yaml.safe_load((ROOT / "config" / "studies" / f"{given.study}.yaml").read_text())
    presets = _presets(given, study["figures"])
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        fresh, old, target = Path(folder) / "fresh", Path(folder) / "old", HERE / given.study
        fresh.mkdir()
        _collect(given, study, presets, fresh)
        if target.exists():
            target.rename(old)
        fresh.rename(target)


def _presets(given: argparse.Namespace, figures: Mapping[str, Any]) -> dict[str, str]:
    """The preset of each figure on the page, all of which are drawn."""
    other, _, names = given.others.partition(":")
    if other and not names:
        sys.exit(f"--from is '{given.others}'. Allowed: PRESET:FIGURE,FIGURE.")
    elsewhere, left_out = ([*filter(None, one.split(","))] for one in (names, given.without))
    unknown = sorted({*elsewhere, *left_out} - set(figures))
    if unknown:
        sys.exit(f"{given.study} has no {', '.join(unknown)}. Its figures: {', '.join(figures)}.")
    presets = dict.fromkeys(figures, given.preset) | dict.fromkeys(elsewhere, other)
    for name in left_out:
        presets.pop(name, None)
    for name, preset in presets.items():
        if not (picture := _picture(given.study, preset, name)).is_file():
            command = f"snakemake {given.study}_{name} --config preset={preset}"
            sys.exit(f"There is no {picture}. `{command}` draws it.")
    return presets


def _collect(
    given: argparse.Namespace, study: Mapping[str, Any], presets: Mapping[str, str], folder: Path
) -> None:
    entries, tables = [], []
    for name, preset in presets.items():
        picture = _picture(given.study, preset, name)
        try:
            verify(_files(picture))
        except FlatlasError as error:
            sys.exit(str(error))
        _shrink(picture, folder / f"{name}.png")
        file, claims = picture.with_suffix(".claims.csv"), None
        if file.is_file():
            claims = _read_claims(file)
            tables.append(claims.assign(preset=preset))
            claims[NUMBERS] = claims[NUMBERS].apply(pd.to_numeric, errors="coerce")
        title = study["figures"][name]["title"]
        entries.append(Entry(f"{given.study}_{name}", name, title, claims))
    verdicts = {}
    if tables:
        scorecard = pd.concat(tables, ignore_index=True)
        scorecard.to_csv(folder / "scorecard.csv", index=False)
        by_preset = scorecard.groupby("preset", sort=False)
        verdicts = {preset: count_verdicts(claims) for preset, claims in by_preset}
    page = render(
        "gallery.md",
        study=given.study,
        title=study["title"],
        paper=study["paper"].strip(),
        presets=verdicts,
        missing=[name for name in study["figures"] if name not in presets],
        commands=_commands(given, presets),
        configfile=given.configfile,
        figures=entries,
    )
    (folder / "README.md").write_text(page, encoding="utf-8")


def _files(picture: Path) -> list[Path]:
    """The picture and the claims, where there are any."""
    return [file for file in (picture, picture.with_suffix(".claims.csv")) if file.is_file()]


def _read_claims(file: Path) -> pd.DataFrame:
    """All cells as they were written."""
    try:
        return known(pd.read_csv(file, dtype=str, keep_default_na=False), str(file))
    except FlatlasError as error:
        sys.exit(str(error))


def _picture(study: str, preset: str, figure: str) -> Path:
    return ROOT / "results" / preset / study / f"{figure}.png"


def _commands(given: argparse.Namespace, presets: Mapping[str, str]) -> list[str]:
    """What draws the figures, preset by preset, and what makes the page."""
    own = f" --configfile {given.configfile.name}" if given.configfile else ""
    commands = []
    for preset in dict.fromkeys(presets.values()):
        targets = " ".join(f"{given.study}_{name}" for name, at in presets.items() if at == preset)
        commands.append(f"snakemake {targets}{own} --config preset={preset} data_root=DIR")
    settings = {
        "STUDY": given.study,
        "PRESET": given.preset,
        "FROM": given.others,
        "WITHOUT": given.without,
        "CONFIGFILE": given.configfile.name if given.configfile else "",
    }
    commands.append(" ".join(["make gallery", *(f"{k}={v}" for k, v in settings.items() if v)]))
    return [_in_lines(command) for command in commands]


def _in_lines(command: str) -> str:
    """A command as an indented block of lines that a shell takes as one."""
    lines = wrap(command, 96, subsequent_indent="    ", break_on_hyphens=False)
    return indent(" \\\n".join(lines), "    ")


def _shrink(source: Path, target: Path) -> None:
    """A picture of at most 256 colours, enough for lines and dots."""
    with Image.open(source) as picture:
        flat = picture.convert("RGB")
        flat.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
        flat.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
