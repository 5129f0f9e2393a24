// Measures by axes: a heat map of Kendall's τ over the pairs that differ only in the axis.

// Coefficients by outcome, baselines, axis and measure.
const found = new Map();

function baselinesFor(...names) {
  return MEASURES.filter((variable) => variable.baseline && !names.includes(variable.name));
}

// Kendall's τ of x and y, given other variables, over pairs of rows in one stratum.
function* tauOf(x, y, given, rows, strata) {
  const variables = [x, y, ...given].map((variable) => variable.numbers);
  const known = [...rows.keys()].filter((place) =>
    variables.every((numbers) => Number.isFinite(numbers[rows[place]])),
  );
  const values = variables.map((numbers) =>
    Float64Array.from(known, (place) => numbers[rows[place]]),
  );
  const tau = yield* kendall(
    values,
    known.map((place) => strata[place]),
    known.map((place) => DATA.realization[rows[place]]),
    DATA.conventions,
  );
  return { ...tau, nets: known.length };
}

function cell(measure, axis) {
  const key = [state.outcome, state.given, axis.name, measure.name].join(" ");
  if (!found.has(key)) {
    const given = state.given ? baselinesFor(measure.name) : [];
    found.set(
      key,
      finished(tauOf(measure, VARIABLES.get(state.outcome), given, axis.rows, axis.strata)),
    );
  }
  return found.get(key);
}

// The least coefficients of a useful measure, as in the claims of the atlas.
function bound() {
  return state.given ? DATA.conventions.adds : DATA.conventions.useful;
}

function isUseful({ low }) {
  return low >= bound();
}

// Part of the interval is useful and part is not, or there is none.
function isUndecided({ low, high }) {
  return !(low >= bound() || high < bound());
}

function countUseful(measure, axes) {
  return axes.filter((axis) => isUseful(cell(measure, axis))).length;
}

// The axes on which any measure can be compared.
function comparedAxes() {
  return DATA.axes.filter((axis) =>
    MEASURES.some((measure) => Number.isFinite(cell(measure, axis).value)),
  );
}

function rankedAxes() {
  const names = chosenAxes();
  return names.length ? names.map((name) => AXES.get(name)) : comparedAxes();
}

// The measures, the best first: useful on most of the ranked axes; among these, the one that lacks
// the fewest coefficients; among these, the one whose worst coefficient is largest.
function rankedMeasures() {
  const axes = rankedAxes();
  const shown = MEASURES.filter((measure) => !(state.untested && measure.tested));
  const lines = shown.map((measure) => {
    const values = axes.map((axis) => cell(measure, axis).value);
    const missing = values.filter((value) => !Number.isFinite(value)).length;
    return {
      measure,
      missing,
      count: countUseful(measure, axes),
      worst: missing === axes.length ? NaN : Math.min(...values.filter(Number.isFinite)),
    };
  });
  const order = (worst) => (Number.isFinite(worst) ? worst : -2);
  return lines.sort(
    (a, b) => b.count - a.count || a.missing - b.missing || order(b.worst) - order(a.worst),
  );
}

function showRanking() {
  const columns = comparedAxes();
  const axes = rankedAxes();
  const lines = rankedMeasures();
  const outcome = VARIABLES.get(state.outcome);
  for (const place of document.querySelectorAll(".outcome")) place.textContent = outcome.words;
  for (const place of document.querySelectorAll(".bound"))
    place.textContent = coefficientText(bound());
  document.getElementById("all-axes").hidden = !state.ranked;
  const head = columns.map((axis) => {
    const isRanked = Boolean(state.ranked) && axes.includes(axis);
    const button = element(
      "button",
      {
        type: "button",
        "data-axis": axis.name,
        "aria-pressed": String(isRanked),
        title: `Rank the measures by ${axis.words}`,
      },
      axis.words,
    );
    button.addEventListener("click", () => toggleAxis(axis.name));
    return element("th", { scope: "col" }, button);
  });
  const pin = pinnedRow();
  const pinned =
    pin === null
      ? []
      : [element("th", { scope: "col", class: "standing" }, "pinned network among all")];
  const top = element(
    "tr",
    {},
    element("th", { scope: "col" }, "measure"),
    element(
      "th",
      { scope: "col", class: "worst", title: `of ${axes.length} columns (bold)` },
      "useful on",
    ),
    element("th", { scope: "col", class: "worst", title: "the lowest number" }, "worst"),
    ...head,
    ...pinned,
  );
  const rows = lines.map(({ measure, count, worst }) =>
    element(
      "tr",
      {},
      element(
        "th",
        { scope: "row" },
        element("span", { class: "measure" }, label(measure)),
        element("code", { title: "column of networks.csv" }, measure.name),
      ),
      element("td", { class: "worst count" }, String(count)),
      element("td", { class: "worst" }, coefficientText(worst)),
      ...columns.map((axis) => heatCell(measure, axis, axes.includes(axis))),
      ...(pin === null ? [] : [element("td", { class: "standing" }, standing(measure, pin))]),
    ),
  );
  document
    .getElementById("heat")
    .replaceChildren(element("thead", {}, top), element("tbody", {}, ...rows));
  showAnswer(axes, lines);
  const table = document.querySelector("#ranking .scroll");
  document.getElementById("wider").hidden = table.scrollWidth <= table.clientWidth;
}

