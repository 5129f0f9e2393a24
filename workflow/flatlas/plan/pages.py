"""What the pages are made of that a reader opens: scorecards, the report."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from flatlas.plan.plan import Plan


def judged_studies(plan: Plan) -> list[str]:
    """The studies of which something is judged."""
    return [study for study in plan.studies if plan.study_claims(study)]


def all_claims(plan: Plan) -> list[str]:
    """The files with the claims of all studies."""
    return [file for study in plan.studies for file in plan.study_claims(study)]


def claims_of(plan: Plan, studies: Iterable[str]) -> list[dict[str, Any]]:
    """Study by study, the figures that claim something, and where their claims and pictures lie."""
    return [
        {
            "name": study,
            "title": plan.studies[study].title,
            "figures": [
                {
                    "name": plan.figures[target].name,
                    "title": plan.figures[target].title,
                    "claims": plan.figure_results(target)["claims"],
                    "picture": plan.figure_file(target, "png"),
                }
                for target in plan.targets(study)
                if "claims" in plan.figure_results(target)
            ],
        }
        for study in studies
    ]


def times_of(files: Iterable[str]) -> list[int]:
    """When each file was written, 0 where it is not there: a parameter that tells of a change.

    For jobs that read what happens to lie there, and so can't call it their input.
    """
    paths = map(Path, files)
    return [path.stat().st_mtime_ns if path.is_file() else 0 for path in paths]
