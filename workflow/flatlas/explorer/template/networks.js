// Networks as points: any two variables, in colours and panels; the coefficients of those selected.

// Okabe and Ito's colours, which differ to every eye; style sheets have them for both modes.
const COLOURS = 8;
const MOST_PANELS = 16;
// So near a point the mouse means it, in pixels.
const NEAR = 14;
// What is drawn: for each panel its rows, scales and dots.
let panels = [];
let activeRow = null;
let coefficientsWanted = 0;
let coefficientsShown = null;

function selectableRows() {
  const axis = AXES.get(state.axis);
  const moments = state.moments || axis?.own.includes("at");
  const rows = axis ? axis.rows : DATA.run.map((_, row) => row);
  const optimizers = VARIABLES.get(OPTIMIZER)?.values ?? [];
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  return rows.filter((row) =>
    (moments || DATA.first[row]) &&
    (!state.study || DATA.study[row] === state.study) &&
    (!state.optimizer || optimizers[row] === state.optimizer) &&
    (!state.seed || String(DATA.seed[row]) === state.seed) &&
    (!state.settled || (isSettled(x, row) && isSettled(y, row))));
}

function isSettled(variable, row) {
  return !variable.settled || variable.settled[row] === 1;
}

function isLog(key, rows) {
  const variable = VARIABLES.get(state[key]);
  const chosen = state[`${key}log`];
  if (variable.categories) return false;
  return chosen ? chosen === "1" : spreads(rows.map((row) => variable.numbers[row]));
}

function showNetworks() {
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const rows = selectableRows();
  const logs = { x: isLog("x", rows), y: isLog("y", rows) };
  for (const key of ["x", "y"]) {
    const box = document.querySelector(`[data-key="${key}log"]`);
    box.checked = logs[key];
    box.disabled = Boolean(VARIABLES.get(state[key]).categories);
    document.querySelector(`#range [data-of="${key}"]`).textContent = VARIABLES.get(state[key]).words;
  }
  const canShow = (row) => [[x, logs.x], [y, logs.y]].every(([variable, log]) =>
    Number.isFinite(variable.numbers[row]) && (!log || variable.numbers[row] > 0));
  const shown = rows.filter(canShow);
  const colour = colours(shown);
  const plot = document.getElementById("plot");
  plot.setAttribute("aria-label", `${y.words} over ${x.words}, ${shown.length} networks`);
  const groups = panelsOf(shown);
  const across = Math.min(groups.length, Math.max(1, Math.floor(plot.clientWidth / 270)));
  const width = Math.floor((plot.clientWidth - 2) / across);
  const height = groups.length === 1 ? Math.max(300, Math.min(440, 0.6 * width)) : 230;
  const size = { width, height, left: y.categories ? 104 : 62, right: 10, top: groups.length > 1 ? 24 : 8, bottom: 46 };
  const scales = {
    x: scale(x, shown.map((row) => x.numbers[row]), logs.x, size.left, width - size.right),
    y: scale(y, shown.map((row) => y.numbers[row]), logs.y, height - size.bottom, size.top),
  };
  panels = groups.map((group) => panel(group, scales, size, colour));
  plot.replaceChildren(...panels.map((one) => one.svg));
  const left = rows.length - shown.length;
  showLegend(colour, left ? `${left} of ${rows.length} networks lack a value${logs.x || logs.y ? " or are not positive" : ""}.` : "");
  showSelection();
}

// The rows of each panel: of a category, a value, or a quarter of the networks.
function panelsOf(rows) {
  if (state.panels === "axis") {
    return DATA.axes.map((axis) => ({ title: axis.words, rows: rows.filter((row) => axis.rows.includes(row)) })).filter((group) => group.rows.length);
  }
  const variable = VARIABLES.get(state.panels);
  if (!variable) return [{ title: "", rows }];
  const { numbers, categories } = variable;
  const values = [...new Set(rows.map((row) => numbers[row]).filter(Number.isFinite))].sort((a, b) => a - b);
  if (values.length <= MOST_PANELS) {
    return values.map((value) => ({
      title: categories ? categories[value] : `${variable.words}: ${short(value)}`,
      rows: rows.filter((row) => numbers[row] === value),
    }));
  }
  const sorted = rows.map((row) => numbers[row]).filter(Number.isFinite).sort((a, b) => a - b);
  const ends = [0, 0.25, 0.5, 0.75, 1].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
  return [0, 1, 2, 3].map((k) => ({
    title: `${variable.words}: ${short(ends[k])} to ${short(ends[k + 1])}`,
    rows: rows.filter((row) => numbers[row] >= ends[k] && (numbers[row] < ends[k + 1] || (k === 3 && numbers[row] === ends[4]))),
  }));
}

