"""The explorer as one HTML file, which fetches nothing: data, style and scripts are in it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import FileSystemLoader
from markupsafe import Markup

from flatlas.claims.claim import COLUMNS
from flatlas.claims.conventions import ADDS, USEFUL
from flatlas.evidence.material import with_full_batches
from flatlas.explorer.curves import SHOWN
from flatlas.explorer.networks import MOMENT, REALIZATION, Axis, Variable, first, labels, moments
from flatlas.report.rendering import ENVIRONMENT, FILTERS
from flatlas.report.verdicts import ANSWERS, SIGNS
from flatlas.statistics import estimate, rank_correlation
from flatlas.statistics.student import standard_errors

TEMPLATE = Path(__file__).with_name("template")
SCRIPTS = (
    *("coefficients", "state", "drawing", "networks", "selection", "pointing"),
    *("ranking", "claims", "pinned", "start"),
)
CLAIM = ("study", "figure", *COLUMNS, "scale", "picture")
# The digits of an error.
DIGITS = 3
# JavaScript has all integers up to this one.
LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class Explorer:
    """What the page shows. `again` is the command that trains a run again; it names {file}.

    `curves` are those of `learning_curves`, or none. `report` is a link to that page.
    """

    title: str
    networks: pd.DataFrame
    variables: list[Variable]
    axes: list[Axis]
    claims: pd.DataFrame
    again: str
    report: str = ""
    curves: pd.DataFrame = field(default_factory=pd.DataFrame)


def explorer_page(explorer: Explorer) -> str:
    """The page."""
    environment = ENVIRONMENT.overlay(loader=FileSystemLoader(TEMPLATE))
    return environment.get_template("explorer.html").render(
        title=explorer.title,
        report=explorer.report,
        style=_text("explorer.css"),
        scripts=[_text(f"{name}.js") for name in SCRIPTS],
        data=Markup(_json(_data(explorer))),
    )


def _text(name: str) -> Markup:
    return Markup((TEMPLATE / name).read_text(encoding="utf-8"))


def _data(explorer: Explorer) -> dict[str, Any]:
    table = explorer.networks.sort_values(["study", *MOMENT], kind="stable", ignore_index=True)
    return {
        "again": explorer.again,
        **{name: table[name] for name in ("study", *MOMENT)},
        "seed": _seeds(table),
        "realization": labels(table, REALIZATION),
        "first": first(table),
        "axes": [axis.on(table) for axis in explorer.axes],
        "variables": [_variable(table, one) for one in explorer.variables],
        **_curves(explorer.curves),
        "claims": _claims(explorer.claims),
        "signs": SIGNS,
        "answers": ANSWERS,
        "conventions": conventions(len(table[REALIZATION].drop_duplicates())),
    }


def _seeds(table: pd.DataFrame) -> pd.Series:
    """The seeds; as text if JavaScript would round them."""
    seeds = table["seed"]
    return seeds.astype(str) if seeds.max() > LARGEST_EXACT else seeds


def conventions(realizations: int) -> dict[str, Any]:
    """The constants that the page's coefficients share with Python's and with the claims."""
    return {
        "nothing": rank_correlation.NOTHING,
        "fewestComparisons": rank_correlation.FEWEST,
        "fewestRealizations": estimate.FEWEST,
        # The least coefficients with which a measure is useful: alone, and given the baselines.
        "useful": USEFUL.low,
        "adds": ADDS.low,
        # Student's quantile, by the number of realizations.
        "students": [0, 0, *standard_errors(np.arange(2, realizations + 1)).tolist()],
    }


def _variable(table: pd.DataFrame, one: Variable) -> dict[str, Any]:
    values = moments(table) if one.name == "at" else table[one.name]
    if pd.api.types.is_bool_dtype(values):
        values = values.map({True: "yes", False: "no"})
    said: dict[str, Any] = {
        "name": one.name,
        "words": one.words,
        "kind": one.kind,
        "tested": one.tested,
        "baseline": one.baseline,
        "values": values,
    }
    names = with_full_batches(table)[one.name].map(_name)
    if pd.api.types.is_numeric_dtype(table[one.name]) and names.notna().any():
        said["names"] = names
    if f"{one.name}_error" in table:
        said["errors"] = [float(f"{error:.{DIGITS}g}") for error in table[f"{one.name}_error"]]
    if f"{one.name}_converged" in table:
        # Without a value of the measure no search has failed.
        settled = table[f"{one.name}_converged"].astype("boolean").fillna(True)
        said["settled"] = settled.astype(int)
    return said


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _claims(claims: pd.DataFrame) -> list[dict[Any, Any]]:
    table = claims.reindex(columns=[*CLAIM])
    with_symbols = {name: table[name].map(FILTERS["symbols"]) for name in ("says", "quantity")}
    return table.assign(**with_symbols).to_dict("records")


def _curves(curves: pd.DataFrame) -> dict[str, Any]:
    """The epochs and curves of each network, and the folders of runs outside results/runs."""
    if curves.empty:
        return {"curves": {}, "folders": {}}
    folders = curves.groupby("run")["folder"].first()
    networks = curves.groupby(["run", "seed"])
    return {
        "curves": {
            f"{run} {seed}": {name: rows[name] for name in ("epoch", *SHOWN)}
            for (run, seed), rows in networks
        },
        "folders": dict(folders[folders != "runs"]),
    }


def _json(data: Mapping[str, Any]) -> str:
    """JSON that is safe inside a <script>; numbers that are not finite become null."""
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        if not isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return None if value is pd.NA else value
