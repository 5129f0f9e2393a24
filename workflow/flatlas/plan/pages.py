"""What the pages are made of that a reader opens: scorecards, the report."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flatlas.plan.code import STUDIES, stage_code
from flatlas.plan.lookup import Lookup


def judged_studies(plan: Lookup) -> list[str]:
    """The studies of which something is judged."""
    return [name for name, study in plan["studies"].items() if study["claims"]]


def all_claims(plan: Lookup) -> list[str]:
    """The files with the claims of all studies."""
    return [file for study in plan["studies"].values() for file in study["claims"]]


def claims_of(plan: Lookup, studies: Iterable[str]) -> list[dict[str, Any]]:
    """Study by study, the figures that claim something."""
    return [
        {
            "name": study,
            "title": plan["studies"][study]["title"],
            "figures": [
                _figure(plan, target)
                for target in plan["studies"][study]["figures"]
                if "claims" in plan["figures"][target]["results"]
            ],
        }
        for study in studies
    ]


def _figure(plan: Lookup, target: str) -> dict[str, Any]:
    """Its names, its files, and what it would be drawn from now."""
    figure = plan["figures"][target]
    return {
        "target": target,
        "name": figure["name"],
        "title": figure["title"],
        "picture": figure["png"],
        "files": figure["results"],
        "spec": figure["spec"],
        "code": stage_code("figure", *figure["modules"]),
    }


def scorecards(plan: Lookup) -> list[str]:
    """The two scorecards that are compared; '' for one of which nothing is said."""
    trees = plan["compared"]
    return [str(Path(tree).expanduser() / "scorecard.csv") if tree else "" for tree in trees]


def written(files: Iterable[str]) -> str:
    """A digest that changes when any of the files is written, or comes, or goes.

    A parameter for jobs that read what happens to lie there, and so can't call it their input.
    """
    paths = map(Path, files)
    times = [path.stat().st_mtime_ns if path.is_file() else 0 for path in paths]
    return hashlib.sha256(str(times).encode()).hexdigest()[:12]


def report_studies(plan: Lookup) -> list[dict[str, Any]]:
    """Study by study, each figure with the files that tell of it, and what is not the study's."""
    return [
        {
            "name": name,
            "title": study["title"],
            "paper": study["paper"],
            "figures": [
                _figure(plan, target)
                | {
                    "caption": _caption(name, plan["figures"][target]["name"]),
                    "data": plan["figures"][target]["data"],
                    "changes": plan["figures"][target]["changes"],
                }
                for target in study["figures"]
            ],
        }
        for name, study in plan["studies"].items()
    ]


def report_files(plan: Lookup) -> list[str]:
    """All that has to be there before the report is whole."""
    figures = [file for study in plan["studies"].values() for file in study["files"]]
    jobs = [job["provenance"] for job in plan["jobs"].values()]
    return list(dict.fromkeys([*figures, *jobs]))


def _caption(study: str, figure: str) -> str:
    """The text of a caption, not its path: that differs between checkouts."""
    return (STUDIES / study / f"{figure}.rst").read_text(encoding="utf-8")
