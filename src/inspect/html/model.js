// What the report is about, as the page uses it: the data, which instruction is selected, who wants to know.

const data = JSON.parse(document.getElementById("data").textContent);
const standings = ["diverges", "explained", "downstream", "unknown", "folded", "observed"];
const byId = (id) => document.getElementById(id);

const state = {selected: null, only: new Set(), search: "", listeners: []};

// The inspected instruction at a place of the module; undefined: it was not looked at (a reducer's, a parameter).
const inspectedAt = new Map(data.inspected.map((item, n) => [item.computation + ":" + item.instruction, n]));
const numberAt = (computation, instruction) => inspectedAt.get(computation + ":" + instruction);
const instructionOf = (item) => data.computations[item.computation].instructions[item.instruction];

// Which instruction calls a computation, as [computation, instruction]; undefined: the entry.
const callers = [];
data.computations.forEach((computation, c) =>
  computation.instructions.forEach((instruction, i) => instruction.called.forEach((callee) => (callers[callee] = [c, i]))));

function onSelect(listener) { state.listeners.push(listener); }

// `place` is {computation, instruction}.
function select(place) {
  state.selected = place;
  for (const listener of state.listeners) listener(place);
}

const isSelected = (computation, instruction) =>
  state.selected && state.selected.computation === computation && state.selected.instruction === instruction;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function number(value) {
  if (typeof value === "string") return value;  // infinities and NaN come as text
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const magnitude = Math.abs(value);
  return magnitude >= 1e-4 && magnitude < 1e7 ? String(Number(value.toPrecision(8))) : value.toExponential(5);
}

const percent = (part, whole) => (whole === 0 ? "-" : (100 * part / whole).toFixed(part === 0 || part === whole ? 0 : 2) + "%");
