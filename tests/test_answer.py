"""The numbers with which README answers its question are those of the galleries' scorecards."""

import re
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SECTION = TEXT.partition("## Does flatness explain generalization?")[2].partition("\n## ")[0]
SENTENCES = [" ".join(one.split()) for one in re.split(r"\n\d+\. ", SECTION)[1:]]
# Of each sentence the claims with its numbers, as it writes them, and their verdicts.
BRACKET, COARSE = "{value:.3f} [{low:.3f}, {high:.3f}]", "{value:.2f} [{low:.2f}, {high:.2f}]"
YES, NO, OPEN = "reproduced", "not reproduced", "undecided"
CLAIMS = [
    {"prior_inverse.sharpness_spikes": ("{value:.1f} times larger [{low:.1f}, {high:.1f}]", YES)},
    {
        "atlas_fig1.sharpness_ranks": (COARSE, NO),
        "atlas_fig1.trace_ranks": (COARSE, YES),
        "atlas_fig1.trace_adds": (COARSE, YES),
    },
    {},
    {
        "prior_fig4.flatness_sgd_pearson": (COARSE, OPEN),
        "prior_fig4.flatness_adam_pearson": (COARSE, OPEN),
    },
    {
        "prior_fig4.prior_sgd_pearson": (BRACKET, YES),
        "prior_fig4.prior_adam_pearson": (BRACKET, YES),
    },
    {
        "prior_optimizers.prior_clean_pearson": (COARSE, OPEN),
        "prior_optimizers.flatness_clean_pearson": (COARSE, YES),
        "prior_optimizers.flatness_clean_spearman": (COARSE, OPEN),
    },
    {},
    {
        "false_friend_fig3.mlp_spectral_norm_more": ("{value:.0%} [{low:.0%}, {high:.0%}]", YES),
        "false_friend_fig3.mlp_accuracy_more": ("{value:.2%} points [{low:.2%}, {high:.2%}]", YES),
    },
    {"duality_s4.diagonal": ("{value:.1%}", YES), "duality_s4.test_error": (BRACKET, YES)},
    {
        "duality_fig3.alpha_gap": ("lowers the gap", YES),
        "duality_fig3.alpha_gap_sharp": (COARSE, YES),
        "duality_fig3.alpha_size": ("{value:.0%}", NO),
    },
]


@pytest.fixture(scope="module")
def scorecards():
    files = sorted((ROOT / "docs" / "gallery").glob("*/scorecard.csv"))
    return pd.concat(map(pd.read_csv, files)).set_index("claim")


@pytest.mark.parametrize("number", range(10))
def test_a_sentence_has_the_numbers_of_its_claims_and_no_others(scorecards, number):
    sentence, claims = SENTENCES[number], CLAIMS[number]
    assert len(SENTENCES) == len(CLAIMS)
    text, link = re.fullmatch(r"(.*) \(\[\w+\]\((.*)\)\)\.", sentence).groups()
    file, anchor = link.split("#")
    for claim, (written, verdict) in claims.items():
        row = scorecards.loc[claim]
        assert row["verdict"] == verdict
        assert claim.startswith(f"{Path(file).parent.name}_{anchor}.")
        shown = written.format_map(row).replace("-", "−")
        shown = shown.replace("% points", " points").replace("%,", ",").replace("%]", "]")
        shown = re.sub(r"(\d)%", r"\1 %", shown)
        assert shown in text
        text = text.replace(shown, "", 1)
    study = link.split("/")[-2] if "gallery" in link else Path(file).stem
    page = (ROOT / "docs" / f"{study}.md").read_text(encoding="utf-8")
    # What a sentence only mentions, and another sentence.
    text = re.sub(r"CIFAR-10|\(see \d+\)|P\(f\)", "", text)
    for left in re.findall(r"−?\d[\d.]*\d|\d", text):
        assert re.search(rf"(?<![\d.]){left}(?![\d.]*\d)", page), f"{left} is not in {study}.md"


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_link_of_a_sentence_leads_to_its_figure_or_section(sentence):
    ((file, anchor),) = re.findall(r"\]\(([^)#]+)#([^)]+)\)", sentence)
    page = (ROOT / file).read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)", page, flags=re.MULTILINE)
    slugs = [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings]
    assert f'<a id="{anchor}"></a>' in page or anchor in slugs
