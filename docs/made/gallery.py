"""The page of each study in docs/gallery, from the files that collect.py has put there.

These are the pictures, scorecard.csv, the configuration file, if there was one, and drawn.yaml,
which says at which preset each figure was drawn. realizations.yaml, written by hand, has the
settings of figures that were drawn with other numbers of realizations than the study's. Titles,
captions and symbols are the repository's.
"""

import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent, wrap
from typing import Any

import pandas as pd
import yaml
from means import MEANS, tables
from networks import dictionary
from pages import ROOT

from flatlas.claims.written import read_claims
from flatlas.plan.paths import NETWORKS
from flatlas.plan.tables import GALLERY as GALLERY_COLUMNS
from flatlas.report.captions import without_title
from flatlas.report.pages import Entry
from flatlas.report.published import DRAWN, SCORECARD, is_smaller
from flatlas.report.rendering import render
from flatlas.report.verdicts import count_verdicts
from flatlas.store.tables import read_table

GALLERY = ROOT / "docs" / "gallery"
# The atlas' measure table.
TABLE = f"{NETWORKS}.parquet"
REALIZATIONS = "realizations.yaml"
SYMBOLS = ROOT / "docs" / "symbols.md"
# Where the sources that a citation names can be read.
SOURCES = {
    re.compile(r"\barXiv:(\S+\d)"): r"[arXiv:\1](https://arxiv.org/abs/\1)",
    re.compile(r"\bdoi:(\S+\w)"): r"[doi:\1](https://doi.org/\1)",
}


@dataclass(frozen=True)
class Drawn:
    """The arguments of `make gallery`. `others` is PRESET:FIGURE,FIGURE."""

    preset: str
    others: str = ""
    without: str = ""
    configfile: str = ""

    def presets(self, figures: Mapping[str, Any]) -> dict[str, str]:
        """The preset of each figure that is not left out."""
        other, _, names = self.others.partition(":")
        if other and not names:
            sys.exit(f"--from is '{self.others}'. Allowed: PRESET:FIGURE,FIGURE.")
        elsewhere, left_out = ([*filter(None, one.split(","))] for one in (names, self.without))
        unknown = sorted({*elsewhere, *left_out} - set(figures))
        if unknown:
            sys.exit(f"There is no {', '.join(unknown)}. Figures: {', '.join(figures)}.")
        kept = [name for name in figures if name not in left_out]
        return {name: other if name in elsewhere else self.preset for name in kept}

    def commands(
        self,
        study: str,
        presets: Mapping[str, str],
        further: Mapping[str, Mapping[str, Any]],
        table: bool,
    ) -> list[str]:
        """The commands that draw the figures and the measure table, and make the page.

        `further` has the settings of some figures. Figures of one preset and one mapping of
        settings share a command.
        """
        file = f"docs/gallery/{study}/{self.configfile}" if self.configfile else ""
        own = f" --configfile {file}" if file else ""
        targets: dict[tuple[str, str], list[str]] = {}
        for name, preset in presets.items():
            key = preset, _config(further.get(name, {}))
            targets.setdefault(key, []).append(f"{study}_{name}")
        if table:
            targets.setdefault((self.preset, ""), []).append(f"{study}_{NETWORKS}")
        commands = [
            f"snakemake {' '.join(names)}{own} --config preset={preset} data_root=DIR{config}"
            for (preset, config), names in targets.items()
        ]
        settings = {
            "STUDY": study,
            "PRESET": self.preset,
            "FROM": self.others,
            "WITHOUT": self.without,
            "CONFIGFILE": file,
        }
        commands.append(" ".join(["make gallery", *(f"{k}={v}" for k, v in settings.items() if v)]))
        return [_in_lines(command) for command in commands]

    def write(self, folder: Path) -> None:
        """Write these arguments beside the pictures."""
        given = {key: value for key, value in asdict(self).items() if value}
        (folder / DRAWN).write_text(yaml.safe_dump(given, sort_keys=False), encoding="utf-8")


