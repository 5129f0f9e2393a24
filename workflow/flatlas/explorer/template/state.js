// The data, and the state of the page: what is chosen. The address keeps all that differs from START,
// so a view can be sent as a link.

const DATA = JSON.parse(document.getElementById("data").textContent);
const VARIABLES = new Map(DATA.variables.map((variable) => [variable.name, variable]));
const AXES = new Map(DATA.axes.map((axis) => [axis.name, axis]));
const MEASURES = DATA.variables.filter((variable) => variable.kind === "measure");
const OUTCOMES = DATA.variables.filter((variable) => variable.kind === "outcome");
// The longest time without checking for input from the reader, in milliseconds.
const STEP = 12;
const OPTIMIZER = "optimizer.name";
// Which networks are drawn and how. A scale without a choice ("") is logarithmic where that spreads the
// points.
const ALL_NETWORKS = {
  xlog: "",
  ylog: "",
  colour: "",
  panels: "",
  axis: "",
  study: "",
  optimizer: "",
  seed: "",
  moments: "",
  settled: "",
  range: "",
};
const START = {
  view: "ranking",
  // Measures by axes. `ranked`: names of axes, one a line, since names may have commas; none: all.
  outcome: OUTCOMES[0]?.name ?? "",
  given: "",
  untested: "",
  ranked: "",
  // Networks.
  x: (MEASURES.find((variable) => !variable.baseline) ?? MEASURES[0] ?? OUTCOMES[0])?.name ?? "",
  y: OUTCOMES[0]?.name ?? "",
  ...ALL_NETWORKS,
  // Claims.
  q: "",
  of: "",
  verdict: "",
  whose: "",
  // A row of the table: run, seed and moment.
  pin: "",
};
const state = { ...START };

for (const variable of DATA.variables) {
  const known = variable.values.filter((value) => value !== null);
  const texts = known.some((value) => typeof value === "string");
  variable.categories = texts ? [...new Set(known)].sort() : null;
  // Categories are in alphabetical order.
  variable.numbers = variable.values.map((value) =>
    value === null ? NaN : texts ? variable.categories.indexOf(value) : value,
  );
  variable.distinct = [...new Set(variable.numbers.filter(Number.isFinite))].sort((a, b) => a - b);
}

function change(changes) {
  const turned = changes.view !== undefined && changes.view !== state.view;
  Object.assign(state, changes);
  const chosen = Object.entries(state).filter(([key, value]) => value !== START[key]);
  const address = `#${new URLSearchParams(chosen)}`;
  if (turned) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  show();
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(START)) state[key] = said.get(key) ?? START[key];
  if (!Object.hasOwn(VIEWS, state.view)) state.view = START.view;
  for (const { dataset, options } of document.querySelectorAll("select")) {
    const values = [...options].map(({ value }) => value);
    if (!values.includes(state[dataset.key])) state[dataset.key] = START[dataset.key];
  }
  for (const { dataset } of document.querySelectorAll("[type=checkbox]")) {
    if (!["0", "1"].includes(state[dataset.key])) state[dataset.key] = START[dataset.key];
    // Only a scale can be chosen not to be logarithmic.
    else if (state[dataset.key] === "0" && !isScale(dataset.key)) state[dataset.key] = "";
  }
  state.ranked = chosenAxes().join("\n");
  if (!selectedRange()) state.range = START.range;
}

function isScale(key) {
  return key === "xlog" || key === "ylog";
}

// The names of the axes by which measures are ranked; none: all.
function chosenAxes() {
  return state.ranked.split("\n").filter((name) => AXES.has(name));
}

function netName(row) {
  return `${DATA.run[row]} ${DATA.seed[row]} ${DATA.at[row]}`;
}

const ROWS = new Map(DATA.run.map((_, row) => [netName(row), row]));

function pinnedRow() {
  return ROWS.get(state.pin) ?? null;
}

// Do several long things in short steps.
async function inSteps(generators) {
  let until = performance.now() + STEP;
  for (const { steps, done } of generators) {
    for (let result = steps.next(); ; result = steps.next()) {
      if (result.done) {
        done(result.value);
        break;
      }
      if (performance.now() < until) continue;
      await new Promise((resume) => setTimeout(resume));
      until = performance.now() + STEP;
    }
  }
}
