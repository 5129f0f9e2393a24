"""The content of the pages: scorecards, the report, the costs."""

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flatlas.plan.code import STUDIES, code_of
from flatlas.plan.lookup import Lookup
from flatlas.plan.paths import ATLAS, ATLAS_MINE, MY_MODEL, NETWORKS, PLACE, all_records


@dataclass(frozen=True)
class Scorecard:
    """A scorecard: its files, and the files it reads. The defaults are for that of all studies."""

    files: dict[str, str]
    studies: list[str]
    figures: list[str]
    of: str = "all studies"
    title: str = "What the papers claim about flat minima"
    category: str = "Scorecard"
    shows: str = "Every claim of every study"


def scorecards(plan: Lookup) -> dict[str, Scorecard]:
    """By rule, the scorecard of each study that has claims, and the scorecard of all studies."""
    judged = {study: files for study in plan.studies if (files := judged_figures(plan, study))}
    each = {
        f"{name}_scorecard": Scorecard(
            files=plan.studies[name].scorecard,
            studies=[name],
            figures=files,
            of=name,
            title=plan.studies[name].title,
            category=plan.studies[name].title,
            shows="Every claim and its verdict",
        )
        for name, files in judged.items()
    }
    figures = [file for files in judged.values() for file in files]
    return {**each, "scorecard": Scorecard(plan.pages["scorecard"], list(judged), figures)}


def page_of(plan: Lookup, rules: Collection[str]) -> str | None:
    """Of the pages that these rules make, the one that shows most. The report comes first."""
    cards = {name: card.files for name, card in scorecards(plan).items()}
    all_studies = {name: plan.pages[name] for name in ("report", "explorer", "scorecard")}
    made = {f"{MY_MODEL}_page": MY_MODEL, f"{ATLAS_MINE}_{PLACE}": ATLAS_MINE}
    own = {rule: plan.pages[page] for rule, page in made.items() if page in plan.pages}
    pages = {**all_studies, **own, **cards}
    return next((files["html"] for name, files in pages.items() if name in rules), None)


def judged_figures(plan: Lookup, study: str) -> list[str]:
    """All files of one study's figures that have claims: if one is missing, none counts."""
    outputs = [plan.jobs[target].outputs for target in plan.studies[study].figures]
    return [file for files in outputs if "claims" in files for file in files.values()]


def claims_of(plan: Lookup, studies: Iterable[str]) -> list[dict[str, Any]]:
    """Study by study, the figures that have claims."""
    return [
        {
            "name": study,
            "title": plan.studies[study].title,
            "figures": [
                _figure(plan, target)
                for target in plan.studies[study].figures
                if "claims" in plan.jobs[target].outputs
            ],
        }
        for study in studies
    ]


def _figure(plan: Lookup, target: str) -> dict[str, Any]:
    """A figure's names and files, and a digest of its current inputs."""
    figure, job = plan.figures[target], plan.jobs[target]
    return {
        "target": target,
        "name": figure.name,
        "title": figure.title,
        "picture": job.outputs["png"],
        "files": {name: file for name, file in job.outputs.items() if name != "png"},
        "spec": job.spec,
        "code": code_of(job),
    }


def compared(plan: Lookup) -> list[str]:
    """The two scorecards to compare. One that the configuration does not name is ''."""
    return [str(_scorecard(Path(tree).expanduser())) if tree else "" for tree in plan.compared]


def _scorecard(given: Path) -> Path:
    """The scorecard in a folder, or the one given itself."""
    name = "scorecard.csv"
    return given if given.name == name else given / name


def written(files: Iterable[str | Path]) -> str:
    """A digest that changes when any of the files is written, appears or disappears.

    For jobs that read whatever files exist already. Such files cannot be declared as inputs.
    """
    paths = map(Path, files)
    times = [path.stat().st_mtime_ns if path.is_file() else 0 for path in paths]
    return hashlib.sha256(str(times).encode()).hexdigest()[:12]


def report_studies(plan: Lookup) -> list[dict[str, Any]]:
    """Study by study, each figure with its files, its data and its changed settings."""
    return [
        {
            "name": name,
            "title": study.title,
            "paper": study.paper,
            "figures": [
                _figure(plan, target)
                | {
                    "caption": caption_of(plan.figures[target].caption),
                    "data": plan.figures[target].data,
                    "changes": plan.figures[target].changes,
                }
                for target in study.figures
            ],
        }
        for name, study in plan.studies.items()
    ]


def report_files(plan: Lookup) -> list[str]:
    """Every file that the complete report is made from."""
    figures = [file for target in plan.figures for file in plan.jobs[target].outputs.values()]
    jobs = [job.outputs["provenance"] for job in plan.jobs.values()]
    return list(dict.fromkeys([*figures, *jobs]))


def results_of(plan: Lookup) -> list[list[str]]:
    """The files of each result (of jobs, scorecards and pages), including its provenance."""
    jobs = [job.outputs for job in plan.jobs.values()]
    cards = [card.files for card in scorecards(plan).values()]
    others = plan.pages.keys() - {"scorecard"}
    if f"{ATLAS}_{NETWORKS}" not in plan.jobs:
        others -= {"explorer"}
    pages = [plan.pages[name] for name in sorted(others) if "json" in plan.pages[name]]
    return [list(files.values()) for files in (*jobs, *cards, *pages)]


def recorded_jobs(plan: Lookup) -> dict[str, dict[str, Any]]:
    """For each job, how much work it is, and the file that records its time and memory."""
    return {
        name: {**job.work, "provenance": job.outputs["provenance"]}
        for name, job in plan.jobs.items()
    }


def read_by_costs(plan: Lookup) -> list[str]:
    """The provenance of every result, at any preset, and of each job of the plan."""
    return sorted({*all_records(), *(job.outputs["provenance"] for job in plan.jobs.values())})


def caption_of(file: str) -> str:
    """The text of a caption. Jobs get the text, since the path differs between checkouts."""
    return (STUDIES / file).read_text(encoding="utf-8")
