// Networks as points: any two variables, in colours and panels.

// Okabe and Ito's colours, which colour-blind readers can distinguish; style sheets have them for both modes.
const COLOURS = 8;
const MOST_PANELS = 16;
const LEAST_WIDTH = 270;
// What is drawn: for each panel its rows, scales and dots.
let panels = [];

function selectableRows() {
  const axis = AXES.get(state.axis);
  // An axis has its own moments.
  const moments = state.moments || axis;
  const rows = axis ? axis.rows : DATA.run.map((_, row) => row);
  const optimizers = VARIABLES.get(OPTIMIZER)?.values ?? [];
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  return rows.filter(
    (row) =>
      (moments || DATA.first[row]) &&
      (!state.study || DATA.study[row] === state.study) &&
      (!state.optimizer || optimizers[row] === state.optimizer) &&
      (!state.seed || String(DATA.seed[row]) === state.seed) &&
      (!state.settled || (isSettled(x, row) && isSettled(y, row))),
  );
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
    document.querySelector(`#range [data-of="${key}"]`).textContent = VARIABLES.get(
      state[key],
    ).words;
  }
  const every = document.querySelector('[data-key="moments"]');
  const axis = AXES.get(state.axis);
  every.disabled = Boolean(axis);
  if (axis) every.checked = axis.own.includes("at");
  const canShow = (row) =>
    [
      [x, logs.x],
      [y, logs.y],
    ].every(
      ([variable, log]) =>
        Number.isFinite(variable.numbers[row]) && (!log || variable.numbers[row] > 0),
    );
  const shown = rows.filter(canShow);
  const colour = colours(shown);
  const plot = document.getElementById("plot");
  plot.setAttribute("aria-label", `${y.words} over ${x.words}, ${shown.length} networks`);
  // Without networks there is one empty panel.
  const groups = shown.length ? panelsOf(shown) : [{ title: "", rows: [] }];
  const room = Math.max(plot.clientWidth, LEAST_WIDTH);
  const across = Math.min(groups.length, Math.floor(room / LEAST_WIDTH));
  const width = Math.floor((room - 2) / across);
  // Names that are too long to fit side by side are rotated.
  const longest = Math.max(0, ...(x.categories ?? []).map((name) => name.length));
  const letters = Math.min(longest, LONGEST);
  const isTurned = letters * LETTER > (width - 72) / (x.categories?.length ?? 1);
  const turned = isTurned ? letters * LETTER * 0.7 : 0;
  const height = (groups.length === 1 ? Math.max(300, Math.min(440, 0.6 * width)) : 230) + turned;
  const size = {
    width,
    height,
    isTurned,
    left: y.categories ? 104 : 62,
    right: 10,
    top: groups.length > 1 ? 24 : 8,
    bottom: 46 + turned,
  };
  const scales = {
    x: scale(
      x,
      shown.map((row) => x.numbers[row]),
      logs.x,
      size.left,
      width - size.right,
    ),
    y: scale(
      y,
      shown.map((row) => y.numbers[row]),
      logs.y,
      height - size.bottom,
      size.top,
    ),
  };
  panels = groups.map((group) => panel(group, scales, size, colour));
  plot.replaceChildren(...panels.map((one) => one.svg));
  const left = rows.length - shown.length;
  showLegend(
    colour,
    left
      ? `${left} of ${rows.length} networks lack a value${logs.x || logs.y ? " or are not positive" : ""}.`
      : "",
  );
  showSelection();
}

