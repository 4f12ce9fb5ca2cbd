// The frame around it all: what was run, what came of it, tabs, keys, theme, and what goes to a printer.

function showTab(name) {
  for (const tab of ["graph", "code", "both"]) byId(`tab-${tab}`).setAttribute("aria-selected", tab === name);
  for (const pane of ["graph", "code"]) byId(pane).toggleAttribute("hidden", name !== pane && name !== "both");
  byId("graph-tools").hidden = name === "code";
  drawGraph();
  code.draw();
}

function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  redrawTensor();
}

function showVerdict() {
  const box = byId("verdict");
  box.className = data.first === null ? "right" : "wrong";
  const parts = [];
  if (data.first === null) {
    parts.push(element("b", {}, "Nothing diverges."), ` ${data.inspected.length} instructions were looked at. `);
  } else {
    const item = data.inspected[data.first];
    parts.push(element("b", {}, "First divergence: "), link(item.computation, item.instruction), item.why ? `: ${item.why}. ` : ". ");
    if (item.worst) parts.push(`At [${item.worst.index}] ${number(item.worst.got)}, expected ${number(item.worst.expected)}. `);
  }
  const liberties = data.inspected.filter((item) => item.standing === "explained");
  if (liberties.length) parts.push("Liberties taken: ", ...joined(liberties.slice(0, 8).map((item) => element("span", {}, link(item.computation, item.instruction), ` (${item.liberty === "none" ? "within its bounds" : item.liberty})`))), liberties.length > 8 ? ` and ${liberties.length - 8} more. ` : ". ");
  parts.push(`Output: ${data.outputDiffering} of ${data.outputElements} elements are not the reference's.`);
  for (const note of data.notes) parts.push(element("div", {}, note));
  if (data.command) {
    const copy = element("button", {onclick: () => navigator.clipboard?.writeText(data.command)}, "copy");
    parts.push(element("div", {class: "command"}, element("code", {}, data.command), copy));
  }
  box.replaceChildren(...parts);
}

function fillPrinted() {
  const rows = data.inspected.filter((item) => item.standing !== "observed" && item.standing !== "folded").slice(0, 400);
  const head = ["instruction", "standing", "why", "differing", "worst at", "got", "expected"];
  byId("printed").append(
    element("p", {}, `${data.inspected.length} instructions: ${standings.map((standing) => `${data.inspected.filter((item) => item.standing === standing).length} ${standing}`).join(", ")}.`),
    element("table", {}, element("tr", {}, ...head.map((name) => element("th", {}, name))),
      ...rows.map((item) => element("tr", {}, ...[instructionOf(item).name, item.standing + (item.liberty !== "none" ? ` (${item.liberty})` : ""), item.why,
        `${item.differing} of ${item.seen}`, item.worst ? `[${item.worst.index}]` : "", item.worst ? number(item.worst.got) : "", item.worst ? number(item.worst.expected) : ""]
        .map((text) => element("td", {}, text))))));
}

const keys = {
  j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
  d: () => stepToDivergence(1), D: () => stepToDivergence(-1),
  Enter: () => state.selected && toggle(state.selected.computation, state.selected.instruction),
  g: () => showTab("graph"), c: () => showTab("code"), b: () => showTab("both"), f: fitGraph,
  "/": () => byId("search").focus(), t: () => setTheme(!document.documentElement.classList.contains("dark")),
  "?": () => byId("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape" || event.key === "Enter") event.target.blur();
    return;
  }
  if (event.target.matches("button, a") && event.key === "Enter") {
    if (event.target.matches("a")) event.target.click();
    return;
  }
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

document.title = `${data.kernel} on ${data.target}`;
byId("title").textContent = `${data.kernel} on ${data.target}`;
byId("facts").textContent = `${data.stage}, ${data.inputsKind ? data.inputsKind + " inputs, " : ""}seed ${data.seed}, ${data.steps} steps in ${data.seconds.toFixed(2)} s`;
byId("tab-graph").addEventListener("click", () => showTab("graph"));
byId("tab-code").addEventListener("click", () => showTab("code"));
byId("tab-both").addEventListener("click", () => showTab("both"));
byId("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
byId("help-button").addEventListener("click", () => byId("help").showModal());
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
fillChips();
fillList();
code.resize(data.code.length);
showVerdict();
fillPrinted();
for (let at = callers[data.inspected[0]?.computation ?? data.entry]; at; at = callers[at[0]]) opened.add(at.join(":"));
relayout();
showTab("graph");
fitGraph();
watchGraph();
const start = data.first ?? data.inspected.findIndex((item) => item.standing === "explained");
if (data.inspected.length) select(data.inspected[Math.max(0, start)]);
