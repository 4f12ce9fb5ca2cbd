// The machine code beside the HLO: the lines that make the selected instruction's value are marked, the guilty one is red.

const guilty = data.first !== null && data.inspected[data.first].worst?.reg ? data.inspected[data.first].worst.line : -1;
let probed = new Set();

const code = virtualRows(byId("code"), (n) => {
  const line = data.code[n];
  const row = element("div", {class: "row" + (n === guilty ? " guilty" : probed.has(n) ? " probe" : ""), "data-line": n});
  row.append(element("span", {class: "faint"}, `${String(n + 1).padStart(6)} ${line.address.padStart(6)}  `), line.text,
    element("span", {class: "faint"}, line.hlo ? `    ; ${line.hlo}` : ""));
  return row;
});

function showCode(n) {
  if (byId("code").hidden) showTab("code");
  code.show(n);
}

onSelect((place) => {
  const item = data.inspected[numberAt(place.computation, place.instruction)];
  probed = new Set(item ? item.probes.map((probe) => probe.line) : []);
  if (probed.size) code.show(item.worst?.reg ? item.worst.line : Math.min(...probed));
  else code.draw();
});