// The rows of each panel: of a category, a value, a quarter of the networks, or those without.
function panelsOf(rows) {
  if (state.panels === "axis") {
    const groups = DATA.axes.map((axis) => {
      const own = new Set(axis.rows);
      return { title: axis.words, rows: rows.filter((row) => own.has(row)) };
    });
    const shown = new Set(groups.flatMap((group) => group.rows));
    groups.push({ title: `axis: ${NONE}`, rows: rows.filter((row) => !shown.has(row)) });
    return groups.filter((group) => group.rows.length);
  }
  const variable = VARIABLES.get(state.panels);
  if (!variable) return [{ title: "", rows }];
  const named = namesInstead(variable, rows).map((name) => ({
    title: `${variable.words}: ${name}`,
    rows: rows.filter((row) => nameInstead(variable, row) === name),
  }));
  const numbered = rows.filter((row) => nameInstead(variable, row) === null);
  return [...panelsOfNumbers(variable, numbered), ...named];
}

function panelsOfNumbers(variable, rows) {
  const { numbers, categories } = variable;
  const values = [...new Set(rows.map((row) => numbers[row]))].sort((a, b) => a - b);
  if (values.length <= MOST_PANELS) {
    return values.map((value) => ({
      title: (categories ? "" : `${variable.words}: `) + textOf(variable, value),
      rows: rows.filter((row) => numbers[row] === value),
    }));
  }
  const sorted = rows.map((row) => numbers[row]).sort((a, b) => a - b);
  const ends = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => sorted[Math.round(share * (sorted.length - 1))],
  );
  const quarters = [0, 1, 2, 3].map((k) => ({
    title: `${variable.words}: ${textOf(variable, ends[k])} to ${textOf(variable, ends[k + 1])}`,
    rows: rows.filter(
      (row) =>
        numbers[row] >= ends[k] &&
        (numbers[row] < ends[k + 1] || (k === 3 && numbers[row] === ends[4])),
    ),
  }));
  // Of equal values, some quarters have none.
  return quarters.filter((group) => group.rows.length);
}

// The names of settings without a number; `none` comes last.
function namesInstead(variable, rows) {
  const names = new Set(rows.map((row) => nameInstead(variable, row)).filter(Boolean));
  return [...names].sort((a, b) => (a === NONE) - (b === NONE));
}

// For each row its colour: of its category, on a ramp, or of its name instead of a number.
function colours(rows) {
  const variable = VARIABLES.get(state.colour);
  if (!variable) return { of: () => "var(--hue-0)", named: [] };
  const named = namesInstead(variable, rows).map((name) => [name, colourOfName(name)]);
  const numbered = rows.filter((row) => nameInstead(variable, row) === null);
  const shades = coloursOfNumbers(variable, numbered);
  const of = (row) => {
    const name = nameInstead(variable, row);
    return name === null ? shades.of(variable.numbers[row]) : colourOfName(name);
  };
  return { ...shades, variable, named, of };
}

function colourOfName(name) {
  return name === NONE ? "var(--faint)" : "var(--hue-2)";
}

function coloursOfNumbers(variable, rows) {
  const { numbers, categories, distinct } = variable;
  if (categories && distinct.length <= COLOURS) {
    return {
      entries: categories.map((text, k) => [text, `var(--hue-${k})`]),
      of: (number) => `var(--hue-${number})`,
    };
  }
  const values = rows.map((row) => numbers[row]);
  const known = [...new Set(values)].sort((a, b) => a - b);
  // A few values are evenly spaced, whatever their size.
  const few = known.length <= 10;
  const log = !few && spreads(values);
  const map = few ? (number) => known.indexOf(number) : log ? Math.log10 : (number) => number;
  const [low, high] = [map(known[0]), map(known.at(-1))];
  const ramp = (number) =>
    `color-mix(in oklab, var(--ramp-high) ${Math.round((100 * (map(number) - low)) / (high - low || 1))}%, var(--ramp-low))`;
  const text = (number) => textOf(variable, number);
  return {
    entries: few ? known.map((number) => [text(number), ramp(number)]) : null,
    ends: few ? null : [text(known[0]), text(known.at(-1))],
    of: ramp,
  };
}

