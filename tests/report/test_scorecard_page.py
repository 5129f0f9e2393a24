"""The scorecard's page: what is on it, and that nothing in it breaks the HTML."""

from math import inf, nan

import pytest
from reading import Page

from flatlas.claims.claim import (
    Claim,
    Criterion,
    at_least,
    at_most,
    between,
    claims_table,
    not_run,
    ours,
)
from flatlas.claims.written import read_claims
from flatlas.report.pages import Chapter, Entry, scorecard_page
from flatlas.report.rendering import render
from flatlas.report.strip import WIDTH
from flatlas.statistics.estimate import UNKNOWN, Estimate
from flatlas.store.tables import write_table

CLAIMS = [
    Claim("rises", "ΔL rises", "rank correlation", at_least(0.8), Estimate(0.95, 0.9, 1.0), "1.0"),
    Claim("falls", "<b>σ_g & more</b>", "change", at_most(0), Estimate(-0.123456, nan, nan), "-2"),
    Claim("same", "S_w stays", "change", between(-0.1, 0.1), Estimate(0.5, 0.4, 0.6), "30"),
    Claim("lost", "nothing", "change", at_most(0), UNKNOWN, note="Solutions: 0 at 4.0, of 10."),
]


@pytest.fixture
def picture(tmp_path):
    return tmp_path / "one.png"


@pytest.fixture
def study(tmp_path, picture):
    """As the job has it: written and read back."""
    entries = []
    for name, claims in {"fig3": CLAIMS[:2], "s10": CLAIMS[2:]}.items():
        write_table(tmp_path / f"{name}.csv", claims_table(f"flat_{name}", claims, judged=True))
        table = read_claims(tmp_path / f"{name}.csv")
        title = f"Figure “{name}” & <all>"
        entries.append(Entry(f"flat_{name}", name, title, table, picture, f"{name}.png"))
    return Chapter("flat", "Flat & sharp", entries)


@pytest.fixture
def undrawn(tmp_path):
    """A study without drawn figures."""
    write_table(tmp_path / "undrawn.csv", not_run("late_fig1", "The <late> one"))
    claims = read_claims(tmp_path / "undrawn.csv")
    return Chapter("late", "Late", [Entry("late_fig1", "fig1", "The <late> one", claims)])


def entry_of(study, name, claims, **drawn):
    """A figure with these claims."""
    table = claims_table(f"{study}_{name}", claims, judged=True)
    return Entry(f"{study}_{name}", name, "A figure", table, **drawn)


def read(*studies, title="Flat", scale="Paper"):
    return Page(scorecard_page(title, scale, studies))


def test_verdicts_have_a_sign_and_a_word_and_are_counted(study):
    page = read(study)
    assert {*page.marked["verdict"]} == {"✓ reproduced", "✗ not reproduced", "? undecided"}
    assert page.marked["counts"] == ["✓ 1 reproduced✗ 1 not reproduced? 2 undecided of 4 claims"]
    assert [tally.split() for tally in page.marked["tally"]] == [["✓", "1?", "1"], ["✗", "1?", "1"]]
    assert "not-run" not in page.marked


def test_each_claim_has_its_text_criterion_number_verdict_and_note(study):
    page = read(study, scale="Paper <1>")
    rows = [row for table in page.tables for row in table[1:]]
    assert len(rows) == len(CLAIMS)
    for claim, (says, quantity, criterion, _, _, verdict) in zip(CLAIMS, rows, strict=True):
        assert says.startswith(claim.says.replace("_", ""))
        assert says.endswith(f"flat_{'fig3' if claim in CLAIMS[:2] else 's10'}.{claim.name}")
        assert quantity == claim.quantity
        assert criterion == str(claim.criterion).replace("-", "−")
        assert claim.verdict in verdict
        assert claim.note in verdict
    numbers = [row[4] for row in rows]
    assert numbers == ["0.95 [0.9, 1]", "−0.123", "0.5 [0.4, 0.6]", "—"]
    assert [row[3] for row in rows] == ["1.0", "−2", "30", ""]
    assert "Paper <1>" in page.text
    assert "Figure “s10” & <all>" in page.inside["flat_s10"]


def test_the_page_says_how_to_read_a_verdict(study):
    assert " ".join(render("reading.txt").split()) in read(study).text


def test_figures_link_to_their_pictures_and_come_in_order(study):
    assert read(study).links == ["#flat_fig3", "#flat_s10", "fig3.png", "s10.png"]


