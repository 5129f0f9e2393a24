"""Where each measure of a user's network lies in the atlas, or why it is not compared."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from flatlas.evidence.material import NET
from flatlas.studies.atlas.quantities import QUANTITIES, TAKEN

Options = Mapping[str, Mapping[str, Any]]
COLUMNS = ["net", "measure", "value", "error", "converged", "percentile", "networks", "why"]
# What is placed in addition to the measures.
TESTED = "test_error"
LOSSES = {1: "one output, with the logistic loss"}
# Measures of the training, which happened elsewhere.
UNKNOWN = {"epochs": "its training is unknown", "distance": "its start is unknown"}
ABSENT = "it can't be taken of this network"


def placed(mine: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """A row for each of my networks and each measure: its value, its percentile, or `why` not.

    Both are measure tables, with the options of measures among their `attrs`. The percentile is the
    share of comparable networks with a smaller value, plus half of the share with an equal value.
    """
    rows = [row for net in mine.index for row in _rows(mine, net, published)]
    return pd.DataFrame(rows, columns=COLUMNS)


def comparable(net: pd.Series, published: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The networks of the atlas with the same data set and loss; or why there are none.

    Each counts once, at its first moment: that of the stopping rule.
    """
    once = published.drop_duplicates(NET)
    alike = once[once["data.source"] == net["data.source"]]
    if alike.empty:
        seen = ", ".join(sorted(once["data.source"].unique()))
        return alike, f"another data set: {net['data.source']}, in the atlas {seen}"
    same = alike[alike["outputs"] == net["outputs"]]
    if same.empty:
        counts = ", ".join(_loss(count) for count in sorted(alike["outputs"].unique()))
        return same, f"another loss: {_loss(net['outputs'])}; in the atlas {counts}"
    return same, ""


def images_of(published: pd.DataFrame) -> str:
    """How many images the atlas has, in a sentence."""
    train, test = (published[f"data.{part}_size"].mode()[0] for part in ("train", "test"))
    return f"Most networks of the atlas have {train} training images, all have {test} test images."


def did_converge(net: Mapping[Any, Any] | pd.Series, name: str) -> bool:
    """Whether a measure's search or chains converged; true for a measure without either."""
    converged = net.get(f"{name}_converged")
    return converged is None or pd.isna(converged) or bool(converged)


def _loss(outputs: int) -> str:
    return LOSSES.get(int(outputs), f"{outputs} outputs, with cross-entropy")


def _rows(
    mine: pd.DataFrame, place: Any, published: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    net = mine.loc[place]
    others, why = (
        (mine.iloc[:0], "no table of the atlas is published")
        if published is None
        else comparable(net, published)
    )
    for name in (TESTED, *QUANTITIES):
        value = float(net.get(name, float("nan")))
        row = {
            "net": net["net"],
            "measure": name,
            "value": value,
            "error": float(net.get(f"{name}_error", float("nan"))),
            "converged": did_converge(net, name),
        }
        values = others[name].dropna() if name in others else pd.Series(dtype=float)
        refused = why or _refused(name, values, mine, published)
        if pd.isna(value) or name in UNKNOWN:
            refused = UNKNOWN.get(name, ABSENT)
        yield row | _percentile(value, values if not refused else values[:0]) | {"why": refused}


def _refused(
    name: str, values: pd.Series, mine: pd.DataFrame, published: pd.DataFrame | None
) -> str:
    """Why a measure is not compared with that of the atlas; '' if it is."""
    if published is None or values.empty:
        return "the atlas did not take it of comparable networks"
    if name == TESTED:
        return ""
    taken, _ = TAKEN[QUANTITIES[name].part]
    here, there = (dict(one.attrs["options"].get(taken, {})) for one in (mine, published))
    other = sorted(key for key in {*here, *there} if here.get(key) != there.get(key))
    if other:
        said = ", ".join(f"{key} {here.get(key)} instead of {there.get(key)}" for key in other)
        return f"other options: {said}"
    return ""


def _percentile(value: float, values: pd.Series) -> dict[str, float | int]:
    if values.empty:
        return {"percentile": float("nan"), "networks": 0}
    share = (values < value).mean() + (values == value).mean() / 2
    return {"percentile": 100 * float(share), "networks": len(values)}
