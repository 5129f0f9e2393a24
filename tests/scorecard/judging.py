"""The claims of a figure, by name."""

from importlib import import_module


def judged_figure(study, figure, material):
    claims = import_module(f"flatlas.scorecard.{study}.{figure}").judge(material)
    names = [claim.name for claim in claims]
    assert len(set(names)) == len(names), "two claims of one name"
    return {claim.name: claim for claim in claims}
