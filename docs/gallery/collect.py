"""Copy the drawn figures of a study here, as small pictures on one page with their verdicts.

    make gallery STUDY=duality PRESET=paper

What was drawn at another preset may be added: FROM="laptop:cifar_fig3,cifar_fig4"; what is not
drawn yet be left out: WITHOUT="s1,s3". If the figures were drawn with a --configfile, say so here,
too: CONFIGFILE=mine.yaml. The page tells it.
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

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIDTH = 1400
SIGNS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?"}
WHOSE = {"paper": "claims", "flatlas": "questions of ours"}
READING = (
    "A claim is reproduced (✓) where its number and all of its interval (in brackets: 95 %, by "
    "the bootstrap over realizations, in the atlas over runs; about 75 % of three, as notes tell) "
    "lie where the criterion says, not reproduced (✗) where the whole interval lies elsewhere, and "
    "else, or where solutions are missing, undecided (?). Judged is what was run: where nets, "
    "images or epochs are fewer than the text's, ✓ and ✗ are of these. What was looked into where "
    "a claim does not hold, and what is smaller, stands in [docs/{study}.md](../../{study}.md). "
    "What no sentence of the text says is a question of ours: it has a star and is counted apart, "
    "and its ✓ means yes, its ✗ no."
)


def main() -> None:
    """One page a study, made beside the old one and then put in its place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("preset")
    parser.add_argument("--from", dest="others", default="", help="PRESET:FIGURE,FIGURE")
    parser.add_argument("--configfile", type=Path, help="what the figures were drawn with")
    parser.add_argument("--without", default="", help="FIGURE,FIGURE")
    given = parser.parse_args()
    other, _, names = given.others.partition(":")
    study = yaml.safe_load((ROOT / "config" / "studies" / f"{given.study}.yaml").read_text())
    presets = dict.fromkeys(study["figures"], given.preset)
    presets |= dict.fromkeys(filter(None, names.split(",")), other)
    presets = {name: at for name, at in presets.items() if name not in given.without.split(",")}
    _check(given.study, presets, study["figures"])
    with tempfile.TemporaryDirectory(dir=HERE) as room:
        fresh, old, target = Path(room) / "fresh", Path(room) / "old", HERE / given.study
        fresh.mkdir()
        _collect(given.study, study, presets, _typed(given, presets), fresh)
        if target.exists():
            target.rename(old)
        fresh.rename(target)


def _check(study: str, presets: Mapping[str, str], figures: Mapping[str, Any]) -> None:
    unknown = sorted(set(presets) - set(figures))
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no figure of {study}. Allowed: {', '.join(figures)}.")
    for name, preset in presets.items():
        if not _picture(study, preset, name).is_file():
            command = f"snakemake {study}_{name} --config preset={preset}"
            sys.exit(f"No {_picture(study, preset, name)}: draw it first, with `{command}`.")


def _collect(
    name: str, study: Mapping[str, Any], presets: Mapping[str, str], typed: str, page: Path
) -> None:
    parts, tables = [], []
    for figure, preset in presets.items():
        picture = _picture(name, preset, figure)
        _shrink(picture, page / f"{figure}.png")
        title = study["figures"][figure]["title"]
        parts += [f"## {figure}: {title}", f"![{figure}]({figure}.png)"]
        claims = picture.with_suffix(".claims.csv")
        if claims.is_file():
            table = _known(claims).assign(preset=preset)
            tables.append(table)
            parts.append(_table(table))
    claims = pd.concat(tables, ignore_index=True)
    claims.to_csv(page / "scorecard.csv", index=False)
    missing = ", ".join(figure for figure in study["figures"] if figure not in presets)
    head = [
        f"# {study['title']}",
        study["paper"].strip(),
        READING.format(study=name),
        _counts(claims),
        *([f"Not drawn at this scale yet: {missing}."] if missing else []),
        typed,
    ]
    (page / "README.md").write_text("\n\n".join([*head, *parts]) + "\n", encoding="utf-8")


def _known(file: Path) -> pd.DataFrame:
    claims = pd.read_csv(file, keep_default_na=False)
    if "whose" not in claims:
        sys.exit(f"{file} is of an older flatlas: delete it and draw its figure again.")
    return claims


def _picture(study: str, preset: str, figure: str) -> Path:
    return ROOT / "results" / preset / study / f"{figure}.png"


def _typed(given: argparse.Namespace, presets: Mapping[str, str]) -> str:
    """The commands that draw the figures, preset by preset, and the one that makes this page."""
    laid = f" --configfile {given.configfile.name}" if given.configfile else ""
    commands = []
    for preset in dict.fromkeys(presets.values()):
        targets = " ".join(f"{given.study}_{name}" for name, at in presets.items() if at == preset)
        commands.append(f"snakemake {targets}{laid} --config preset={preset} data_root=DIR")
    settings = {
        "STUDY": given.study,
        "PRESET": given.preset,
        "FROM": given.others,
        "WITHOUT": given.without,
    }
    settings |= {"CONFIGFILE": given.configfile.name if given.configfile else ""}
    told = [f"{name}={value}" for name, value in settings.items() if value]
    commands.append(" ".join(["make gallery", *told]))
    parts = ["What was typed; DIR is where the data sets are:", *map(_in_lines, commands)]
    if given.configfile:
        parts.append(f"In `{given.configfile.name}`:")
        parts.append(indent(given.configfile.read_text().rstrip(), "    "))
    return "\n\n".join(parts)


def _in_lines(command: str) -> str:
    """A command as a block of lines that a shell takes for one."""
    lines = wrap(command, 96, subsequent_indent="    ", break_on_hyphens=False)
    return indent(" \\\n".join(lines), "    ")


def _counts(claims: pd.DataFrame) -> str:
    """Verdicts of each preset, for what holds at one scale need not at another; ours apart."""
    lines = []
    for preset, rows in claims.groupby("preset", sort=False):
        for whose, called in WHOSE.items():
            some = rows[rows["whose"] == whose]
            counts = some["verdict"].value_counts()
            told = [f"{counts.get(one, 0)} {one} ({sign})" for one, sign in SIGNS.items()]
            if len(some):
                lines.append(f"- {len(some)} {called} at `{preset}`: {', '.join(told)}.")
    return "\n".join([*lines, "", "All of them stand in [scorecard.csv](scorecard.csv)."])


def _shrink(source: Path, target: Path) -> None:
    """A picture of at most 256 colours, which is plenty for lines and dots."""
    with Image.open(source) as picture:
        flat = picture.convert("RGB")
        flat.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
        flat.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def _table(claims: pd.DataFrame) -> str:
    header = ("", "claim", "judged by", "holds if", "paper", "here", "note")
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    for _, claim in claims.iterrows():
        here = f"{_number(claim['value'])} [{_number(claim['low'])}, {_number(claim['high'])}]"
        told = [claim[column] for column in ("says", "quantity", "criterion", "paper")]
        star = " ★" if claim["whose"] == "flatlas" else ""
        cells = [SIGNS[claim["verdict"]] + star, *told, here, claim["note"]]
        lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _number(value: str | float) -> str:
    return "–" if value == "" else f"{float(value):.3g}"


if __name__ == "__main__":
    main()
