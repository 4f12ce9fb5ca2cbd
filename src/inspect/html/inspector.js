// What is known about the selected instruction.

let redrawTensor = () => {};

function link(computation, instruction) {
  return element("a", {class: "instruction", tabindex: 0, onclick: () => select({computation, instruction})},
    data.computations[computation].instructions[instruction].name);
}

const joined = (parts) => parts.flatMap((part, k) => (k ? [", ", part] : [part]));

function summaryTable(item) {
  const row = (name, values) => element("tr", {}, element("td", {}, name), ...values.map((value) => element("td", {}, number(typeof value === "number" ? Number(value.toPrecision(6)) : value))));
  const head = element("tr", {}, ...["", "min", "max", "mean", "std. dev."].map((name) => element("th", {}, name)));
  return element("table", {}, head, row("expected", item.expected), ...(item.seen ? [row("got", item.got)] : []));
}

function worstText(item) {
  const worst = item.worst;
  const from = data.code[worst.line];
  return [
    element("h2", {}, "Worst element"),
    element("div", {class: "mono"}, `[${worst.index}]: got ${number(worst.got)}, expected ${number(worst.expected)}`),
    ...(worst.reg ? [element("div", {}, `register ${worst.reg}, lane ${worst.lane}, execution ${worst.execution} of`)] : []),
    ...(worst.reg && from ? [element("pre", {}, element("a", {class: "instruction", id: "to-code", tabindex: 0, onclick: () => showCode(worst.line)}, `${worst.line + 1}`), "  ", from.text)] : []),
  ];
}

const placedBy = (probe) => (probe.byValue === 0 ? "address" : probe.byValue === probe.elements ? "value" : "both");

function showInspector(place) {
  const computation = data.computations[place.computation];
  const instruction = computation.instructions[place.instruction];
  const item = data.inspected[numberAt(place.computation, place.instruction)];
  const users = [];
  computation.instructions.forEach((user, i) => user.operands.includes(place.instruction) && users.push(i));
  const parts = [
    element("h1", {}, instruction.name),
    element("pre", {}, instruction.text),
    ...(instruction.operands.length ? [element("div", {}, "takes ", ...joined(instruction.operands.map((i) => link(place.computation, i))))] : []),
    ...(users.length ? [element("div", {}, "used by ", ...joined(users.slice(0, 20).map((i) => link(place.computation, i))), users.length > 20 ? ` and ${users.length - 20} more` : "")] : []),
  ];
  redrawTensor = () => {};
  if (!item) {
    parts.push(element("p", {}, "Nothing was looked for here."));
  } else {
    parts.push(element("p", {}, element("span", {class: `standing ${item.standing}`}, item.standing), item.liberty !== "none" ? ` (${item.liberty})` : "", item.why ? `: ${item.why}` : ""));
    parts.push(element("div", {}, `${item.seen} of ${item.elements} elements seen, ${item.differing} of them differ`,
      item.differing ? `: by up to ${number(item.maxAbsolute)}, relative ${number(item.maxRelative)}, in [${item.boxLow.map((low, d) => (low === item.boxHigh[d] ? low : `${low}..${item.boxHigh[d]}`))}]` : ""));
    parts.push(summaryTable(item));
    if (item.worst) parts.push(...worstText(item));
    if (item.tensor) {
      const view = tensorView(item.tensor);
      parts.push(...view.parts);
      redrawTensor = view.draw;
    }
    if (item.probes.length) {
      parts.push(element("h2", {}, "Seen at"));
      parts.push(element("table", {}, element("tr", {}, ...["line", "register", "ran", "elements", "placed by"].map((name) => element("th", {}, name))),
        ...item.probes.slice(0, 40).map((probe) => element("tr", {}, element("td", {}, element("a", {class: "instruction", tabindex: 0, onclick: () => showCode(probe.line)}, String(probe.line + 1))),
          ...[probe.reg, probe.executions, probe.elements, placedBy(probe)].map((value) => element("td", {}, String(value)))))));
      if (item.probes.length > 40) parts.push(element("div", {}, `and ${item.probes.length - 40} more places`));
    }
  }
  byId("inspector").replaceChildren(...parts);
  byId("inspector").scrollTop = 0;
}
onSelect(showInspector);