function heatCell(measure, axis, isRanked) {
  const coefficient = cell(measure, axis);
  const { value, low, high, nets } = coefficient;
  const made = element("td", { class: isRanked ? "heat" : "heat aside" });
  if (!Number.isFinite(value)) {
    made.append(
      element(
        "span",
        {
          class: "missing",
          title: nets ? "not enough to compare" : "not measured on these networks",
        },
        "–",
      ),
    );
    return made;
  }
  const button = element(
    "button",
    { type: "button", "data-measure": measure.name, "data-axis": axis.name },
    coefficientText(value),
    isUndecided(coefficient) ? element("span", { class: "doubt" }, "?") : null,
  );
  button.addEventListener("click", () =>
    change({
      ...ALL_NETWORKS,
      view: "networks",
      x: measure.name,
      y: state.outcome,
      axis: axis.name,
      colour: axis.own[0],
    }),
  );
  made.append(button);
  made.style.setProperty("--share", `${Math.round(75 * Math.abs(value))}%`);
  made.classList.add(value < 0 ? "minus" : "plus");
  made.classList.toggle("useful", isUseful(coefficient));
  button.title = `${measure.words}, ${axis.words}: ${coefficientText(value)} ${intervalText([low, high]) || "without interval: too few values"}, ${nets} networks, ${verdict(coefficient)}`;
  button.setAttribute("aria-label", button.title);
  return made;
}

function verdict(coefficient) {
  if (isUndecided(coefficient)) return "undecided";
  return isUseful(coefficient) ? "useful" : "not useful";
}

function toggleAxis(name) {
  const names = chosenAxes();
  const chosen = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
  change({ ranked: chosen.join("\n") });
  const heads = [...document.querySelectorAll("#heat thead button")];
  heads.find(({ dataset }) => dataset.axis === name).focus();
}

// The best measures in a sentence or two.
function showAnswer(axes, lines) {
  const place = document.getElementById("answer");
  const known = lines.filter(({ worst }) => Number.isFinite(worst));
  if (!known.length) return place.replaceChildren("No measure can be compared on these networks.");
  const [best] = known;
  const plain = known.find(({ measure }) => !measure.tested && !measure.baseline);
  const other = plain === best ? null : plain;
  if (axes.length > 4) return place.replaceChildren(...answerOnMany(axes, best, other));
  const words = axes.map((axis) => axis.words);
  const where = `where networks differ only in ${words.join(" or only in ")}${givenText()}`;
  const [all, some] = [best.count === axes.length, best.count > 0];
  place.replaceChildren(
    all
      ? `W${where.slice(1)}, the best measure is `
      : `No measure is certainly useful ${some ? `on all of ${listed(words)}${givenText()}` : where}. The best is `,
    ...withValues(best, axes),
    ".",
    ...(other ? [" Of those without † and ‡ it is ", ...withValues(other, axes), "."] : []),
  );
}

function givenText() {
  return state.given ? ", given the baselines" : "";
}

// The values of a measure, and on which axes it is useful unless it is on all.
function withValues({ measure, count }, axes) {
  const values = axes.map((axis) => coefficientText(cell(measure, axis).value));
  const known = axes.filter((axis) => Number.isFinite(cell(measure, axis).value));
  const verdicts = ["useful", "undecided", "not useful"].map((said) => {
    const words = known
      .filter((axis) => verdict(cell(measure, axis)) === said)
      .map((axis) => axis.words);
    return words.length && count < axes.length ? `; ${said} on ${listed(words)}` : "";
  });
  return [element("b", {}, label(measure)), ` (${[listed(values), ...verdicts].join("")})`];
}

// On how many axes each measure is useful.
function answerOnMany(axes, best, other) {
  if (best.count === axes.length)
    return [
      "On all ",
      `${axes.length} axes, one setting at a time${givenText()}, `,
      element("b", {}, label(best.measure)),
      ` is useful, with at least ${coefficientText(best.worst)}.`,
    ];
  if (!best.count)
    return [
      `One setting at a time${givenText()}, no measure is certainly useful on any of ${axes.length} axes.`,
    ];
  const said = ({ measure, count }) => [element("b", {}, label(measure)), `: ${count}`];
  return [
    `One setting at a time${givenText()}, no measure is useful on all ${axes.length} axes. On most: `,
    ...said(best),
    ...(other ? ["; of those without † and ‡, ", ...said(other)] : []),
    ".",
  ];
}

// Where the pinned network lies among all: the share with a smaller value.
function standing(measure, row) {
  const value = measure.numbers[row];
  if (!Number.isFinite(value)) return "–";
  // A network counts once, at its first moment.
  const others = measure.numbers.filter((other, k) => DATA.first[k] && Number.isFinite(other));
  const share = others.filter((other) => other < value).length / others.length;
  const made = strip({ value: share, low: 0, high: 1, width: 90 });
  return element(
    "span",
    { title: `${short(value)}: larger than ${Math.round(100 * share)} % of the networks` },
    made,
  );
}
