"""Each finding in the README links to its figure and takes its numbers from claims or that page."""

import re
from pathlib import Path

import cited
import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = TEXT.partition("## Does flatness explain generalization?")[2].partition("\n## ")[0]
FINDINGS = [part.partition("\n\n")[0] for part in re.split(r"\n\d+\. ", SECTION)[1:]]


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_finding_links_to_the_figures_of_its_claims(finding):
    claims = [one["claim"] for one in cited.REFERENCE.finditer(finding)]
    links = re.findall(r"\(\[(\w+)\]\(([^)#]+)#([^)]+)\)\)", finding)
    assert {f"{study}_{anchor}" for study, _, anchor in links} == {
        claim.partition(".")[0] for claim in claims
    }
    for study, file, anchor in links:
        assert Path(file).parent.name == study
        assert f'<a id="{anchor}"></a>' in (ROOT / file).read_text(encoding="utf-8")


def test_numbers_of_findings_without_a_claim_are_on_the_page_of_their_study():
    numbers = []
    for finding in FINDINGS:
        assert any(one["value"] for one in cited.REFERENCE.finditer(finding))
        study = re.search(r"\(\[(\w+)\]", finding)[1]
        left = re.sub(r"\]\([^)]*\)|L2", "", cited.REFERENCE.sub("", finding))
        # Every page has a zero.
        numbers += [(study, one) for one in re.findall(r"\d+(?:\.\d+)?", left) if one != "0"]
    assert numbers
    for study, number in numbers:
        page = (ROOT / "docs" / f"{study}.md").read_text(encoding="utf-8")
        assert re.search(rf"(?<![\d.]){number}(?!\.?\d)", page), f"{number} is not in {study}.md"
