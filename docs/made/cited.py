"""Fill in the numbers of claims in sentences, from the scorecards in docs/gallery.

A comment behind such a number, which no reader sees, names the claim and the verdict for which the
sentence was written: `grows by 37 %<!-- duality_fig3.alpha_size ✗ -->`. Number and interval are
updated with as many digits as were written. A factor before the claim's name multiplies both:
`falls by 28 %<!-- −1 · duality_fig3.batch_size ✗ -->`. Without a number the comment stands for the
verdict.
"""

import re
import sys
from functools import cache

import pandas as pd
from gallery import scorecard_files

from flatlas.claims.written import read_claims
from flatlas.report.verdicts import SIGNS

NUMBER = r"(?:[−\d][\d.]*(?:e-\d+)?|–)"
REFERENCE = re.compile(
    rf"(?:(?<![\w.−])(?P<value>{NUMBER})(?P<unit>\s+%)?"
    rf"(?:(?P<open>\s+\[)(?P<low>{NUMBER})(?P<comma>,\s+)(?P<high>{NUMBER})\])?|(?<![\d%\]–]))"
    r"(?P<comment><!--\s(?:(?P<factor>−?\d+)\s·\s)?(?P<claim>\w+\.[\w.]+)\s(?P<verdict>\S)\s-->)"
)


@cache
def scorecards() -> pd.DataFrame:
    """The claims of all galleries, by their names."""
    return pd.concat(map(read_claims, scorecard_files())).set_index("claim")


def updated(page: str, claims: pd.DataFrame) -> str:
    """The page with each claim's number as its scorecard has it."""
    return REFERENCE.sub(lambda reference: _number(reference, claims), page)


def misjudged(page: str, claims: pd.DataFrame) -> list[str]:
    """A line for each claim whose verdict is no longer the one its sentence was written for."""
    return [
        f"{one['claim']} is {sign}; the page was written for {one['verdict']}"
        for one in REFERENCE.finditer(page)
        if (sign := SIGNS[_row(one, claims)["verdict"]]) != one["verdict"]
    ]


def _row(reference: re.Match[str], claims: pd.DataFrame) -> pd.Series:
    if reference["claim"] not in claims.index:
        sys.exit(f"A page refers to {reference['claim']}. No gallery has this claim.")
    return claims.loc[reference["claim"]]


def _number(reference: re.Match[str], claims: pd.DataFrame) -> str:
    row = _row(reference, claims)
    if not reference["value"]:
        return reference[0]
    factor = int((reference["factor"] or "1").replace("−", "-")) * (100 if reference["unit"] else 1)
    text = _written(reference["value"], factor * row["value"]) + (reference["unit"] or "")
    if reference["open"]:
        ends = sorted([factor * row["low"], factor * row["high"]])
        low, high = map(_written, (reference["low"], reference["high"]), ends)
        text += f"{reference['open']}{low}{reference['comma']}{high}]"
    return text + reference["comment"]


def _written(before: str, value: float) -> str:
    """A number with the digits of what the page had."""
    if pd.isna(value):
        return "–"
    mantissa, exponent, _ = before.partition("e")
    form = f"z.{len(mantissa.partition('.')[2])}{'e' if exponent else 'f'}"
    return re.sub("^-", "−", format(value, form)).replace("e-0", "e-")