// For each row its colour: of its category, or on a ramp.
function colours(rows) {
  const variable = VARIABLES.get(state.colour);
  if (!variable) return { of: () => "var(--hue-0)" };
  const { numbers, categories, distinct } = variable;
  if (categories && distinct.length <= COLOURS) {
    return { variable, entries: categories.map((text, k) => [text, `var(--hue-${k})`]), of: (row) => `var(--hue-${numbers[row]})` };
  }
  const values = rows.map((row) => numbers[row]).filter(Number.isFinite);
  const known = [...new Set(values)].sort((a, b) => a - b);
  // Few values are evenly apart, whatever they are.
  const few = known.length <= 10;
  const log = !few && spreads(values);
  const map = few ? (number) => known.indexOf(number) : log ? Math.log10 : (number) => number;
  const [low, high] = [map(known[0]), map(known.at(-1))];
  const ramp = (number) => `color-mix(in oklab, var(--ramp-high) ${Math.round((100 * (map(number) - low)) / (high - low || 1))}%, var(--ramp-low))`;
  return {
    variable,
    entries: few ? known.map((number) => [categories ? categories[number] : short(number), ramp(number)]) : null,
    ends: few ? null : [short(known[0]), short(known.at(-1))],
    of: (row) => (Number.isFinite(numbers[row]) ? ramp(numbers[row]) : "var(--faint)"),
  };
}

function showLegend(colour, lacking) {
  const parts = [];
  if (colour.variable) parts.push(element("span", {}, `${label(colour.variable)}:`));
  for (const [text, value] of colour.entries ?? []) {
    parts.push(element("span", { class: "entry" }, element("i", { style: `background: ${value}` }), text));
  }
  if (colour.ends) parts.push(element("span", { class: "entry" }, colour.ends[0], element("i", { class: "ramp" }), colour.ends[1]));
  if (state.axis) parts.push(element("span", { class: "entry" }, element("i", { class: "line" }), `differ only in ${AXES.get(state.axis).words}`));
  if ([state.x, state.y].some((name) => VARIABLES.get(name).settled)) {
    parts.push(element("span", { class: "entry" }, element("i", { class: "hollow" }), "search not converged"));
  }
  if (lacking) parts.push(element("span", { class: "lacking" }, lacking));
  document.getElementById("legend").replaceChildren(...parts);
}

