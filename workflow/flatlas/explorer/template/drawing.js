// Elements, numbers in words, scales, and the small strips of intervals.

const SVG = "http://www.w3.org/2000/svg";
// The digits of a number that is not rounded.
const ALL_DIGITS = 12;
const NONE = "none";

function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A text of numbers, or nothing.
function minus(text) {
  return String(text ?? "").replaceAll("-", "−");
}

function short(number, digits = 3) {
  if (number === null || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  const text =
    size !== 0 && (size < 1e-4 || size >= 1e5)
      ? number
          .toExponential(digits - 1)
          .replace(/\.?0+e/, "e")
          .replace("e+", "e")
      : String(Number(number.toPrecision(digits)));
  return minus(text);
}

function coefficientText(number) {
  if (!Number.isFinite(number)) return "–";
  return minus(number.toFixed(2).replace("-0.00", "0.00"));
}

function intervalText([low, high]) {
  return Number.isFinite(low) ? `[${coefficientText(low)}, ${coefficientText(high)}]` : "";
}

// Settings are exact: a width of 1024 is not 1020.
function textOf(variable, number) {
  if (variable.categories) return variable.categories[number] ?? "–";
  return short(number, variable.kind === "setting" ? ALL_DIGITS : undefined);
}

function valueText(variable, row) {
  const name = variable.names?.[row];
  return (name ? `${name}, ` : "") + textOf(variable, variable.numbers[row]);
}

// What a network has instead of a number: the name of its setting (of a batch, `full`), or none.
function nameInstead(variable, row) {
  return variable.names?.[row] ?? (Number.isFinite(variable.numbers[row]) ? null : NONE);
}

function label(variable) {
  return variable.words + (variable.tested ? " †" : "") + (variable.baseline ? " ‡" : "");
}

// In pixels.
const LETTER = 7;
// The most letters of a name below an axis.
const LONGEST = 24;

// As much of a text as fits beside a panel.
function clipped(text, pixels) {
  const most = Math.floor(pixels / LETTER);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

// Whether a logarithmic scale spreads the values: all positive, over more than a factor of 30.
function spreads(numbers) {
  const known = numbers.filter(Number.isFinite);
  const least = Math.min(...known);
  return least > 0 && Math.max(...known) / least > 30;
}

// From numbers to pixels and back, with ticks.
function scale(variable, numbers, isLog, from, to) {
  const known = numbers.filter((number) => Number.isFinite(number) && (!isLog || number > 0));
  // A range may begin at 0 or below.
  const map = (number) => (isLog ? Math.log10(Math.max(number, Number.MIN_VALUE)) : number);
  let low = map(Math.min(...known)),
    high = map(Math.max(...known));
  if (!known.length) [low, high] = [0, 1];
  // Next to a large number, 0.5 is lost.
  const room = (high - low) * 0.05 || Math.max(0.5, 1e-9 * Math.abs(high));
  [low, high] = [low - room, high + room];
  const place = (number) => from + ((map(number) - low) / (high - low)) * (to - from);
  const at = (pixel) => {
    const mapped = low + ((pixel - from) / (to - from)) * (high - low);
    return isLog ? 10 ** mapped : mapped;
  };
  const ticks = variable.categories
    ? variable.categories.map((text, number) => [number, clipped(text, LONGEST * LETTER)])
    : (isLog ? logTicks : linearTicks)(low, high, Math.abs(to - from) / (from < to ? 60 : 45)).map(
        (n) => [n, short(n, ALL_DIGITS)],
      );
  return { place, at, ticks };
}

function linearTicks(low, high, most) {
  const rough = (high - low) / Math.max(most, 2);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) =>
    Number(((first + k) * step).toPrecision(12)),
  );
}

function logTicks(low, high, most) {
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const factor of factors) {
        const tick = Number(`${factor}e${power}`);
        if (Math.log10(tick) >= low && Math.log10(tick) <= high) ticks.push(tick);
      }
    }
    if (ticks.length >= 2 && (ticks.length <= most || factors.length === 1)) {
      return ticks.filter((_, k) => k % Math.ceil(ticks.length / Math.max(most, 2)) === 0);
    }
  }
  return linearTicks(10 ** low, 10 ** high, most);
}

// A value and its interval, above a shaded range. All in numbers from `low` to `high`.
function strip({ value, interval, range, paper, low, high, width = 160 }) {
  const x = (number) => Math.max(0, Math.min(width, ((number - low) / (high - low || 1)) * width));
  const made = drawn("svg", {
    class: "strip",
    viewBox: `0 0 ${width} 16`,
    width,
    height: 16,
    "aria-hidden": "true",
  });
  made.append(drawn("line", { class: "track", x1: 0, x2: width, y1: 8, y2: 8 }));
  if (range) {
    const [from, to] = range.map(x);
    made.append(
      drawn("rect", { class: "holds", x: from, width: Math.max(to - from, 1), y: 0, height: 16 }),
    );
  }
  if (low < 0 && high > 0)
    made.append(drawn("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 16 }));
  if (Number.isFinite(interval?.[0])) {
    made.append(
      drawn("line", { class: "interval", x1: x(interval[0]), x2: x(interval[1]), y1: 8, y2: 8 }),
    );
  }
  if (Number.isFinite(paper)) {
    const at = x(paper);
    made.append(drawn("path", { class: "paper", d: `M${at} 2l5 6l-5 6l-5 -6z` }));
  }
  if (Number.isFinite(value))
    made.append(drawn("circle", { class: "value", cx: x(value), cy: 8, r: 4 }));
  return made;
}

function fillSelect(key, options) {
  for (const select of document.querySelectorAll(`select[data-key="${key}"]`)) {
    select.replaceChildren(
      ...options.map((option) => {
        if (!option.options) return element("option", { value: option.value }, option.text);
        const made = option.options.map((one) => element("option", { value: one.value }, one.text));
        return element("optgroup", { label: option.text }, ...made);
      }),
    );
  }
}
