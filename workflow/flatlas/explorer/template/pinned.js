// The pinned network, beside every view: its settings, its values, how to make it again, how it learnt.

const CURVES = {
  train_loss: "training loss",
  test_loss: "test loss",
  train_error: "training error",
  test_error: "test error",
};

function showPinned() {
  const place = document.getElementById("pinned");
  const row = pinnedRow();
  place.hidden = row === null;
  document.getElementById("selection").hidden = state.view !== "networks";
  document.body.classList.toggle("has-side", row !== null || state.view === "networks");
  if (row === null) return place.replaceChildren();
  const close = element("button", { type: "button", id: "unpin" }, "Unpin");
  close.addEventListener("click", () => change({ pin: "" }));
  const folder = DATA.folders[DATA.run[row]] ?? "runs";
  const command = DATA.again.replace(
    "{file}",
    `results/${folder}/${DATA.run[row]}/weights.safetensors`,
  );
  place.replaceChildren(
    element("h2", {}, "Pinned network", close),
    element("p", { class: "id" }, DATA.run[row]),
    element(
      "p",
      {},
      `Seed ${DATA.seed[row]}, measured ${momentText(DATA.at[row])}.`,
    ),
    element("p", {}, "To train it again, with all its seeds:"),
    element("pre", { tabindex: "0" }, command),
    ...learningCurve(row),
    ...["outcome", "setting", "measure"].map((kind) => values(kind, row)),
  );
}

// A training without a stopping rule has moments with the names of its study.
function momentText(at) {
  const [rule, later] = at.split("+");
  if (rule !== "met") return `at its moment “${at}”`;
  return `${later ? `${later} epochs after` : "when"} its stopping rule was met`;
}

function values(kind, row) {
  const shown = DATA.variables.filter(
    (variable) => variable.kind === kind && variable.values[row] !== null,
  );
  return element(
    "details",
    { open: kind !== "measure" },
    element("summary", {}, `${kind[0].toUpperCase()}${kind.slice(1)}s`),
    element(
      "table",
      {},
      ...shown.map((variable) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, label(variable)),
          element("td", { class: "number" }, withError(variable, row)),
        ),
      ),
    ),
  );
}

// Loss and error over the epochs, on logarithmic and linear scales.
function learningCurve(row) {
  const curves = DATA.curves[`${DATA.run[row]} ${DATA.seed[row]}`];
  if (!curves) return [];
  return [
    ["train_loss", "test_loss"],
    ["train_error", "test_error"],
  ]
    .map((names) => names.filter((name) => curves[name]))
    .filter((names) => names.length)
    .map((names) => curvePicture(curves, names));
}

function curvePicture(curves, names) {
  const [width, height, left, bottom] = [320, 130, 52, 30];
  const all = names.flatMap((name) => curves[name]);
  const isLog = names[0].endsWith("loss") && spreads(all);
  const x = scale({}, curves.epoch, false, left, width - 8);
  const y = scale({}, all, isLog, height - bottom, 18);
  const svg = drawn("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "curves",
    role: "img",
    "aria-label": `Learning curve: ${names.map((name) => CURVES[name]).join(", ")}`,
  });
  for (const [number, text] of y.ticks) {
    svg.append(
      drawn("line", {
        class: "grid",
        x1: left,
        x2: width - 8,
        y1: y.place(number),
        y2: y.place(number),
      }),
    );
    svg.append(drawn("text", { x: left - 5, y: y.place(number) + 4, "text-anchor": "end" }, text));
  }
  for (const [number, text] of x.ticks)
    svg.append(
      drawn("text", { x: x.place(number), y: height - bottom + 15, "text-anchor": "middle" }, text),
    );
  svg.append(
    drawn(
      "text",
      { class: "axis", x: (left + width) / 2, y: height - 3, "text-anchor": "middle" },
      "epoch",
    ),
  );
  names.forEach((name, k) => {
    // A loss that is not finite is null.
    const known = [...curves.epoch.keys()].filter((place) => curves[name][place] !== null);
    if (!known.length) return;
    const points = known.map((place) => [
      x.place(curves.epoch[place]),
      y.place(curves[name][place]),
    ]);
    svg.append(
      drawn("path", {
        class: "curve",
        d: `M${points.map((point) => point.map((pixel) => pixel.toFixed(1)).join(" ")).join("L")}`,
        style: `color: var(--hue-${k})`,
      }),
    );
    svg.append(
      drawn(
        "text",
        { class: "name", x: left + 110 * k, y: 12, style: `fill: var(--hue-${k})` },
        CURVES[name],
      ),
    );
  });
  return svg;
}
