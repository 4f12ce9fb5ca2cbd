// The list of what was inspected: in the order of execution, searched, narrowed to some standings.

let listed = [];  // numbers of inspected instructions

const list = virtualRows(byId("list"), (n) => {
  const item = data.inspected[listed[n]];
  const instruction = instructionOf(item);
  const row = element("div", {
    class: "row " + item.standing + (isSelected(item.computation, item.instruction) ? " selected" : ""),
    role: "option",
    "data-name": instruction.name,
    title: `${instruction.name}: ${item.standing}${item.why ? ": " + item.why : ""}`,
    onclick: () => select(item),
  });
  row.append(element("span", {class: "dot"}), instruction.name, element("span", {class: "faint"}, `  ${instruction.opcode} ${instruction.shape}`));
  return row;
});

function fillList() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  listed = [];
  data.inspected.forEach((item, n) => {
    if (state.only.size && !state.only.has(item.standing)) return;
    const instruction = instructionOf(item);
    const text = `${instruction.name} ${instruction.opcode} ${instruction.shape} ${item.standing} ${item.liberty}`.toLowerCase();
    if (words.every((word) => text.includes(word))) listed.push(n);
  });
  list.resize(listed.length);
}

// The listed instruction `by` places after the selected one.
function step(by) {
  if (!listed.length) return;
  const selected = state.selected && numberAt(state.selected.computation, state.selected.instruction);
  const at = listed.indexOf(selected);
  select(data.inspected[listed[at < 0 ? 0 : Math.min(listed.length - 1, Math.max(0, at + by))]]);
}

function stepToDivergence(by) {
  const selected = state.selected ? numberAt(state.selected.computation, state.selected.instruction) : undefined;
  const count = data.inspected.length;
  for (let k = 1; k <= count; ++k) {
    const n = ((selected ?? (by > 0 ? -1 : count)) + by * k + count * 2) % count;
    if (data.inspected[n].standing === "diverges" || data.inspected[n].standing === "explained") return select(data.inspected[n]);
  }
}

onSelect((place) => {
  const at = listed.indexOf(numberAt(place.computation, place.instruction));
  if (at >= 0) list.show(at);
  else list.draw();
});

byId("search").addEventListener("input", (event) => {
  state.search = event.target.value;
  fillList();
});

function fillChips() {
  for (const standing of standings) {
    const count = data.inspected.filter((item) => item.standing === standing).length;
    if (count === 0) continue;
    const chip = element("button", {class: `chip ${standing}`, "aria-pressed": "false", "data-standing": standing, title: `Show only what ${standing === "diverges" ? "diverges" : "is " + standing}`},
      element("span", {class: "dot"}), `${count} ${standing}`);
    chip.addEventListener("click", () => {
      if (!state.only.delete(standing)) state.only.add(standing);
      chip.setAttribute("aria-pressed", state.only.has(standing));
      fillList();
    });
    byId("chips").append(chip);
  }
}
