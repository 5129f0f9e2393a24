// What a reader points at, drags over and clicks, and the same by keyboard.

// The mouse points at a network if it is within this many pixels.
const NEAR = 14;
// With panels by axis, a network may be in several.
let activeRow = null;
let activePanel = null;

// Mouse, finger and pen: drag to select, click to pin, hover to read.
function listen(one) {
  const { svg, scales, size } = one;
  let begun = null,
    waiting = false;
  const inside = (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * (size.width / box.width);
    const y = (event.clientY - box.top) * (size.height / box.height);
    return [
      Math.max(size.left, Math.min(size.width - size.right, x)),
      Math.max(size.top, Math.min(size.height - size.bottom, y)),
    ];
  };
  const rangeTo = ([x, y]) => {
    const sorted = (a, b) => (a < b ? [a, b] : [b, a]);
    return [
      ...sorted(scales.x.at(begun[0]), scales.x.at(x)),
      ...sorted(scales.y.at(begun[1]), scales.y.at(y)),
    ]
      .map((number) => Number(number.toPrecision(6)))
      .join(",");
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
  let best = null,
    least = NEAR;
  for (const [row, [cx, cy]] of at) {
    const distance = Math.hypot(cx - x, cy - y);
    if (distance < least) [best, least] = [row, distance];
  }
  return best;
}

// The settings and values of a network, beside its point.
function hover(row, one = null) {
  activeRow = row;
  activePanel = row === null ? null : panels.indexOf(one);
  const box = document.getElementById("hover");
  for (const { dots } of panels)
    for (const [other, dot] of dots) dot.classList.toggle("active", other === row);
  box.hidden = row === null;
  if (row === null) return;
  const shown = [state.x, state.y, state.colour].filter((name) => VARIABLES.has(name));
  const settings = DATA.variables.filter(
    (variable) => variable.kind === "setting" && Number.isFinite(variable.numbers[row]),
  );
  const line = (variable) =>
    element(
      "div",
      {},
      element("span", {}, variable.words),
      element("b", {}, withError(variable, row)),
    );
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
  const ordered = ({ at }) => [...at.keys()].sort((a, b) => at.get(a)[by] - at.get(b)[by]);
  const one = panels[activePanel] ?? panels.find(({ rows }) => rows.length);
  if (!one) return;
  const order = ordered(one);
  const place = order.indexOf(activeRow);
  const next = place < 0 ? 0 : place + step;
  if (order[next] !== undefined) return hover(order[next], one);
  const other = panels[panels.indexOf(one) + step];
  if (other) hover(ordered(other).at(step > 0 ? 0 : -1), other);
}
