"""Figure 1: whether a measure ranks nets by their gap, and whether it adds to the baselines."""

from collections.abc import Iterator

from flatlas.evidence.atlas import BASELINES, GAP, MEASURES, STUDY, nets, once
from flatlas.evidence.material import Material
from flatlas.studies.atlas.ranking import Ranked
from flatlas.claims.claim import Claim, ours
from flatlas.claims.conventions import CORRELATED, MORE
from flatlas.statistics.rank_correlation import tau


def judge(material: Material) -> list[Claim]:
    """Two questions of each measure."""
    return ours(_claims(material))


def _claims(material: Material) -> Iterator[Claim]:
    table = once(nets(material))
    for name, measure in MEASURES.items():
        yield Ranked.of(table, name).claim(
            f"{name}_ranks",
            f"the larger the {measure.name}, the larger the gap",
            f"Kendall's coefficient of the {measure.name} with the gap, over pairs of one study",
            CORRELATED["kendall"],
            tau(table, name, GAP, table[STUDY], table["run"]),
        )
        yield Ranked.of(table, name, BASELINES).claim(
            f"{name}_adds",
            f"the {measure.name} tells what epochs, loss, gradient and weight norm do not",
            "the same, given the four baselines",
            MORE,
            tau(table, name, GAP, table[STUDY], table["run"], BASELINES),
        )
