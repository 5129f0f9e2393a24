"""The explorer as one HTML file, which fetches nothing: data, style and scripts are in it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from scipy.special import stdtrit

from flatlas.explorer.networks import NET, Axis, Variable, moments
from flatlas.report.rendering import FILTERS
from flatlas.report.verdicts import SIGNS
from flatlas.statistics.estimate import CONFIDENCE

HERE = Path(__file__).parent
SCRIPTS = ("coefficients", "state", "drawing", "networks", "ranking", "claims", "pinned", "start")
CLAIM = ("study", "figure", "claim", "says", "whose", "quantity", "criterion", "holds_from")
CLAIM += ("holds_to", "paper", "value", "low", "high", "verdict", "note", "scale", "picture")
# Of an error bar, these many digits are enough.
ERROR_DIGITS = 3


@dataclass(frozen=True)
class Explorer:
    """What the page shows. `again` is the command that trains a network again; it names {run}.

    `curves` has the learning curves of the networks: a row for each run, seed and epoch.
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
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("explorer.html").render(
        title=explorer.title,
        report=explorer.report,
        style=Markup((HERE / "explorer.css").read_text(encoding="utf-8")),
        scripts=[Markup((HERE / f"{name}.js").read_text(encoding="utf-8")) for name in SCRIPTS],
        data=Markup(_json(_data(explorer))),
    )


def _data(explorer: Explorer) -> dict[str, Any]:
    table = explorer.networks.sort_values(["study", *NET], kind="stable", ignore_index=True)
    return {
        "title": explorer.title,
        "again": explorer.again,
        "run": list(table["run"]),
        "seed": list(table["seed"]),
        "at": list(table["at"]),
        "study": list(table["study"]),
        "first": _first(table),
        "axes": [axis.on(table) for axis in explorer.axes],
        "variables": [_variable(table, one) for one in explorer.variables],
        "curves": _curves(explorer.curves),
        "claims": _claims(explorer.claims),
        "signs": SIGNS,
        # Student's quantile for an interval, by the number of realizations.
        "students": [0, 0, *(_student(count) for count in range(2, table["seed"].nunique() + 1))],
    }


def _student(realizations: int) -> float:
    return float(stdtrit(realizations - 1, (1 + CONFIDENCE) / 2))


def _first(table: pd.DataFrame) -> list[bool]:
    """Whether a row is its network at the first of its moments."""
    beyond = moments(table)
    return list(beyond == beyond.groupby([table["run"], table["seed"]]).transform("min"))


def _variable(table: pd.DataFrame, one: Variable) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": one.name,
        "words": one.words,
        "kind": one.kind,
        "tested": one.tested,
        "baseline": one.baseline,
        "values": list(moments(table) if one.name == "at" else table[one.name]),
    }
    if f"{one.name}_error" in table:
        errors = table[f"{one.name}_error"]
        said["errors"] = [float(f"{error:.{ERROR_DIGITS}g}") for error in errors]
    if f"{one.name}_converged" in table:
        settled = table[f"{one.name}_converged"]
        # A network that lacks the measure has no search that failed.
        said["settled"] = [int(one) for one in settled.astype("boolean").fillna(True)]
    return said


def _claims(claims: pd.DataFrame) -> list[dict[str, Any]]:
    table = claims.reindex(columns=CLAIM)
    with_symbols = {name: table[name].map(FILTERS["symbols"]) for name in ("says", "quantity")}
    return table.assign(**with_symbols).to_dict("records")


def _curves(curves: pd.DataFrame) -> dict[str, Any]:
    """For each network its epochs and, rounded, each of its curves."""
    if curves.empty:
        return {}
    shown = [name for name in curves if name not in ("run", "seed", "epoch")]
    return {
        f"{run} {seed}": {
            "epoch": list(rows["epoch"]),
            **{name: [float(f"{value:.3g}") for value in rows[name]] for name in shown},
        }
        for (run, seed), rows in curves.groupby(["run", "seed"])
    }


def _json(data: Mapping[str, Any]) -> str:
    """JSON that may stand inside a <script>; what is not finite is null."""
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
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return None if value is pd.NA else value
