"""The claims of a figure, by name, and what may be asked of all of them."""

from importlib import import_module
from math import isfinite, isnan

from flatlas.scorecard.claims import UNDECIDED


def judged_figure(study, figure, material):
    claims = import_module(f"flatlas.scorecard.{study}.{figure}").judge(material)
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names), "two claims of one name"
    return {claim.name: claim for claim in claims}


def assert_all_come_out(claims, verdict):
    assert {name: claim.verdict for name, claim in claims.items()} == dict.fromkeys(claims, verdict)
    assert not any(claim.note for claim in claims.values())


def assert_numbers_decide_nothing(claims):
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isfinite(claim.estimate.value)


def assert_nothing_is_known(claims, names):
    assert claims.keys() == names
    for claim in claims.values():
        assert claim.verdict == UNDECIDED
        assert isnan(claim.estimate.value)
