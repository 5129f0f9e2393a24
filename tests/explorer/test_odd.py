"""Damaged addresses and unusual data."""

import json
from urllib.parse import parse_qsl

import pytest
from made_up_explorer import explorer
from node import DATA, Functions

from flatlas.explorer.page import explorer_page
from flatlas.report.rendering import FILTERS
from flatlas.studies.atlas.quantities import QUANTITIES

READ = """(hash) => {
  globalThis.location = { hash };
  globalThis.VIEWS = { ranking: 0, networks: 0, claims: 0 };
  const boxes = ["given", "xlog", "moments"].map((key) => ({ dataset: { key } }));
  document.querySelectorAll = (selector) => (selector === "select" ? [] : boxes);
  readAddress();
  return Object.fromEntries(Object.entries(state).filter(([key, value]) => value !== START[key]));
}"""
RANKED = """(names) => {
  const heads = names.map((axis) => ({ dataset: { axis }, focus() {} }));
  document.querySelectorAll = () => heads;
  globalThis.VIEWS = { ranking: 0 };
  globalThis.history = { replaceState: (...[, , hash]) => (globalThis.location = { hash }) };
  globalThis.show = () => {};
  for (const name of names) AXES.set(name, {});
  names.forEach(toggleAxis);
  state.ranked = "";
  document.querySelectorAll = () => [];
  readAddress();
  return chosenAxes();
}"""
RANGE = "(range) => { state.range = range; return selectedRange(); }"
SCALE = """([numbers, isLog, others]) => {
  const { place, ticks } = scale({}, numbers, isLog, 0, 300);
  return [others.map(place), ticks.map(([, text]) => text)];
}"""
ANSWER = """(count) => {
  document.createElement = () => ({ setAttribute() {}, append() {} });
  const [measure] = MEASURES;
  const parts = answerOnMany(DATA.axes, { measure, count, worst: 0.1 }, null);
  return parts.filter((part) => typeof part !== "string").length;
}"""
SAID = """(numbers) => {
  const answer = { replaceChildren: (...parts) => (answer.parts = parts) };
  document.getElementById = () => answer;
  document.createElement = () => ({
    setAttribute() {},
    append(...children) { this.text = children.join(""); },
  });
  const [measure] = MEASURES;
  const axes = DATA.axes.slice(0, numbers.length);
  axes.forEach((axis, k) => found.set(
    [state.outcome, state.given, axis.name, measure.name].join(" "),
    { value: numbers[k], low: numbers[k] - 0.1, high: numbers[k] + 0.1 },
  ));
  const count = countUseful(measure, axes);
  showAnswer(axes, [{ measure, count, worst: Math.min(...numbers) }]);
  return [answer.parts.map((part) => part.text ?? part).join(""), axes.map(({ words }) => words)];
}"""

CURVE = """(curves) => {
  document.createElementNS = (_, name) => ({
    name,
    children: [],
    setAttribute(key, value) { this[key] = value; },
    append(...children) { this.children.push(...children); },
  });
  const { children } = curvePicture(curves, Object.keys(curves).slice(1));
  return children.filter(({ name }) => name === "path").map(({ d }) => d.split("L").length);
}"""


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("#given=1&xlog=0&ranked=rate%0Anoise&range=1,2,3,4", None),
        ("#given=0&moments=yes&xlog=maybe", {}),
        ("#ranked=nowhere%0Arate", {"ranked": "rate"}),
        ("#ranked=nowhere", {}),
        ("#range=1,2,3&view=toString", {}),
        ("#range=1,,3,4", {}),
        ("#%E0%A4%A", {}),
    ],
)
def test_what_is_damaged_in_an_address_is_as_at_the_start(functions, address, kept):
    if kept is None:
        kept = dict(parse_qsl(address[1:]))
    assert functions.evaluate(READ, address) == kept


def test_an_address_keeps_axes_whose_names_have_commas(functions):
    names = ["width, then depth", "depth"]
    assert functions.evaluate(RANKED, names) == names


def test_the_ends_of_a_range_may_be_in_either_order(functions):
    assert functions.evaluate(RANGE, "3,-5,1e3,0") == [-5, 3, 0, 1000]


def test_a_large_constant_has_a_place(functions):
    (places, _) = functions.evaluate(SCALE, [[1e17], False, [1e17]])
    assert places == [pytest.approx(150)]


def test_a_range_that_begins_at_0_or_below_ends_left_of_a_logarithmic_scale(functions):
    places, _ = functions.evaluate(SCALE, [[1, 100], True, [0, -5, 1]])
    assert places[0] <= 0 and places[1] <= 0 < places[2]


def test_close_ticks_have_different_labels(functions):
    _, labels = functions.evaluate(SCALE, [[10000, 10004], False, []])
    assert len({*labels}) == len(labels) > 2


def test_a_loss_that_is_not_finite_has_no_point(functions):
    curves = {"epoch": [1, 2, 3], "train_error": [0.5, None, 0.25], "test_error": [None] * 3}
    assert functions.evaluate(CURVE, curves) == [2]


def test_no_measure_is_called_useful_on_most_axes_if_none_is_on_any(functions):
    """Only names of measures are elements of the page; the rest is text."""
    assert functions.evaluate(ANSWER, 0) == 0
    assert functions.evaluate(ANSWER, 1) > 0


def test_numbers_are_written_as_on_the_other_pages(functions):
    known = {2000: "2000", 99999: "100000", 1e5: "1e5", -0.5: "−0.5", 1.5e-5: "1.5e−5", 0: "0"}
    numbers = [
        *known,
        *(sign * 1.2345678 * 10.0**power for power in range(-9, 9) for sign in (1, -1)),
    ]
    assert [FILTERS["short"](number) for number in known] == [*known.values()]
    written = functions.evaluate("(numbers) => numbers.map((one) => short(one))", numbers)
    assert [FILTERS["short"](number) for number in numbers] == written


@pytest.mark.parametrize("numbers", [[0.9, 0.0], [0.0, 0.9], [0.9, 0.3, 0.0]])
def test_an_answer_says_on_which_axes_the_best_measure_is_useful(functions, numbers):
    said, axes = functions.evaluate(SAID, numbers)
    for number, axis in zip(numbers, axes, strict=True):
        verdict = {0.9: "useful", 0.3: "undecided", 0.0: "not useful"}[number]
        assert f"{verdict} on {axis}" in said
        assert number == 0.0 or f"not useful on {axis}" not in said


def test_seeds_that_javascript_would_round_are_text(nets):
    data = json.loads(DATA.search(explorer_page(explorer(nets)))[1])
    assert {*data["seed"]} == {*range(5)}
    large = nets.assign(seed=nets["seed"] + 2**53)
    data = json.loads(DATA.search(explorer_page(explorer(large)))[1])
    assert {*data["seed"]} == {str(2**53 + seed) for seed in range(5)}


def test_without_measures_outcomes_are_drawn(nets):
    some = nets.drop(columns=[name for name in QUANTITIES if name not in ("gap", "epochs")])
    some = some.drop(columns="epochs")
    functions = Functions(explorer_page(explorer(some)))
    assert functions.evaluate("() => [START.x, START.y]") == ["gap", "gap"]
