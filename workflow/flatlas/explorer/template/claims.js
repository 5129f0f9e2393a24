// All claims of all studies, with what the paper says, what came out, and where the claim holds.

const VERDICTS = Object.keys(DATA.signs);
const OWN = "flatlas";
const NOT_RUN = "not run";

// A verdict on a paper's claim, or the answer to a question of ours.
function inWords(verdict, whose) {
  return (whose === OWN && DATA.answers[verdict]) || verdict;
}

// Text with the papers' subscripts, which Python has made HTML.
function symbols(html) {
  const template = element("template");
  template.innerHTML = html ?? "";
  return template.content;
}

function claimRow(claim) {
  const figure = `${claim.study} ${claim.figure}`;
  const link = claim.picture
    ? element("a", { href: claim.picture, title: `Open the figure ${figure}` }, figure)
    : element("span", {}, figure);
  const row = element(
    "tr",
    { "data-claim": claim.claim },
    element("td", { "data-head": "figure" }, link),
    element(
      "td",
      {},
      claim.whose === OWN ? element("span", { class: "ours" }, "our question") : null,
      symbols(claim.says),
      element("div", { class: "quantity" }, symbols(claim.quantity)),
    ),
    element("td", { class: "number", "data-head": "paper" }, minus(claim.paper)),
    element(
      "td",
      { class: "number", "data-head": "here" },
      claim.value === null ? "–" : element("b", {}, short(claim.value)),
      claim.low === null || claim.high === null
        ? ""
        : ` [${short(claim.low)}, ${short(claim.high)}]`,
    ),
    element(
      "td",
      {},
      claim.value === null ? "" : forest(claim),
      element("div", { class: "quantity" }, minus(claim.criterion)),
    ),
    element(
      "td",
      { class: "verdict" },
      element(
        "span",
        { class: (claim.verdict ?? "").replaceAll(" ", "-") },
        `${DATA.signs[claim.verdict] ?? ""} ${inWords(claim.verdict, claim.whose)}`,
      ),
      element("div", { class: "quantity" }, claim.note ?? ""),
    ),
  );
  if (claim.picture) {
    row.classList.add("opens");
    // Selecting text is not a click.
    row.addEventListener("click", (event) => {
      if (!event.target.closest("a") && getSelection().isCollapsed) link.click();
    });
  }
  return row;
}

// On a separate scale: the value, the interval, the paper's number and the ends of the criterion.
function forest(claim) {
  const paper =
    claim.paper === null || claim.paper === ""
      ? NaN
      : Number(String(claim.paper).replaceAll("−", "-"));
  const ends = [claim.holds_from, claim.holds_to];
  const known = [claim.value, claim.low, claim.high, paper, ...ends].filter(
    (number) => number !== null && Number.isFinite(number),
  );
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const room = (most - least) * 0.1 || Math.abs(least) * 0.1 || 1;
  const range = ends.some((end) => end !== null)
    ? [ends[0] ?? -Infinity, ends[1] ?? Infinity]
    : null;
  return strip({
    value: claim.value,
    interval: claim.low === null || claim.high === null ? null : [claim.low, claim.high],
    range,
    paper,
    low: least - room,
    high: most + room,
  });
}

let claimRows = null;

function showClaims() {
  const table = document.getElementById("claimed");
  if (!claimRows) {
    claimRows = DATA.claims.map((claim) => {
      const row = claimRow(claim);
      return { claim, row, text: `${claim.claim} ${row.textContent}`.toLowerCase() };
    });
    table.tBodies[0].replaceChildren(...claimRows.map(({ row }) => row));
  }
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = claimRows.filter(({ claim, row, text }) => {
    const fits =
      words.every((word) => text.includes(word)) &&
      (!state.of || claim.study === state.of) &&
      (!state.verdict || claim.verdict === state.verdict) &&
      (!state.whose || claim.whose === state.whose);
    row.hidden = !fits;
    return fits;
  });
  const isRun = ({ claim }) => claim.verdict !== NOT_RUN;
  const claims = shown.filter(isRun).map(({ claim }) => claim);
  const [own, papers] = [true, false].map((isOwn) =>
    claims.filter(({ whose }) => (whose === OWN) === isOwn),
  );
  const counts = [...countedVerdicts(papers, "paper"), ...countedVerdicts(own, OWN)];
  document
    .getElementById("found")
    .replaceChildren(
      `${claims.length} of ${claimRows.filter(isRun).length} claims${counts.length ? ": " : ""}`,
      ...counts,
      ...countedMissing(shown.length - claims.length),
    );
}

// A figure that is not run has one row in place of its claims.
function countedMissing(count) {
  if (!count) return [];
  const figures = count === 1 ? "figure" : "figures";
  return [
    " ",
    element("span", { class: "not-run" }, `${DATA.signs[NOT_RUN]} ${count} ${figures} ${NOT_RUN}`),
  ];
}

// How many claims have each verdict; after "ours:" if they are our questions.
function countedVerdicts(claims, whose) {
  const counts = VERDICTS.map((verdict) => [
    verdict,
    claims.filter((claim) => claim.verdict === verdict).length,
  ]).filter(([, count]) => count);
  const parts = counts.map(([verdict, count]) =>
    element(
      "span",
      { class: verdict.replaceAll(" ", "-") },
      `${DATA.signs[verdict]} ${count} ${inWords(verdict, whose)} `,
    ),
  );
  return parts.length && whose === OWN ? ["ours: ", ...parts] : parts;
}
