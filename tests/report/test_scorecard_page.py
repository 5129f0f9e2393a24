"""The scorecard's page: what is on it, and that nothing in it breaks the HTML."""

from html.parser import HTMLParser
from math import inf, nan

import pytest
from reading import Page

from flatlas.claims.claim import (
    Claim,
    at_least,
    at_most,
    between,
    claims_table,
    not_run,
    ours,
)
from flatlas.report.scorecard import Figure, Study, page
from flatlas.report.strip import WIDTH, strip
from flatlas.statistics.estimate import UNKNOWN, Estimate
from flatlas.store.tables import read_table, write_table

CLAIMS = [
    Claim("rises", "ΔL rises", "rank correlation", at_least(0.8), Estimate(0.95, 0.9, 1.0), "1"),
    Claim("falls", "<b>σ_g & more</b>", "change", at_most(0), Estimate(-0.123456, nan, nan)),
    Claim("same", "S_w stays", "change", between(-0.1, 0.1), Estimate(0.5, 0.4, 0.6)),
    Claim("lost", "nothing", "change", at_most(0), UNKNOWN, note="Solutions: 0 at 4.0, of 10."),
]


@pytest.fixture
def study(tmp_path):
    """As the job has it: written and read back, with empty cells that become NaN."""
    tables = {}
    for name, claims in {"fig3": CLAIMS[:2], "s10": CLAIMS[2:]}.items():
        write_table(tmp_path / f"{name}.csv", claims_table(f"study_{name}", claims, judged=True))
        tables[name] = read_table(tmp_path / f"{name}.csv")
    figures = [
        Figure(name, f"Figure “{name}” & <all>", f"{name}.png", table)
        for name, table in tables.items()
    ]
    return Study("flat", "Flat & sharp", figures)


def undrawn(tmp_path):
    """A study of which nothing is drawn."""
    write_table(tmp_path / "undrawn.csv", not_run("late_fig1", "The <late> one"))
    figure = Figure("fig1", "The <late> one", "", read_table(tmp_path / "undrawn.csv"))
    return Study("late", "Late", [figure])


def text_of(html):
    return Page(html).text


def test_the_page_counts_its_verdicts(study):
    text = text_of(page("Flat & sharp", "Paper", [study]))
    for counted in ("1 reproduced", "1 not reproduced", "2 undecided", "of 4 claims"):
        assert counted in text
    assert "not run" not in text


def test_the_page_says_what_every_claim_is(study):
    html = page("Flat & sharp", "Paper <1>", [study])
    text = text_of(html)
    for claim in CLAIMS:
        assert claim.says.replace("_", "") in text
        assert claim.quantity in text
        assert str(claim.criterion).replace("-", "−") in text
        assert claim.note in text
    assert "Flat & sharp" in text
    assert "Paper <1>" in text
    assert "Figure “s10” & <all>" in text
    assert "0.95 [0.9, 1]" in text
    assert "−0.123" in text
    assert "<b>σ" not in html


def test_figures_link_to_their_pictures_and_come_in_order(study):
    links = Page(page("Flat", "Paper", [study])).links
    assert links == ["#flat_fig3", "#flat_s10", "fig3.png", "s10.png"]


def test_of_several_studies_each_has_its_place_and_its_counts(study, tmp_path):
    html = page("All", "Paper", [study, undrawn(tmp_path)])
    links = Page(html).links
    places = {link for link in links if link.startswith("#")}
    assert places == {"#flat", "#late", "#flat_fig3", "#flat_s10", "#late_fig1"}
    for place in places:
        assert html.count(f'id="{place[1:]}"') == 1
    assert "Flat & sharp" in text_of(html)


def test_questions_of_ours_are_marked_and_counted_apart(study):
    asked = claims_table("study_s11", ours(CLAIMS[:1]), judged=True)
    more = Study("flat", "Flat", [*study.figures, Figure("s11", "Ours", "s11.png", asked)])
    html = page("Flat", "Paper", [more])
    assert html.count(">our question</span>") == 1
    assert "of 4 claims" in text_of(html)
    assert "1 question of ours: ✓" in text_of(html)
    alone = page("Atlas", "Paper", [Study("atlas", "Atlas", more.figures[-1:])])
    assert "1 question of ours: ✓" in text_of(alone)
    assert "of 0 claims" not in text_of(alone)