function showLegend(colour, lacking) {
  const parts = [];
  if (colour.variable) parts.push(element("span", {}, `${label(colour.variable)}:`));
  const entry = ([text, value]) =>
    element("span", { class: "entry" }, element("i", { style: `background: ${value}` }), text);
  parts.push(...(colour.entries ?? []).map(entry));
  if (colour.ends)
    parts.push(
      element(
        "span",
        { class: "entry" },
        colour.ends[0],
        element("i", { class: "ramp" }),
        colour.ends[1],
      ),
    );
  parts.push(...colour.named.map(entry));
  if (state.axis)
    parts.push(
      element(
        "span",
        { class: "entry" },
        element("i", { class: "line" }),
        `differ only in ${AXES.get(state.axis).words}`,
      ),
    );
  if ([state.x, state.y].some((name) => VARIABLES.get(name).settled)) {
    parts.push(
      element(
        "span",
        { class: "entry" },
        element("i", { class: "hollow" }),
        "search not converged",
      ),
    );
  }
  if (lacking) parts.push(element("span", { class: "lacking" }, lacking));
  document.getElementById("legend").replaceChildren(...parts);
}

function panel(group, scales, size, colour) {
  const { width, height, isTurned, left, right, top, bottom } = size;
  const [x, y] = [VARIABLES.get(state.x), VARIABLES.get(state.y)];
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height });
  if (group.title) svg.append(drawn("text", { class: "title", x: left, y: 15 }, group.title));
  const middle = (left + width - right) / 2;
  for (const [number, text] of scales.x.ticks) {
    const at = scales.x.place(number);
    svg.append(drawn("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - bottom }));
    const below = height - bottom + 16;
    const turn = isTurned
      ? { transform: `rotate(-45 ${at} ${below})`, "text-anchor": "end" }
      : { "text-anchor": "middle" };
    svg.append(drawn("text", { class: "across", x: at, y: below, ...turn }, text));
  }
  for (const [number, text] of scales.y.ticks) {
    const at = scales.y.place(number);
    svg.append(drawn("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }));
    const name = y.categories ? clipped(text, left - 6) : text;
    svg.append(drawn("text", { x: left - 6, y: at + 4, "text-anchor": "end" }, name));
  }
  svg.append(
    drawn(
      "text",
      { class: "axis", x: middle, y: height - 8, "text-anchor": "middle" },
      clipped(label(x), width - left - right + 20),
    ),
  );
  const high = (top + height - bottom) / 2;
  svg.append(
    drawn(
      "text",
      {
        class: "axis",
        x: 14,
        y: high,
        "text-anchor": "middle",
        transform: `rotate(-90 14 ${high})`,
      },
      clipped(label(y), height - top - bottom + 30),
    ),
  );
  const at = new Map(
    group.rows.map((row) => [
      row,
      [scales.x.place(x.numbers[row]), scales.y.place(y.numbers[row])],
    ]),
  );
  svg.append(joined(group.rows, at));
  const brush = drawn("rect", { class: "brush", visibility: "hidden" });
  svg.append(brush);
  const dots = new Map();
  for (const [row, [cx, cy]] of at) {
    const dot = drawn("circle", {
      cx: cx.toFixed(1),
      cy: cy.toFixed(1),
      r: group.rows.length > 400 ? 3.5 : 4.5,
      "data-row": row,
      style: `color: ${colour.of(row)}`,
    });
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
  // If all networks of an axis are alike, it has no variable.
  const own = VARIABLES.get(axis?.own[0])?.numbers;
  if (!own) return lines;
  const strata = new Map();
  axis.rows.forEach((row, place) => {
    if (at.has(row))
      strata.set(axis.strata[place], [...(strata.get(axis.strata[place]) ?? []), row]);
  });
  for (const some of strata.values()) {
    some.sort((a, b) => own[a] - own[b]);
    lines.append(
      drawn("path", {
        d: `M${some
          .map((row) =>
            at
              .get(row)
              .map((pixel) => pixel.toFixed(1))
              .join(" "),
          )
          .join("L")}`,
      }),
    );
  }
  return lines;
}
