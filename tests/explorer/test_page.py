"""Each control of the explorer, used as a reader uses it, and what the page then shows."""

import math
import re

import pandas as pd
import pytest
from scipy import stats

from flatlas.claims.conventions import ADDS, USEFUL

pytestmark = pytest.mark.browser

# How far a shown end of an interval may be from the true one.
ROUNDED = 0.0051
DOTS = "#plot .dots circle"
READY = "#coefficients[aria-busy=false]"


def rows_of(page, dots=DOTS):
    """The rows of the table that are drawn."""
    return page.eval_on_selector_all(dots, "dots => dots.map(dot => Number(dot.dataset.row))")


def choose(page, key, value):
    page.locator(f"select[data-key={key}]").select_option(value)


def check(page, key):
    page.locator(f"input[data-key={key}]").click()


def coefficient(page, name):
    page.locator(READY).wait_for()
    return page.locator(f"#coefficients tr[data-coefficient={name}]")


def value_of(page, name):
    return float(coefficient(page, name).get_attribute("data-value"))


def centre(page, row):
    box = page.locator(f"{DOTS}[data-row='{row}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, begin, end):
    page.mouse.move(*begin)
    page.mouse.down()
    page.mouse.move(*((a + b) / 2 for a, b in zip(begin, end, strict=True)))
    page.mouse.move(*end)
    page.mouse.up()


def first(nets):
    """The networks when they met their rule."""
    return nets[nets["at"] == "met"]


def of_axis(nets, axis):
    return first(nets)[[axis in names.split(";") for names in first(nets)["axes"]]]


# Measures by axes


def test_the_start_says_whether_a_measure_ranks_networks_that_differ_only_in_one_setting(opened):
    page = opened()
    for axis in ("rate", "noise"):
        cell = page.locator(f"#heat td:has(button[data-measure=sharpness][data-axis={axis}])")
        assert cell.is_visible()
    prior = "#heat button[data-measure=prior]"
    assert page.locator(f"{prior}[data-axis=noise]").inner_text() == "1.00"
    assert page.locator(f"{prior}[data-axis=rate]").inner_text().startswith("−")
    label = page.locator("#heat button[data-measure=prior][data-axis=rate]").get_attribute("title")
    assert re.search(
        r"learning rate: −0\.\d\d \[−0\.\d\d, −0\.\d\d\], 40 networks, not useful$", label
    )


@pytest.mark.parametrize(("given", "bound"), [(False, USEFUL.low), (True, ADDS.low)])
def test_a_number_is_marked_as_the_claims_judge_it(opened, given, bound):
    page = opened()
    if given:
        check(page, "given")
    seen = set()
    # All cells at once: to ask for each of them would take most of the test.
    cells = page.locator("#heat td.heat:has(button)").evaluate_all(
        "all => all.map(one => [one.querySelector('button').title, one.className, one.innerText])"
    )
    for title, kind, text in cells:
        title = title.replace("−", "-")
        interval = re.search(r"\[(-?[\d.]+), (-?[\d.]+)\]", title)
        low, high = map(float, interval.groups()) if interval else (-math.inf, math.inf)
        if min(abs(low - bound), abs(high - bound)) < ROUNDED:
            continue
        judged = "useful" if low >= bound else "not useful" if high < bound else "undecided"
        assert title.endswith(f", {judged}")
        assert ("useful" in kind.split()) == (judged == "useful")
        assert text.endswith("?") == (judged == "undecided")
        seen.add(judged)
    assert len(seen) == 3
    shown = page.locator("#ranking .bound").all_inner_texts()
    assert {*shown} == {f"{bound:.2f}"}


def test_chosen_columns_rank_the_measures_by_how_many_they_are_right_on_and_the_worst(opened):
    page = opened()
    for axis in ("rate", "noise"):
        page.locator(f"#heat thead button[data-axis={axis}]").click()
    assert page.locator("#heat thead button[aria-pressed=true]").count() == 2
    order, names = [], []
    for row in page.locator("#heat tbody tr").all():
        cells = [row.locator(f"td:has(button[data-axis={axis}])") for axis in ("rate", "noise")]
        values = [float(cell.inner_text().replace("−", "-").rstrip("?")) for cell in cells]
        useful = sum("useful" in cell.get_attribute("class") for cell in cells)
        assert row.locator(".count").inner_text() == str(useful)
        order.append((useful, min(values)))
        names.append(row.locator("th .measure").inner_text())
    assert order == sorted(order, reverse=True)
    answer = page.locator("#answer")
    # The best of all, and the best that neither knows test images nor is a baseline.
    plain = [name for name in names if not {*"†‡"} & {*name}]
    assert answer.locator("b").all_inner_texts() == [*dict.fromkeys([names[0], plain[0]])]
    assert "learning rate" in answer.inner_text()
    assert "label noise" in answer.inner_text()
    page.get_by_role("button", name="Rank by all axes").click()
    assert page.locator("#heat thead button[aria-pressed=true]").count() == 0
    assert "all 14 axes" in answer.inner_text()
    best = page.locator("#heat tbody th .measure").nth(0).inner_text()
    assert answer.locator("b").nth(0).inner_text() == best


def test_measures_that_know_test_images_can_be_left_out(opened):
    page = opened()
    tested = page.locator("#heat tbody th").filter(has_text="†")
    assert tested.count() == 4
    check(page, "untested")
    assert tested.count() == 0


def test_the_outcome_and_the_baselines_change_the_table(opened):
    page = opened()
    cell = page.locator("#heat button[data-measure=sharpness][data-axis=noise]")
    before = cell.get_attribute("title")
    check(page, "given")
    given = cell.get_attribute("title")
    assert given != before
    choose(page, "outcome", "test_loss")
    assert cell.get_attribute("title") != given
    assert page.locator("#ranking .outcome").inner_text() == "test loss"


def test_a_click_on_a_number_shows_its_networks(opened, nets):
    page = opened()
    number = page.locator("#heat button[data-measure=prior][data-axis=noise]")
    shown = number.inner_text()
    number.click()
    assert page.locator("#plot svg").count() == 1
    assert {*rows_of(page)} == {*of_axis(nets, "noise").index}
    assert coefficient(page, "granulated").locator(".number").inner_text() == shown
    # A line for each seed.
    assert page.locator("#plot .joined path").count() == 5
    assert "label noise" in page.locator("#legend").inner_text()


# Networks


def test_both_axes_are_chosen_from_all_variables(opened, nets):
    page = opened("view=networks")
    known = first(nets).dropna(subset=["regret"])
    choose(page, "x", "regret")
    choose(page, "y", "test_loss")
    assert {*rows_of(page)} == {*known.index}
    assert page.locator("#plot text.axis").all_text_contents() == ["local regret", "test loss"]
    lacking = len(first(nets)) - len(known)
    assert str(lacking) in page.locator("#legend .lacking").inner_text()
    choose(page, "x", "optimizer.name")
    labels = page.locator("#plot text").all_text_contents()
    assert {"adam", "asam", "sgd"} <= {*labels}


def test_an_axis_of_names_has_no_coefficients_and_no_range_and_its_labels_do_not_overlap(opened):
    page = opened("view=networks&x=optimizer.name&panels=width")
    assert coefficient(page, "kendall").locator(".number").inner_text() == "–"
    assert page.locator("#range input:visible").count() == 2
    names = page.locator("#plot svg").nth(0).locator("text.across")
    first_letters = [name.get_attribute("x") for name in names.all()]
    assert len({*first_letters}) == names.count() > 4
    assert all("rotate" in name.get_attribute("transform") for name in names.all())
    box, plot = names.nth(2).bounding_box(), page.locator("#plot svg").nth(0).bounding_box()
    assert box["y"] + box["height"] < plot["y"] + plot["height"]
    choose(page, "x", "sharpness")
    assert coefficient(page, "kendall").locator(".number").inner_text() != "–"
    assert page.locator("#range input:visible").count() == 4


def test_a_logarithmic_scale_moves_the_points(opened, nets):
    page = opened("view=networks&x=trace&xlog=0")
    box = page.locator("[data-key=xlog]")
    some = first(nets)["trace"].sort_values().index
    low, middle, high = some[0], some[len(some) // 2], some[-1]

    def share():
        left, here, right = (centre(page, row)[0] for row in (low, middle, high))
        return (here - left) / (right - left)

    assert not box.is_checked()
    linear = share()
    box.click()
    assert box.is_checked()
    assert share() > linear + 0.2
    assert "xlog=1" in page.url


def test_colours_and_panels_follow_the_chosen_variable(opened, nets):
    page = opened("view=networks")
    choose(page, "colour", "optimizer.name")
    colours = page.eval_on_selector_all(
        DOTS, "dots => [...new Set(dots.map(dot => getComputedStyle(dot).color))]"
    )
    assert len(colours) == 8
    assert page.locator("#legend .entry").filter(has_text="entropy_sgd").count() == 1
    choose(page, "panels", "data.label_noise")
    assert page.locator("#plot svg").count() == nets["data.label_noise"].nunique()
    assert len(rows_of(page)) == len(first(nets))
    # A measure has a value for each network: quarters.
    choose(page, "panels", "sharpness")
    sizes = [svg.locator(".dots circle").count() for svg in page.locator("#plot svg").all()]
    assert len(sizes) == 4
    assert sum(sizes) == len(first(nets))
    assert max(sizes) - min(sizes) <= 2
    choose(page, "panels", "axis")
    assert page.locator("#plot svg").count() == 14


@pytest.mark.parametrize(
    ("key", "value", "column"),
    [("study", "atlas", "study"), ("optimizer", "adam", "optimizer.name"), ("seed", "3", "seed")],
)
def test_a_filter_shows_only_networks_with_its_value(opened, nets, key, value, column):
    page = opened("view=networks")
    choose(page, key, value)
    some = first(nets)
    assert {*rows_of(page)} == {*some[some[column].astype(str) == value].index}
    assert f"{key}={value}" in page.url


def test_networks_are_filtered_by_axis_moment_and_convergence(opened, nets):
    page = opened("view=networks&x=sharpness")
    choose(page, "axis", "width")
    assert {*rows_of(page)} == {*of_axis(nets, "width").index}
    # An axis has its own moments, and the box says which.
    every = page.locator("[data-key=moments]")
    assert every.is_disabled() and not every.is_checked()
    choose(page, "axis", "beyond")
    assert len(rows_of(page)) == 8 * 5
    assert every.is_disabled() and every.is_checked()
    choose(page, "axis", "")
    assert every.is_enabled() and not every.is_checked()
    check(page, "moments")
    assert len(rows_of(page)) == len(nets)
    hollow = page.locator(f"{DOTS}.hollow")
    assert hollow.count() == (~nets["sharpness_converged"].astype(bool)).sum() > 0
    check(page, "settled")
    assert hollow.count() == 0


def test_brushing_gives_the_coefficients_of_what_is_selected(opened, nets):
    page = opened("view=networks&x=sharpness&axis=noise")
    some = of_axis(nets, "noise")
    assert value_of(page, "kendall") == pytest.approx(
        stats.kendalltau(some["sharpness"], some["gap"]).statistic
    )
    box = page.locator("#plot svg").bounding_box()
    across, up = box["width"], box["height"]
    begin = box["x"] + 0.2 * across, box["y"] + 0.1 * up
    end = box["x"] + 0.8 * across, box["y"] + 0.75 * up
    drag(page, begin, end)
    page.locator(READY).wait_for()
    chosen = rows_of(page, f"{DOTS}:not(.left-out)")
    inside = [
        row
        for row in rows_of(page)
        if all(a <= at <= b for a, at, b in zip(begin, centre(page, row), end, strict=True))
    ]
    assert 0 < len(chosen) < len(some)
    assert {*chosen} == {*inside}
    assert f": {len(chosen)} selected" in page.locator("#counted").inner_text()
    selected = nets.loc[chosen]
    for name, statistic in (("kendall", stats.kendalltau), ("spearman", stats.spearmanr)):
        expected = statistic(selected["sharpness"], selected["gap"]).statistic
        assert value_of(page, name) == pytest.approx(expected)
    assert "range=" in page.url
    page.locator("#plot").press("Escape")
    assert page.locator(f"{DOTS}.left-out").count() == 0
    assert "range=" not in page.url


def test_a_range_can_be_typed_and_cleared(opened, nets):
    page = opened("view=networks&x=prior")
    least = page.locator("#range input").nth(0)
    least.fill("80")
    least.press("Enter")
    some = first(nets)
    chosen = {*rows_of(page, f"{DOTS}:not(.left-out)")}
    assert chosen == {*some[some["prior"] >= 80].index}
    page.locator("#clear").click()
    assert page.locator(f"{DOTS}.left-out").count() == 0
    assert least.input_value() == ""


def test_hovering_shows_a_network_and_a_click_pins_it_in_all_views_and_in_the_link(opened, nets):
    page = opened("view=networks&x=sharpness&axis=rate")
    row = of_axis(nets, "rate")["gap"].idxmax()
    net = nets.loc[row]
    page.mouse.move(*centre(page, row))
    read = page.locator("#hover").inner_text()
    for words in ("box sharpness", "learning rate", "batch size", f"{net['gap']:.3g}"):
        assert words in read
    page.mouse.click(*centre(page, row))
    card = page.locator("#pinned")
    assert net["run"] in card.inner_text()
    command = f"snakemake results/runs/{net['run']}/weights.safetensors --config preset=laptop"
    assert card.locator("pre").inner_text() == command
    assert card.locator("svg.curves").count() == 2
    assert page.locator(f"{DOTS}.pinned").get_attribute("data-row") == str(row)
    for view in ("claims", "ranking"):
        page.locator(f"#tab-{view}").click()
        assert net["run"] in card.inner_text()
    assert page.locator("#heat td.standing svg").count() > 10
    again = opened(page.url.partition("#")[2])
    assert net["run"] in again.locator("#pinned").inner_text()
    again.locator("#unpin").click()
    assert not again.locator("#pinned").is_visible()
    assert "pin=" not in again.url


def test_a_link_opens_the_same_view_and_back_returns(opened):
    page = opened()
    page.locator("#tab-networks").click()
    choose(page, "x", "path_norm")
    choose(page, "colour", "width")
    choose(page, "axis", "noise")
    same = opened(page.url.partition("#")[2])
    assert rows_of(same) == rows_of(page)
    for key, value in (("x", "path_norm"), ("colour", "width"), ("axis", "noise")):
        assert same.locator(f"#networks [data-key={key}]").input_value() == value
    page.go_back()
    assert page.locator("#heat").is_visible()


def test_an_address_with_unknown_names_shows_the_start(opened):
    lost = "view=toString&x=nobody&colour=axis&pin=lost&axis=nowhere&seed=99&of=nobody&range=a,b"
    page = opened(lost)
    assert page.locator("#heat").is_visible()
    page.locator("#tab-networks").click()
    assert rows_of(page)
    page.locator("#tab-claims").click()
    assert page.locator("#claimed tbody tr:not([hidden])").count() == 5


# Claims


def test_claims_are_searched_and_filtered(opened):
    page = opened("view=claims")
    shown = page.locator("#claimed tbody tr:not([hidden])")
    assert shown.count() == 5
    page.locator("[data-key=q]").fill("size STAYS")
    assert shown.count() == 1
    assert shown.get_attribute("data-claim") == "duality_fig3.constant"
    # A figure that is not run is no claim, and nobody's.
    found = page.locator("#found")
    assert "1 of 4" in found.inner_text()
    assert found.locator(".not-run").count() == 0
    page.locator("[data-key=q]").fill("")
    assert "4 of 4" in found.inner_text()
    assert found.locator(".not-run").inner_text().strip().startswith("– 1 figure ")
    for key, value, count in (
        ("of", "prior", 2),
        ("verdict", "reproduced", 1),
        ("whose", "flatlas", 1),
    ):
        choose(page, key, value)
        assert shown.count() == count
    assert shown.get_attribute("data-claim") == "prior_fig4.added"


def test_verdicts_on_papers_are_reproduced_or_not_and_on_our_questions_yes_or_no(opened):
    page = opened("view=claims")
    verdicts = {"prior_fig4.added": "✓ yes", "duality_fig3.constant": "✗ not reproduced"}
    for claim, said in verdicts.items():
        cell = page.locator(f"[data-claim='{claim}'] .verdict > span")
        assert cell.inner_text() == said
    found = page.locator("#found")
    counts = found.locator(".reproduced").all_inner_texts()
    assert [words.strip() for words in counts] == ["✓ 1 reproduced", "✓ 1 yes"]
    choose(page, "whose", "flatlas")
    assert found.inner_text().endswith("ours: ✓ 1 yes")


def test_a_claim_shows_ours_the_papers_value_and_where_it_holds(opened):
    page = opened("view=claims")
    row = page.locator("[data-claim='duality_fig3.slope']")
    assert "−0.7 [−0.9, −0.5]" in row.inner_text()
    assert row.locator("[data-head=paper]").inner_text() == "−0.8"
    strip = row.locator("svg.strip")
    value = float(strip.locator(".value").get_attribute("cx"))
    low, high = (float(strip.locator(".interval").get_attribute(end)) for end in ("x1", "x2"))
    begin = float(strip.locator(".holds").get_attribute("x"))
    width = float(strip.locator(".holds").get_attribute("width"))
    assert begin == 0 < low < value < high < begin + width
    assert strip.locator(".paper").count() == 1
    # Subscripts are the papers'; what looks like HTML is text.
    assert page.locator("[data-claim='duality_fig3.constant'] sub").inner_text() == "w"
    said = page.locator("[data-claim='prior_fig4.flatness']").inner_text()
    assert "</script> <b>correlate</b>" in said


def test_a_row_opens_its_figure(opened, file):
    page = opened("view=claims")
    link = page.locator("[data-claim='duality_fig3.slope'] a")
    assert (file.parent / link.get_attribute("href")).is_file()
    page.locator("[data-claim='duality_fig3.constant'] td").nth(1).click()
    page.wait_for_url("**/duality/fig3.png")


# For everyone


def test_tabs_and_networks_can_be_chosen_by_keyboard(opened, nets):
    page = opened()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "tab-ranking"
    style = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(style) != "none"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-networks"
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Networks"
    plot = page.locator("#plot")
    plot.press("ArrowRight")
    plot.press("ArrowRight")
    active = page.locator(f"{DOTS}.active")
    leftmost = first(nets)["sharpness"].sort_values().index
    assert active.get_attribute("data-row") == str(leftmost[1])
    assert page.locator("#hover").is_visible()
    plot.press("Enter")
    assert nets.loc[leftmost[1], "run"] in page.locator("#pinned").inner_text()
    plot.press("Enter")
    assert not page.locator("#pinned").is_visible()
    plot.press("Enter")
    plot.press("ArrowRight")
    assert active.get_attribute("data-row") == str(leftmost[2])
    assert nets.loc[leftmost[1], "run"] in page.locator("#pinned").inner_text()


def test_arrows_go_through_each_panel_that_a_network_is_in(opened, nets):
    """The networks at the defaults are on most axes, each of which has a panel."""
    page = opened("view=networks&panels=axis&x=sharpness&seed=0")
    plot, active = page.locator("#plot"), page.locator(f"{DOTS}.active")
    across = []
    for place in range(3):
        rows = rows_of(page, f"#plot svg:nth-of-type({place + 1}) .dots circle")
        across += [*nets.loc[rows, "sharpness"].sort_values().index]
    assert len({*across}) < len(across)

    def walked(key, steps):
        for _ in range(steps):
            plot.press(key)
            yield int(active.first.get_attribute("data-row"))

    assert [*walked("ArrowRight", len(across))] == across
    assert [*walked("ArrowLeft", len(across) - 1)] == across[-2::-1]


def test_every_control_has_a_name(opened):
    page = opened()
    for view in ("ranking", "networks", "claims"):
        page.locator(f"#tab-{view}").click()
        names = page.eval_on_selector_all(
            f"#{view} :is(select, input, button, #plot)",
            "all => all.map(e => e.labels?.[0]?.textContent || e.ariaLabel || e.textContent)",
        )
        assert names
        assert all(name.strip() for name in names)


@pytest.mark.parametrize("view", ["ranking", "networks", "claims"])
def test_each_view_fits_the_width_of_a_phone(opened, view):
    page = opened(f"view={view}", viewport={"width": 390, "height": 844}, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(f"#{view}").is_visible()


def test_in_dark_mode_text_is_light_on_dark(opened):
    def colours(mode):
        page = opened(color_scheme=mode)
        style = "getComputedStyle(document.body)"
        found = page.evaluate(f"[{style}.color, {style}.backgroundColor]")
        return [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in found]

    ink, paper = colours("light")
    assert ink < paper
    ink, paper = colours("dark")
    assert ink > paper


def test_no_request_leaves_the_file(opened, file):
    page = opened()
    requests = []
    page.context.on("request", lambda request: requests.append(request.url))
    page.reload()
    for view in ("networks", "claims", "ranking"):
        page.locator(f"#tab-{view}").click()
    assert {url.partition("#")[0] for url in requests} == {file.as_uri()}
    # A request would be refused.
    refused = "fetch('https://example.org').then(() => 'sent', () => 'refused')"
    assert page.evaluate(refused) == "refused"
    assert len(requests) == 1


def test_a_thousand_networks_follow_the_brush(opened, thousand, tmp_path):
    nets, html = thousand
    file = tmp_path / "explorer.html"
    file.write_text(html, encoding="utf-8")
    page = opened("view=networks&x=trace&panels=optimizer.name", file)
    assert len(first(nets)) > 900
    box = page.locator("#plot svg").nth(0).bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 40)
    page.mouse.down()
    counted = page.locator("#counted")
    for share in (0.5, 0.6, 0.7, 0.8):
        before = re.compile(f"^{re.escape(counted.inner_text())}$")
        page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])
        counted.filter(has_not_text=before).wait_for()
    page.mouse.up()
    chosen = pd.Index(rows_of(page, f"{DOTS}:not(.left-out)"))
    some = nets.loc[chosen]
    expected = stats.kendalltau(some["trace"], some["gap"]).statistic
    assert value_of(page, "kendall") == pytest.approx(expected)
