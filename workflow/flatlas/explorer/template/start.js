// The controls, and the first view.

const VIEWS = { ranking: showRanking, networks: showNetworks, claims: showClaims };

function show() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.view === state.view;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.dataset.view).hidden = !chosen;
  }
  for (const control of document.querySelectorAll("[data-key]")) {
    const value = state[control.dataset.key];
    if (control.type === "checkbox") control.checked = value === "1";
    else if (control.value !== value) control.value = value;
  }
  showPinned();
  const [row, place] = [activeRow, activePanel];
  hover(null);
  VIEWS[state.view]();
  // The arrows go on from the network that was pinned.
  if (state.view === "networks" && panels[place]?.at.has(row)) hover(row, panels[place]);
}

function fillSelects() {
  const option = (variable) => ({ value: variable.name, text: label(variable) });
  const kinds = [
    ["measures", "measure"],
    ["outcomes", "outcome"],
    ["settings", "setting"],
  ].map(([text, kind]) => ({
    text,
    options: DATA.variables.filter((variable) => variable.kind === kind).map(option),
  }));
  const none = (text) => ({ value: "", text });
  const all = (values) => [
    none("all"),
    ...[...new Set(values)]
      .filter((value) => value !== null)
      .sort((a, b) => (a > b) - (a < b))
      .map((value) => ({ value: String(value), text: String(value) })),
  ];
  fillSelect("x", kinds);
  fillSelect("y", kinds);
  fillSelect("outcome", OUTCOMES.filter(({ name }) => name !== "epochs").map(option));
  fillSelect("colour", [none("nothing"), ...kinds]);
  fillSelect("panels", [none("nothing"), { value: "axis", text: "axis" }, ...kinds]);
  fillSelect("axis", [
    none("all axes"),
    ...DATA.axes.map((axis) => ({ value: axis.name, text: axis.words })),
  ]);
  fillSelect("study", all(DATA.study));
  fillSelect("seed", all(DATA.seed));
  fillSelect("optimizer", all(VARIABLES.get(OPTIMIZER)?.values ?? []));
  fillSelect("of", all(DATA.claims.map((claim) => claim.study)));
  fillSelect("verdict", [
    none("all"),
    ...VERDICTS.map((value) => ({
      value,
      text: [`${DATA.signs[value]} ${value}`, DATA.answers[value]].filter(Boolean).join(", "),
    })),
  ]);
  fillSelect("whose", [
    none("all"),
    { value: "paper", text: "the papers" },
    { value: OWN, text: "ours" },
  ]);
}

function listenToControls() {
  for (const form of document.querySelectorAll("form"))
    form.addEventListener("submit", (event) => event.preventDefault());
  for (const control of document.querySelectorAll("[data-key]")) {
    const key = control.dataset.key;
    control.addEventListener("input", () =>
      change({
        [key]:
          control.type !== "checkbox"
            ? control.value
            : control.checked
              ? "1"
              : isScale(key)
                ? "0"
                : "",
        // Another variable has another scale and another range.
        ...(key === "x" || key === "y" ? { [`${key}log`]: "", range: "" } : {}),
      }),
    );
  }
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, place) => {
    tab.addEventListener("click", () => change({ view: tab.dataset.view }));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = tabs[(place + step + tabs.length) % tabs.length];
      change({ view: next.dataset.view });
      next.focus();
    });
  });
  document.getElementById("all-axes").addEventListener("click", () => change({ ranked: "" }));
  document.getElementById("clear").addEventListener("click", () => change({ range: "" }));
  document.getElementById("plot").addEventListener("keydown", walk);
  document.getElementById("plot").addEventListener("blur", () => hover(null));
  const ends = [...document.querySelectorAll("#range input")];
  for (const input of ends) {
    input.addEventListener("change", () => {
      // An end that is not given is that of the plot. The other ends stay: the inputs round them.
      const [x, y] = [state.x, state.y].map((name) => VARIABLES.get(name).distinct);
      const whole = [x[0], x.at(-1), y[0], y.at(-1)];
      const range = selectedRange() ?? whole;
      const changed = ends.indexOf(input);
      range[changed] = input.value === "" ? whole[changed] : Number(input.value);
      change({ range: range.join(",") });
    });
  }
}

fillSelects();
listenToControls();
readAddress();
show();
addEventListener("hashchange", () => (readAddress(), show()));
addEventListener("resize", () => state.view !== "claims" && VIEWS[state.view]());