def test_what_is_not_drawn_is_no_claim_of_a_text(tmp_path):
    asked = claims_table("late_fig2", ours(CLAIMS[:1]), judged=True)
    late = undrawn(tmp_path)
    late = Study("late", "Late", [*late.figures, Figure("fig2", "Asked", "fig2.png", asked)])
    text = text_of(page("Late", "Paper", [late]))
    assert "1 question of ours" in text
    assert "1 figure not run" in text
    assert "0 claims" not in text


def test_where_nothing_is_claimed_the_page_says_so():
    nothing = Figure("s7", "Nothing", "s7.png", claims_table("flat_s7", [], judged=True))
    assert "Nothing is claimed." in text_of(page("Flat", "Paper", [Study("f", "Flat", [nothing])]))


def test_the_summary_has_a_number_for_the_text_and_one_for_us(study):
    asked = claims_table("study_s11", ours(CLAIMS[:2]), judged=True)
    mixed = Study("flat", "Flat", [*study.figures, Figure("s11", "Ours", "s11.png", asked)])
    alone = Study("atlas", "Atlas", mixed.figures[-1:])
    html = page("All", "Paper", [mixed, alone])
    numbers = [row.split('<td class="number">')[1:] for row in html.split("<tr>") if "#" in row]
    counted = [[int(cell.split("<")[0]) for cell in row] for row in numbers if row]
    assert counted[:2] == [[4, 2], [0, 2]]


def test_a_figure_that_is_not_drawn_is_told_and_is_no_claim(study, tmp_path):
    html = page("All", "Paper", [study, undrawn(tmp_path)])
    text = text_of(html)
    assert "of 4 claims" in text
    assert "1 figure not run" in text
    assert "– not run" in text
    assert "The <late> one" in text
    assert not any(link.startswith("fig1") for link in Page(html).links), "no picture to link to"


def test_a_verdict_is_told_by_a_sign_and_a_word_too(study):
    """Not by colour alone."""
    text = text_of(page("Flat", "Paper", [study]))
    for told in ("✓ reproduced", "✗ not reproduced", "? undecided"):
        assert told in text


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("ΔL_s, ΔL_f", "ΔL<sub>s</sub>, ΔL<sub>f</sub>"),
        ("|µ_w,n/σ_w,n|", "|µ<sub>w,n</sub>/σ<sub>w,n</sub>|"),
        ("σ²_g,n(H_n), Σσ²_g,n", "σ²<sub>g,n</sub>(H<sub>n</sub>), Σσ²<sub>g,n</sub>"),
        ("N_te = 2000 at t_β", "N<sub>te</sub> = 2000 at t<sub>β</sub>"),
        ("until_epoch < 3", "until_epoch &lt; 3"),
    ],
)
def test_symbols_have_their_subscripts(says, shown):
    claim = Claim("one", says, "change", at_most(0), Estimate(1, 1, 1))
    figure = Figure("fig3", "Title", "", claims_table("study_fig3", [claim], judged=True))
    assert f"<td>{shown}<div" in page("Flat", "Paper", [Study("flat", "Flat", [figure])])


def test_a_study_of_which_one_figure_claims_nothing_has_a_page(study):
    nothing = Figure("s7", "Nothing", "s7.png", claims_table("study_s7", [], judged=True))
    more = Study("flat", "Flat", [*study.figures, nothing])
    assert "of 4 claims" in page("Flat", "Paper", [more])


@pytest.mark.parametrize(
    ("holds", "value", "interval"),
    [
        ((0.8, inf), 0.9, (0.85, 0.95)),
        ((-inf, 0.0), 0.9, (0.85, 0.95)),
        ((-0.1, 0.1), 0.05, (nan, nan)),
        ((0.0, inf), 0.0, (0.0, 0.0)),
        ((-inf, 0.1), 1e9, (1e8, 1e10)),
    ],
)
def test_a_strip_shows_all_of_its_number(holds, value, interval):
    picture = strip(holds, value, interval, "#000")
    shapes = Shapes()
    shapes.feed(picture)
    band, dot, line = shapes.named["rect"][0], shapes.named["circle"][0], shapes.named["line"][1]
    left, right = float(band["x"]), float(band["x"]) + float(band["width"])
    centre = float(dot["cx"])
    assert 0 <= left <= right <= WIDTH
    assert float(line["x1"]) <= centre <= float(line["x2"])
    assert (left <= centre <= right) == (holds[0] <= value <= holds[1])


def test_without_a_number_there_is_no_strip():
    assert strip((0.0, 1.0), nan, (nan, nan), "#000") == ""


class Shapes(HTMLParser):
    def __init__(self):
        super().__init__()
        self.named = {}

    def handle_starttag(self, tag, attributes):
        self.named.setdefault(tag, []).append(dict(attributes))
