// Which of the drawn networks are selected, and their coefficients.

let coefficientsWanted = 0;
let coefficientsShown = null;

// The range is selected in all panels: four numbers, x from and to, y from and to.
function selectedRange() {
  const parts = state.range.split(",");
  const range = parts.map((part) => (part.trim() ? Number(part) : NaN));
  if (range.length !== 4 || !range.every(Number.isFinite)) return null;
  const [a, b, c, d] = range;
  return [Math.min(a, b), Math.max(a, b), Math.min(c, d), Math.max(c, d)];
}

function selectedRows() {
  const range = selectedRange();
  const rows = [...new Set(panels.flatMap((one) => one.rows))];
  if (!range) return rows;
  const [x, y] = [VARIABLES.get(state.x).numbers, VARIABLES.get(state.y).numbers];
  return rows.filter(
    (row) => range[0] <= x[row] && x[row] <= range[1] && range[2] <= y[row] && y[row] <= range[3],
  );
}

function showSelection() {
  const range = selectedRange();
  const rows = selectedRows();
  const chosen = new Set(rows);
  const pin = pinnedRow();
  for (const { brush, dots, scales } of panels) {
    brush.setAttribute("visibility", range ? "visible" : "hidden");
    if (range) {
      const [left, right] = [scales.x.place(range[0]), scales.x.place(range[1])];
      const [low, high] = [scales.y.place(range[2]), scales.y.place(range[3])];
      for (const [name, value] of Object.entries({
        x: left,
        y: high,
        width: right - left,
        height: low - high,
      }))
        brush.setAttribute(name, value);
    }
    for (const [row, dot] of dots) {
      dot.classList.toggle("left-out", !chosen.has(row));
      dot.classList.toggle("pinned", row === pin);
    }
    // On top of the others.
    if (dots.has(pin)) dots.get(pin).parentElement.append(dots.get(pin));
  }
  document.querySelectorAll("#range input").forEach((input, k) => {
    // Names have no range, except that of the mouse.
    input.parentElement.hidden = Boolean(VARIABLES.get(k < 2 ? state.x : state.y).categories);
    if (input !== document.activeElement)
      input.value = range ? Number(range[k].toPrecision(4)) : "";
  });
  document.getElementById("clear").disabled = !range;
  showCoefficients(rows);
}

// Names have no order, so no rank coefficients.
function haveOrder() {
  return [state.x, state.y].every((name) => !VARIABLES.get(name).categories);
}

// The coefficients of these rows: a name, words, and the steps to its value.
function coefficientsOf(rows) {
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const axis = AXES.get(state.axis);
  const given = baselinesFor(x.name, y.name);
  const one = rows.map(() => 0);
  const [a, b] = [x, y].map((variable) => rows.map((row) => variable.numbers[row]));
  const lines = [
    [
      "kendall",
      axis ? "τ over all pairs (Kendall’s τ-b)" : "Kendall’s τ-b",
      tauOf(x, y, [], rows, one),
    ],
    [
      "spearman",
      "Spearman’s ρ",
      (function* () {
        return spearman(
          a,
          b,
          rows.map((row) => DATA.realization[row]),
          DATA.conventions,
        );
      })(),
    ],
    ["partial", "τ given the baselines ‡", tauOf(x, y, given, rows, one)],
  ];
  if (!axis) return lines;
  const stratum = new Map(axis.rows.map((row, place) => [row, axis.strata[place]]));
  const strata = rows.map((row) => stratum.get(row));
  return [
    ["granulated", `τ over pairs that differ only in ${axis.words}`, tauOf(x, y, [], rows, strata)],
    ["granulated-given", "the same, given the baselines ‡", tauOf(x, y, given, rows, strata)],
    ...lines,
  ];
}

// The coefficients follow the selection.
async function showCoefficients(rows) {
  describeSelection(rows);
  const table = document.getElementById("coefficients");
  table.setAttribute("aria-busy", "true");
  const wanted = ++coefficientsWanted;
  // A computed result is shown even if the selection has changed since. Otherwise nothing would appear
  // while a reader brushes.
  await coefficientsShown;
  if (wanted !== coefficientsWanted) return;
  const lines = coefficientsOf(haveOrder() ? rows : []);
  const body = table.tBodies[0];
  if (body.rows.length !== lines.length) body.replaceChildren(...lines.map(() => coefficientRow()));
  coefficientsShown = inSteps(
    lines.map(([name, words, steps], place) => ({
      steps,
      done: (found) => fillCoefficient(body.rows[place], name, words, found),
    })),
  );
  await coefficientsShown;
  if (wanted === coefficientsWanted) table.setAttribute("aria-busy", "false");
}

function coefficientRow() {
  return element(
    "tr",
    {},
    element("th", { scope: "row" }),
    element("td", { class: "number" }),
    element("td"),
    element("td"),
  );
}

function fillCoefficient(row, name, words, { value, low, high }) {
  const [what, number, between, picture] = row.cells;
  row.dataset.coefficient = name;
  what.textContent = words;
  number.textContent = coefficientText(value);
  Object.assign(row.dataset, { value, low, high });
  between.textContent = intervalText([low, high]) || "–";
  picture.replaceChildren(strip({ value, interval: [low, high], low: -1, high: 1, width: 90 }));
}

function describeSelection(rows) {
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const doubtful = rows.filter((row) => !isSettled(x, row) || !isSettled(y, row)).length;
  const runs = new Set(rows.map((row) => DATA.run[row])).size;
  const given = listed(baselinesFor(x.name, y.name).map((variable) => variable.words));
  document.getElementById("counted").textContent =
    `${y.words} with ${x.words}: ${rows.length} ${state.range ? "selected " : ""}networks`;
  document.getElementById("resampled").textContent =
    `From ${runs} runs.${doubtful ? ` Values from searches that did not converge: ${doubtful}.` : ""} ` +
    `Intervals leave out one seed at a time, with all its networks (jackknife). –: ${haveOrder() ? "too few to compare" : "names have no order"}. ‡ Baselines: ${given}.`;
}