def read_further(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The settings of each figure with other numbers of realizations than the study's."""
    file = folder / REALIZATIONS
    groups = yaml.safe_load(file.read_bytes()) if file.is_file() else []
    return {name: group["config"] for group in groups for name in group["figures"]}


def _config(settings: Mapping[str, Any]) -> str:
    """Settings of studies as arguments of --config, each after a space."""
    # Without spaces: a line must not end within quotes.
    texts = {key: json.dumps(value, separators=(",", ":")) for key, value in settings.items()}
    return "".join(f" {shlex.quote(f'studies.{key}={text}')}" for key, text in texts.items())


def read_drawn(folder: Path) -> Drawn:
    """The arguments with which a gallery was made."""
    return Drawn(**yaml.safe_load((folder / DRAWN).read_text(encoding="utf-8")))


def galleries() -> dict[Path, str]:
    """The page of each study, and the data dictionary of the measure table, by their paths."""
    folders = sorted(path.parent for path in GALLERY.glob(f"*/{DRAWN}"))
    pages = {folder / "README.md": page(folder.name, folder) for folder in folders}
    tables = sorted(GALLERY.glob(f"*/{TABLE}"))
    return pages | {file.with_suffix(".md"): dictionary(read_table(file)) for file in tables}


def page(study: str, folder: Path, root: Path = ROOT) -> str:
    """The page of a study from the files in its folder, and from the study itself under `root`."""
    settings = yaml.safe_load((root / "config" / "studies" / f"{study}.yaml").read_bytes())
    captions = root / "workflow" / "flatlas" / "studies" / study
    drawn, scorecard = read_drawn(folder), read_scorecard(folder)
    planned = drawn.presets(settings["figures"])
    # A figure that is newer than the gallery has no picture here yet.
    presets = {name: at for name, at in planned.items() if (folder / f"{name}.png").is_file()}
    _check_scales(presets, scorecard, study)
    figures = []
    for name in presets:
        target, title = f"{study}_{name}", settings["figures"][name]["title"]
        claims = scorecard[scorecard["claim"].str.startswith(f"{target}.")]
        caption = without_title((captions / f"{name}.rst").read_text(encoding="utf-8"))
        has_claims = claims if len(claims) else None
        figures.append(Entry(target, name, title, has_claims, caption=caption))
    configuration = folder / drawn.configfile if drawn.configfile else None
    text = [settings["title"], *(one.title + one.caption for one in figures)]
    text += [*scorecard["says"], *scorecard["quantity"], *scorecard["note"]]
    return render(
        "gallery.md",
        study=study,
        title=settings["title"],
        paper=_linked(settings["paper"].strip()),
        presets={
            preset: count_verdicts(claims)
            for preset, claims in scorecard.groupby("preset", sort=False)
        },
        scales={name: scale(preset, folder) for name, preset in presets.items()},
        missing=[name for name in settings["figures"] if name not in presets],
        networks=NETWORKS if (table := (folder / TABLE).is_file()) else "",
        means={name: [*tables(rows)] for name, rows in read_means(folder)},
        means_file=MEANS,
        commands=drawn.commands(study, presets, read_further(folder), table),
        configuration=configuration,
        figures=figures,
        symbols=symbols_in("\n".join(text), study),
    )


def read_means(folder: Path) -> Any:
    """The means of each figure that has a table of them."""
    file = folder / MEANS
    return pd.read_csv(file).groupby("figure", sort=False) if file.is_file() else ()


def scorecard_files(gallery: Path = GALLERY) -> list[Path]:
    """The scorecard of each study that has one."""
    return sorted(gallery.glob(f"*/{SCORECARD}"))


def figure_of(claim: str, study: str) -> str:
    """The name of the figure that a claim of a study is on."""
    return claim.partition(".")[0].removeprefix(f"{study}_")


def _check_scales(presets: Mapping[str, str], scorecard: pd.DataFrame, study: str) -> None:
    """Refuse claims that were judged at another preset than that of their figure."""
    for claim, judged in zip(scorecard["claim"], scorecard["preset"], strict=True):
        name = figure_of(claim, study)
        if presets.get(name) != judged:
            sys.exit(f"{SCORECARD} has {name} at {judged}, {DRAWN} at {presets.get(name)}.")


def read_scorecard(folder: Path) -> pd.DataFrame:
    """All claims of a gallery, which may have none."""
    file = folder / SCORECARD
    if not file.is_file():
        return pd.DataFrame(columns=[*GALLERY_COLUMNS], dtype=str)
    return read_claims(file)


def scale(preset: str, folder: Path) -> str:
    """A preset, and whether the gallery has smaller settings than it."""
    return f"`{preset}`, partly smaller" if is_smaller(folder) else f"`{preset}`"


def symbols_in(text: str, study: str) -> list[tuple[str, str]]:
    """The rows of the glossary whose symbols are in a text of a study: symbol and meaning."""
    return [
        (" · ".join(symbols), meaning)
        for symbols, meaning, studies in glossary()
        if study in studies and any(_occurs(symbol, text) for symbol in symbols)
    ]


def glossary() -> list[tuple[list[str], str, list[str]]]:
    """The rows of docs/symbols.md: how a symbol is written, what it means, in which studies."""
    lines = SYMBOLS.read_text(encoding="utf-8").splitlines()
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in row] for row in rows]
    return [(row[0].split(" · "), row[1], row[2].split(", ")) for row in cells]


def _occurs(symbol: str, text: str) -> bool:
    return re.search(rf"(?<![\w^]){re.escape(symbol)}(?!\w)", text) is not None


def _linked(citation: str) -> str:
    for source, link in SOURCES.items():
        citation = source.sub(link, citation)
    return citation


def _in_lines(command: str) -> str:
    """A command as an indented block of lines that a shell takes as one."""
    lines = wrap(
        command, 96, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )
    return indent(" \\\n".join(lines), "    ")
