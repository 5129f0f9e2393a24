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
    known.map((place) => DATA.seed[rows[place]]),
    DATA.students,
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

// Whether the measure certainly orders the networks of an axis as the outcome does.
function isRight(measure, axis) {
  return cell(measure, axis).low > 0;
}

function countRight(measure, axes) {
  return axes.filter((axis) => isRight(measure, axis)).length;
}

// The axes on which any measure can be compared.
function comparedAxes() {
  return DATA.axes.filter((axis) =>
    MEASURES.some((measure) => Number.isFinite(cell(measure, axis).value)),
  );
}

function rankedAxes() {
  const names = state.ranked.split(",").filter((name) => AXES.has(name));
  return names.length ? names.map((name) => AXES.get(name)) : comparedAxes();
}

// The measures, the best first: the one whose worst coefficient on the ranked axes is largest.
function rankedMeasures() {
  const axes = rankedAxes();
  const shown = MEASURES.filter((measure) => !(state.untested && measure.tested));
  const lines = shown.map((measure) => {
    const values = axes.map((axis) => cell(measure, axis).value);
    const missing = values.filter((value) => !Number.isFinite(value)).length;
    return {
      measure,
      missing,
      worst: missing === axes.length ? NaN : Math.min(...values.filter(Number.isFinite)),
    };
  });
  const order = (worst) => (Number.isFinite(worst) ? worst : -2);
  return lines.sort((a, b) => a.missing - b.missing || order(b.worst) - order(a.worst));
}

function showRanking() {
  const columns = comparedAxes();
  const axes = rankedAxes();
  const lines = rankedMeasures();
  const outcome = VARIABLES.get(state.outcome);
  for (const place of document.querySelectorAll(".outcome")) place.textContent = outcome.words;
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
      hyphenated(axis.words),
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
    element("th", { scope: "col", class: "worst" }, "worst"),
    element("th", { scope: "col", class: "worst" }, "right on"),
    ...head,
    ...pinned,
  );
  const rows = lines.map(({ measure, worst }) =>
    element(
      "tr",
      { "data-measure": measure.name },
      element("th", { scope: "row" }, label(measure)),
      element("td", { class: "worst" }, coefficientText(worst)),
      element("td", { class: "worst count" }, String(countRight(measure, axes))),
      ...columns.map((axis) => heatCell(measure, axis, axes.includes(axis))),
      ...(pin === null ? [] : [element("td", { class: "standing" }, standing(measure, pin))]),
    ),
  );
  document
    .getElementById("heat")
    .replaceChildren(element("thead", {}, top), element("tbody", {}, ...rows));
  showAnswer(axes, lines);
}

function heatCell(measure, axis, isRanked) {
  const { value, low, high, nets } = cell(measure, axis);
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
  );
  button.addEventListener("click", () =>
    change({
      view: "networks",
      x: measure.name,
      y: state.outcome,
      axis: axis.name,
      colour: axis.own[0],
      xlog: "",
      ylog: "",
      panels: "",
      study: "",
      optimizer: "",
      seed: "",
      moments: "",
      settled: "",
      range: "",
    }),
  );
  made.append(button);
  made.style.setProperty("--share", `${Math.round(75 * Math.abs(value))}%`);
  made.classList.add(value < 0 ? "minus" : "plus");
  made.classList.toggle("sure", low > 0 || high < 0);
  button.title = `${measure.words}, ${axis.words}: ${coefficientText(value)} ${intervalText([low, high]) || "without interval: too few values"}, ${nets} networks`;
  button.setAttribute("aria-label", button.title);
  return made;
}

function toggleAxis(name) {
  const names = state.ranked ? state.ranked.split(",") : [];
  const chosen = names.includes(name) ? names.filter((one) => one !== name) : [...names, name];
  change({ ranked: chosen.join(",") });
  document.querySelector(`#heat thead button[data-axis="${name}"]`).focus();
}

// The best measures in a sentence or two.
function showAnswer(axes, lines) {
  const place = document.getElementById("answer");
  const complete = lines.filter(({ missing }) => !missing);
  const blind = complete.find(({ measure }) => !measure.tested);
  const where = axes.map((axis) => axis.words).join(" or only in ");
  if (axes.length > 4) return place.replaceChildren(...answerOnMany(axes, lines));
  if (!complete.length) return place.replaceChildren("No measure was taken of all these networks.");
  const [best] = complete;
  place.replaceChildren(
    `Where networks differ only in ${where}, the best measure is `,
    ...withValues(best, axes),
    ".",
    ...(best.measure.tested && blind
      ? [" † It knows test images; the best that does not is ", ...withValues(blind, axes), "."]
      : []),
  );
}

function withValues({ measure }, axes) {
  const values = axes.map((axis) => coefficientText(cell(measure, axis).value));
  const doubtful = axes.filter((axis) => !isRight(measure, axis)).map((axis) => axis.words);
  const doubt = doubtful.length ? `; on ${listed(doubtful)} this may be chance` : "";
  return [element("b", {}, label(measure)), ` (${listed(values)}${doubt})`];
}

// On how many axes each measure is certainly right.
function answerOnMany(axes, lines) {
  const counts = lines.map((line) => ({ ...line, count: countRight(line.measure, axes) }));
  const most = (some) => some.reduce((best, one) => (one.count > best.count ? one : best));
  const best = most(counts);
  if (best.count === axes.length)
    return [
      "On all ",
      `${axes.length} axes `,
      element("b", {}, label(best.measure)),
      ` is right, with at least ${coefficientText(best.worst)}.`,
    ];
  const said = ({ measure, count }) => [element("b", {}, label(measure)), `: ${count}`];
  const blind = counts.filter(({ measure }) => !measure.tested);
  return [
    `No measure is certainly right on all ${axes.length} axes. Right on most: `,
    ...said(best),
    ...(best.measure.tested && blind.length
      ? ["; of those that know no test images (†), ", ...said(most(blind))]
      : []),
    ".",
  ];
}

// Where the pinned network lies among all: the share with a smaller value.
function standing(measure, row) {
  const value = measure.numbers[row];
  if (!Number.isFinite(value)) return "–";
  const others = measure.numbers.filter(Number.isFinite);
  const share = others.filter((other) => other < value).length / others.length;
  const made = strip({ value: share, low: 0, high: 1, width: 90 });
  return element(
    "span",
    { title: `${short(value)}: larger than ${Math.round(100 * share)} % of the networks` },
    made,
  );
}
