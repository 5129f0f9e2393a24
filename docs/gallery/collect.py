"""Copy the drawn figures of a study here, as small pictures on one page with their verdicts.

    make gallery STUDY=duality PRESET=paper

What was drawn at another preset may be added: FROM="laptop:cifar_fig3,cifar_fig4".
"""

import argparse
import shutil
from pathlib import Path

import pandas as pd
import yaml
from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WIDTH = 1400
SIGNS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?"}


def main() -> None:
    """One page a study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("preset")
    parser.add_argument("command", help="how the figures were made")
    parser.add_argument("--from", dest="others", default="", help="PRESET:FIGURE,FIGURE")
    given = parser.parse_args()
    other, _, names = given.others.partition(":")
    presets = dict.fromkeys(filter(None, names.split(",")), other)
    study = yaml.safe_load((ROOT / "config" / "studies" / f"{given.study}.yaml").read_text())
    target = HERE / given.study
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    parts = [f"# {study['title']}", f"{study['paper'].strip()}", f"    {given.command}"]
    tables = []
    for name, figure in study["figures"].items():
        preset = presets.get(name, given.preset)
        folder = ROOT / "results" / preset / given.study
        _shrink(folder / f"{name}.png", target / f"{name}.png")
        at = f" (preset `{preset}`)" if preset != given.preset else ""
        parts += [f"## {name}: {figure['title']}{at}", f"![{name}]({name}.png)"]
        claims = folder / f"{name}.claims.csv"
        if claims.exists():
            tables.append(pd.read_csv(claims, keep_default_na=False).assign(preset=preset))
            parts.append(_table(tables[-1]))
    claims = pd.concat(tables, ignore_index=True)
    claims.to_csv(target / "scorecard.csv", index=False)
    counts = claims["verdict"].value_counts()
    told = ", ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in SIGNS)
    parts.insert(3, f"{len(claims)} claims: {told} ([scorecard.csv](scorecard.csv)).")
    (target / "README.md").write_text("\n\n".join(parts) + "\n")


def _shrink(source: Path, target: Path) -> None:
    """A picture of at most 256 colours, which is plenty for lines and dots."""
    with Image.open(source) as picture:
        flat = picture.convert("RGB")
        flat.thumbnail((WIDTH, WIDTH * 4), Image.Resampling.LANCZOS)
        flat.quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def _table(claims: pd.DataFrame) -> str:
    lines = [
        "| | the paper says | judged by | holds if | here |",
        "| --- | --- | --- | --- | --- |",
    ]
    for _, claim in claims.iterrows():
        here = f"{float(claim['value']):.3g} [{_end(claim['low'])}, {_end(claim['high'])}]"
        cells = (
            SIGNS[claim["verdict"]],
            claim["says"],
            claim["quantity"],
            claim["criterion"],
            here,
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _end(value: str | float) -> str:
    return f"{float(value):.3g}" if value != "" else "–"


if __name__ == "__main__":
    main()