def test_each_of_several_studies_has_its_anchor_and_its_counts(study, undrawn):
    page = read(study, undrawn)
    places = {link[1:] for link in page.links if link.startswith("#")}
    assert places == {"flat", "late", "flat_fig3", "flat_s10", "late_fig1"}
    assert sorted(page.ids) == sorted(places)
    assert page.inside["flat"] == "Flat & sharp"
    numbers = [[row[1], row[3]] for row in page.tables[0][1:]]
    assert numbers == [["4", "0"], ["0", "0"]]


def test_our_questions_and_figures_not_run_are_counted_apart(study, undrawn, picture):
    entry = entry_of("flat", "s11", ours(CLAIMS[:2]), picture=picture)
    mixed = Chapter("flat", "Flat", [*study.entries, entry, *undrawn.entries])
    page = read(mixed, Chapter("atlas", "Atlas", [entry_of("atlas", "s11", ours(CLAIMS[:2]))]))
    assert [[row[1], row[3]] for row in page.tables[0][1:]] == [["4", "2"], ["0", "2"]]
    assert len(page.marked["ours"]) == 4
    assert page.tables[-1][1][0].startswith(page.marked["ours"][2])
    page = read(mixed)
    assert page.marked["counts"][0].endswith("of 4 claims")
    assert "2 questions of ours: ✓" in page.text
    assert "1 figure not run" in page.text


def test_without_a_claim_of_the_paper_there_are_no_counts(undrawn, picture):
    entry = entry_of("late", "fig2", ours(CLAIMS[:1]), picture=picture)
    page = read(Chapter("late", "Late", [*undrawn.entries, entry]))
    assert "1 question of ours: ✓" in page.text
    assert "1 figure not run" in page.text
    assert "counts" not in page.marked


def test_where_nothing_is_claimed_the_page_says_so(study, picture):
    nothing = entry_of("f", "s7", [], picture=picture)
    assert "Nothing is claimed." in read(Chapter("f", "Flat", [nothing])).text
    page = read(Chapter("flat", "Flat", [*study.entries, nothing]))
    assert page.marked["counts"][0].endswith("of 4 claims")


def test_a_figure_that_is_not_drawn_has_a_verdict_and_no_link(study, undrawn):
    page = read(study, undrawn)
    assert "– not run" in page.marked["verdict"]
    assert "The <late> one" in page.inside["late_fig1"]
    assert not any(link.startswith("fig1") for link in page.links), "no picture to link to"


@pytest.mark.parametrize(
    ("says", "shown"),
    [
        ("ΔL_s, ΔL_f", "ΔL<sub>s</sub>, ΔL<sub>f</sub>"),
        ("|µ_w,n/σ_w,n|", "|µ<sub>w,n</sub>/σ<sub>w,n</sub>|"),
        ("σ²_g,n(H_n), Σσ²_g,n", "σ²<sub>g,n</sub>(H<sub>n</sub>), Σσ²<sub>g,n</sub>"),
        ("N_te = 2000 at t_β", "N<sub>te</sub> = 2000 at t<sub>β</sub>"),
        ("0.008 F_1i", "0.008 F<sub>1i</sub>"),
        ("until_epoch < 3", "until_epoch &lt; 3"),
    ],
)
def test_symbols_have_their_subscripts(says, shown):
    claim = Claim("one", says, "change", at_most(0), Estimate(1, 1, 1))
    chapter = Chapter("flat", "Flat", [entry_of("flat", "fig3", [claim])])
    assert f"<td>{shown}<div" in scorecard_page("Flat", "Paper", [chapter])


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
def test_a_strip_shows_the_number_its_interval_and_where_the_claim_holds(holds, value, interval):
    claim = Claim("one", "it rises", "change", Criterion(*holds), Estimate(value, *interval))
    shapes = read(Chapter("flat", "Flat", [entry_of("flat", "fig3", [claim])])).shapes
    (_, _), (_, band), (_, line), (_, dot) = shapes
    left, right = float(band["x"]), float(band["x"]) + float(band["width"])
    centre = float(dot["cx"])
    assert 0 <= left <= right <= WIDTH
    assert float(line["x1"]) <= centre <= float(line["x2"])
    assert (left <= centre <= right) == (holds[0] <= value <= holds[1])


def test_without_a_number_there_is_no_strip():
    assert not read(Chapter("flat", "Flat", [entry_of("flat", "fig3", CLAIMS[3:])])).shapes