function panel(group, scales, size, colour) {
  const { width, height, left, right, top, bottom } = size;
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  if (group.title) svg.append(drawn("text", { class: "title", x: left, y: 15 }, group.title));
  const middle = (left + width - right) / 2;
  for (const [number, text] of scales.x.ticks) {
    const at = scales.x.place(number);
    svg.append(drawn("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - bottom }));
    svg.append(drawn("text", { x: at, y: height - bottom + 16, "text-anchor": "middle" }, text));
  }
  for (const [number, text] of scales.y.ticks) {
    const at = scales.y.place(number);
    svg.append(drawn("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }));
    svg.append(drawn("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, text));
  }
  svg.append(drawn("text", { class: "axis", x: middle, y: height - 8, "text-anchor": "middle" }, label(x)));
  const high = (top + height - bottom) / 2;
  svg.append(drawn("text", { class: "axis", x: 14, y: high, "text-anchor": "middle", transform: `rotate(-90 14 ${high})` }, label(y)));
  const at = new Map(group.rows.map((row) => [row, [scales.x.place(x.numbers[row]), scales.y.place(y.numbers[row])]]));
  svg.append(joined(group.rows, at));
  const brush = drawn("rect", { class: "brush", visibility: "hidden" });
  svg.append(brush);
  const dots = new Map();
  for (const [row, [cx, cy]] of at) {
    const dot = drawn("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r: group.rows.length > 400 ? 3.5 : 4.5, "data-row": row, style: `color: ${colour.of(row)}` });
    if (!isSettled(x, row) || !isSettled(y, row)) dot.classList.add("hollow");
    dots.set(row, dot);
  }
  svg.append(drawn("g", { class: "dots" }, ...dots.values()));
  const made = { svg, brush, dots, at, rows: group.rows, scales, size };
  listen(made);
  return made;
}

// Lines through the networks of one stratum of the axis, in the order of its values.
function joined(rows, at) {
  const lines = drawn("g", { class: "joined" });
  const axis = AXES.get(state.axis);
  if (!axis) return lines;
  const [own] = axis.own.map((name) => VARIABLES.get(name).numbers);
  const strata = new Map();
  axis.rows.forEach((row, place) => {
    if (at.has(row)) strata.set(axis.strata[place], [...(strata.get(axis.strata[place]) ?? []), row]);
  });
  for (const some of strata.values()) {
    some.sort((a, b) => own[a] - own[b]);
    lines.append(drawn("path", { d: `M${some.map((row) => at.get(row).map((pixel) => pixel.toFixed(1)).join(" ")).join("L")}` }));
  }
  return lines;
}

// The range is selected in all panels: four numbers, x from and to, y from and to.
function selectedRange() {
  const range = state.range.split(",").map(Number);
  return state.range && range.length === 4 && range.every(Number.isFinite) ? range : null;
}

function selectedRows() {
  const range = selectedRange();
  const rows = [...new Set(panels.flatMap((one) => one.rows))];
  if (!range) return rows;
  const [x, y] = [VARIABLES.get(state.x).numbers, VARIABLES.get(state.y).numbers];
  return rows.filter((row) => range[0] <= x[row] && x[row] <= range[1] && range[2] <= y[row] && y[row] <= range[3]);
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
      for (const [name, value] of Object.entries({ x: left, y: high, width: right - left, height: low - high })) brush.setAttribute(name, value);
    }
    for (const [row, dot] of dots) {
      dot.classList.toggle("left-out", !chosen.has(row));
      dot.classList.toggle("pinned", row === pin);
    }
    // On top of the others.
    if (dots.has(pin)) dots.get(pin).parentElement.append(dots.get(pin));
  }
  document.querySelectorAll("#range input").forEach((input, k) => {
    if (input !== document.activeElement) input.value = range ? Number(range[k].toPrecision(4)) : "";
  });
  document.getElementById("clear").disabled = !range;
  showCoefficients(rows);
}

// The coefficients of these rows: a name, words, and the steps to its value.
function coefficientsOf(rows) {
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const axis = AXES.get(state.axis);
  const given = baselinesFor(x.name, y.name);
  const one = rows.map(() => 0);
  const [a, b] = [x, y].map((variable) => rows.map((row) => variable.numbers[row]));
  const lines = [
    ["kendall", axis ? "τ over all pairs (Kendall’s τ-b)" : "Kendall’s τ-b", tauOf(x, y, [], rows, one)],
    ["spearman", "Spearman’s ρ", (function* () { return spearman(a, b, rows.map((row) => DATA.seed[row]), DATA.students); })()],
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
  // What is being computed is shown, though the selection has changed since: or nothing would be while
  // somebody brushes.
  await coefficientsShown;
  if (wanted !== coefficientsWanted) return;
  const lines = coefficientsOf(rows);
  const body = table.tBodies[0];
  if (body.rows.length !== lines.length) body.replaceChildren(...lines.map(() => coefficientRow()));
  coefficientsShown = inSteps(lines.map(([name, words, steps], place) => ({
    steps,
    done: (found) => fillCoefficient(body.rows[place], name, words, found),
  })));
  await coefficientsShown;
  if (wanted === coefficientsWanted) table.setAttribute("aria-busy", "false");
}

function coefficientRow() {
  return element("tr", {}, element("th", { scope: "row" }), element("td", { class: "number" }), element("td"), element("td"));
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
  document.getElementById("counted").textContent = `${y.words} with ${x.words}: ${rows.length} ${state.range ? "selected " : ""}networks`;
  document.getElementById("resampled").textContent =
    `Of ${runs} settings.${doubtful ? ` Values from searches that did not converge: ${doubtful}.` : ""} ` +
    `Intervals leave out one seed at a time, with all its networks (jackknife). –: too few to compare. ‡ Baselines: ${given}.`;
}

// Mouse, finger and pen: drag to select, click to pin, hover to read.
function listen(one) {
  const { svg, scales, size } = one;
  let begun = null, waiting = false;
  const inside = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * (size.width / box.width);
    const y = (event.clientY - box.top) * (size.height / box.height);
    return [Math.max(size.left, Math.min(size.width - size.right, x)), Math.max(size.top, Math.min(size.height - size.bottom, y))];
  };
  const rangeTo = ([x, y]) => {
    const sorted = (a, b) => (a < b ? [a, b] : [b, a]);
    return [...sorted(scales.x.at(begun[0]), scales.x.at(x)), ...sorted(scales.y.at(begun[1]), scales.y.at(y))].map((number) => Number(number.toPrecision(6))).join(",");
  };
  const isDrag = ([x, y]) => begun && Math.hypot(x - begun[0], y - begun[1]) > 5;
  svg.addEventListener("pointerdown", (event) => {
    begun = inside(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    const point = inside(event);
    if (!begun) return hover(nearest(one, point), one);
    if (!isDrag(point) || waiting) return;
    hover(null);
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (!begun) return;
      state.range = rangeTo(point);
      showSelection();
    });
  });
  svg.addEventListener("pointerup", (event) => {
    const point = inside(event);
    if (isDrag(point)) change({ range: rangeTo(point) });
    else {
      const row = nearest(one, point);
      if (row !== null) change({ pin: netName(row) === state.pin ? "" : netName(row) });
      else if (state.range) change({ range: "" });
    }
    begun = null;
  });
  svg.addEventListener("pointercancel", () => (begun = null));
  svg.addEventListener("pointerleave", () => hover(null));
}

function nearest({ at }, [x, y]) {
  let best = null, least = NEAR;
  for (const [row, [cx, cy]] of at) {
    const distance = Math.hypot(cx - x, cy - y);
    if (distance < least) [best, least] = [row, distance];
  }
  return best;
}

// The settings and values of a network, beside its point.
function hover(row, one = null) {
  activeRow = row;
  const box = document.getElementById("hover");
  for (const { dots } of panels) for (const [other, dot] of dots) dot.classList.toggle("active", other === row);
  box.hidden = row === null;
  if (row === null) return;
  const shown = [state.x, state.y, state.colour].filter((name) => VARIABLES.has(name));
  const settings = DATA.variables.filter((variable) => variable.kind === "setting" && variable.numbers[row] === variable.numbers[row]);
  const line = (variable) => element("div", {}, element("span", {}, variable.words), element("b", {}, withError(variable, row)));
  box.replaceChildren(
    ...[...new Set(shown)].map((name) => line(VARIABLES.get(name))),
    element("hr"),
    ...settings.filter((variable) => !shown.includes(variable.name)).map(line),
    element("div", {}, element("span", {}, "seed"), element("b", {}, String(DATA.seed[row]))),
  );
  const [x, y] = one.at.get(row);
  const plot = document.getElementById("plot").getBoundingClientRect();
  const svg = one.svg.getBoundingClientRect();
  const left = svg.left - plot.left + x;
  box.style.left = `${Math.max(0, Math.min(left + 14, plot.width - 250))}px`;
  const below = svg.top + y + 14 + box.offsetHeight < innerHeight;
  box.style.top = `${svg.top - plot.top + document.getElementById("plot").offsetTop + y + (below ? 14 : -14 - box.offsetHeight)}px`;
}

function withError(variable, row) {
  const error = variable.errors?.[row];
  const doubt = isSettled(variable, row) ? "" : " (not converged)";
  return valueText(variable, row) + (error ? ` ± ${short(error, 2)}` : "") + doubt;
}

// Arrows go to the next network in their direction.
function walk(event) {
  const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] };
  if (event.key === "Escape") return state.range ? change({ range: "" }) : hover(null);
  if ((event.key === "Enter" || event.key === " ") && activeRow !== null) {
    event.preventDefault();
    return change({ pin: netName(activeRow) === state.pin ? "" : netName(activeRow) });
  }
  if (!(event.key in steps) || !panels.length) return;
  event.preventDefault();
  const [by, step] = steps[event.key];
  const one = panels.find(({ at }) => at.has(activeRow)) ?? panels.find(({ rows }) => rows.length);
  if (!one) return;
  const order = [...one.at.keys()].sort((a, b) => one.at.get(a)[by] - one.at.get(b)[by]);
  const place = order.indexOf(activeRow);
  const next = place < 0 ? 0 : place + step;
  if (order[next] !== undefined) return hover(order[next], one);
  const other = panels[panels.indexOf(one) + step];
  if (other?.rows.length) hover(other.rows[0], other);
}
