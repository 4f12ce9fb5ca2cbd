// The module's graph: a computation is drawn in layers, operands above their users; a fusion opens in its place into the
// graph of what it calls. Only what can be seen is in the page.

const nodeHeight = 26, layerGap = 30, nodeGap = 14, rowOfNodes = 40;
const opened = new Set();  // "computation:instruction"
const view = {x: 0, y: 0, scale: 1};
let drawn = null;  // the layout of the entry

const nodeText = (instruction) => `${instruction.name}  ${instruction.shape}`;
const isOpen = (c, i) => opened.has(`${c}:${i}`);

// Layers: parameters and constants right above their first user, others below all of their operands.
function layersOf(instructions) {
  const layer = instructions.map(() => 0);
  instructions.forEach((instruction, i) => {
    for (const operand of instruction.operands) layer[i] = Math.max(layer[i], layer[operand] + 1);
  });
  const firstUser = instructions.map(() => Infinity);
  instructions.forEach((instruction, i) => instruction.operands.forEach((operand) => (firstUser[operand] = Math.min(firstUser[operand], layer[i]))));
  instructions.forEach((instruction, i) => {
    if (!instruction.operands.length && firstUser[i] < Infinity) layer[i] = firstUser[i] - 1;
  });
  const layers = [];
  layer.forEach((number, i) => (layers[number] ??= []).push(i));
  return layers.filter(Boolean);
}

// Orders each layer by where its neighbours are, down and up.
function untangle(layers, instructions) {
  const place = instructions.map(() => 0);
  const users = instructions.map(() => []);
  instructions.forEach((instruction, i) => instruction.operands.forEach((operand) => users[operand].push(i)));
  const settle = (layer) => layer.forEach((i, k) => (place[i] = k / layer.length));
  layers.forEach(settle);
  const mean = (numbers, own) => (numbers.length ? numbers.reduce((sum, i) => sum + place[i], 0) / numbers.length : own);
  const sweep = (layer, neighbours) => {
    const wanted = new Map(layer.map((i) => [i, mean(neighbours(i), place[i])]));
    layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
    settle(layer);
  };
  for (let round = 0; round < 2; ++round) {
    layers.forEach((layer) => sweep(layer, (i) => instructions[i].operands));
    [...layers].reverse().forEach((layer) => sweep(layer, (i) => users[i]));
  }
}

// {width, height, nodes: [{i, x, y, width, height, inner}]}, positions within the computation.
function layout(c) {
  const instructions = data.computations[c].instructions;
  const layers = layersOf(instructions);
  untangle(layers, instructions);
  const nodes = [];
  const rows = [];
  let y = 0, width = 0;
  for (const layer of layers) {
    for (let start = 0; start < layer.length; start += rowOfNodes) {
      let x = 0, height = nodeHeight;
      const row = layer.slice(start, start + rowOfNodes).map((i) => {
        const instruction = instructions[i];
        const inner = isOpen(c, i) && instruction.called.length ? layout(instruction.called[0]) : null;
        const node = {
          i, x, y, inner,
          width: Math.max(Math.min(260, nodeText(instruction).length * 7.3 + 16), inner ? inner.width + 24 : 0),
          height: inner ? inner.height + nodeHeight + 24 : nodeHeight,
        };
        x += node.width + nodeGap;
        height = Math.max(height, node.height);
        return node;
      });
      rows.push({row, width: x - nodeGap});
      nodes.push(...row);
      width = Math.max(width, x - nodeGap);
      y += height + layerGap;
    }
  }
  for (const {row, width: used} of rows) for (const node of row) node.x += (width - used) / 2;
  return {c, width, height: y - layerGap, nodes, at: new Map(nodes.map((node) => [node.i, node]))};
}

// Calls visit(computation, node, x, y) for every node, places in the whole drawing, outer ones first.
function visitNodes(drawing, visit, x = 0, y = 0) {
  for (const node of drawing.nodes) {
    visit(drawing.c, node, x + node.x, y + node.y);
    if (node.inner) visitNodes(node.inner, visit, x + node.x + 12, y + node.y + nodeHeight + 6);
  }
}

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function drawEdges(drawing, into, seen, x, y) {
  const instructions = data.computations[drawing.c].instructions;
  for (const node of drawing.nodes) {
    instructions[node.i].operands.forEach((operand) => {
      const from = drawing.at.get(operand);
      const x1 = x + from.x + from.width / 2, y1 = y + from.y + from.height, x2 = x + node.x + node.width / 2, y2 = y + node.y;
      if (!seen(Math.min(x1, x2), Math.min(y1, y2), Math.abs(x2 - x1) + 1, Math.abs(y2 - y1) + 1)) return;
      const near = isSelected(drawing.c, node.i) || isSelected(drawing.c, operand);
      const bend = Math.max(layerGap / 2, Math.abs(y2 - y1) / 3);
      into.append(svg("path", {class: near ? "edge near" : "edge", d: `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`}));
    });
    if (node.inner) drawEdges(node.inner, into, seen, x + node.x + 12, y + node.y + nodeHeight + 6);
  }
}

function drawGraph() {
  const graph = byId("graph");
  if (graph.clientWidth === 0) return;
  const left = -view.x / view.scale, top = -view.y / view.scale;
  const right = left + graph.clientWidth / view.scale, bottom = top + graph.clientHeight / view.scale;
  const seen = (x, y, width, height) => x < right && x + width > left && y < bottom && y + height > top;
  const all = svg("g", {transform: `translate(${view.x},${view.y}) scale(${view.scale})`});
  const readable = nodeHeight * view.scale > 7;
  const edges = svg("g", {});
  if (nodeHeight * view.scale > 2) drawEdges(drawn, edges, seen, 0, 0);
  const groups = svg("g", {}), leaves = svg("g", {});
  visitNodes(drawn, (c, node, x, y) => {
    if (!seen(x, y, node.width, node.height)) return;
    const instruction = data.computations[c].instructions[node.i];
    const item = data.inspected[numberAt(c, node.i)];
    const group = svg("g", {
      class: `node ${item ? item.standing : "none"}${node.inner ? " group" : ""}${isSelected(c, node.i) ? " selected" : ""}`,
      "data-name": instruction.name, "data-place": `${c}:${node.i}`,
    });
    group.append(svg("rect", {x, y, width: node.width, height: node.height, rx: 5}));
    if (readable) {
      const text = svg("text", {x: x + 8, y: y + 17});
      const room = Math.floor((node.width - 16) / 7.3);
      const label = (instruction.called.length ? (node.inner ? "▾ " : "▸ ") : "") + nodeText(instruction);
      text.textContent = label.length > room ? label.slice(0, room - 1) + "…" : label;
      group.append(text);
    }
    (node.inner ? groups : leaves).append(group);
  });
  all.append(groups, edges, leaves);
  graph.replaceChildren(all);
}

function relayout() {
  drawn = layout(data.entry);
  drawGraph();
}

function fitGraph() {
  const graph = byId("graph");
  view.scale = Math.min(1.2, (graph.clientWidth - 20) / drawn.width, (graph.clientHeight - 20) / drawn.height);
  view.x = (graph.clientWidth - drawn.width * view.scale) / 2;
  view.y = 10;
  drawGraph();
}

function toggle(c, i) {
  if (!data.computations[c].instructions[i].called.length) return;
  if (!opened.delete(`${c}:${i}`)) opened.add(`${c}:${i}`);
  relayout();
}

// Opens what is around a place and moves there.
function reveal(place) {
  let changed = false;
  for (let at = callers[place.computation]; at; at = callers[at[0]]) {
    changed ||= !isOpen(...at);
    opened.add(at.join(":"));
  }
  if (changed || !drawn) drawn = layout(data.entry);
  const graph = byId("graph");
  visitNodes(drawn, (c, node, x, y) => {
    if (c !== place.computation || node.i !== place.instruction) return;
    const screenX = x * view.scale + view.x, screenY = y * view.scale + view.y;
    if (screenX > 0 && screenX < graph.clientWidth - 60 && screenY > 0 && screenY < graph.clientHeight - 30 && view.scale > 0.3) return;
    view.scale = Math.max(view.scale, 0.8);
    view.x = graph.clientWidth / 2 - (x + node.width / 2) * view.scale;
    view.y = graph.clientHeight / 2 - (y + nodeHeight / 2) * view.scale;
  });
  drawGraph();
}
onSelect(reveal);

function watchGraph() {
  const graph = byId("graph");
  let held = null;
  graph.addEventListener("pointerdown", (event) => (held = {x: event.clientX, y: event.clientY, moved: false}));
  graph.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    const dx = event.clientX - held.x, dy = event.clientY - held.y;
    if (!held.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
    view.x += dx;
    view.y += dy;
    held = {x: event.clientX, y: event.clientY, moved: true};
    requestAnimationFrame(drawGraph);
  });
  graph.addEventListener("click", (event) => {
    const node = event.target.closest(".node");
    if (!node || (held && held.moved)) return;
    const [computation, instruction] = node.dataset.place.split(":").map(Number);
    if (event.detail === 2) toggle(computation, instruction);  // a double click has no target: the first click drew anew
    else select({computation, instruction});
  });
  graph.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = Math.exp(-event.deltaY / 400);
    const scale = Math.min(3, Math.max(0.01, view.scale * factor));
    const box = graph.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    view.x = x - (x - view.x) * scale / view.scale;
    view.y = y - (y - view.y) * scale / view.scale;
    view.scale = scale;
    requestAnimationFrame(drawGraph);
  }, {passive: false});
  new ResizeObserver(drawGraph).observe(graph);
  byId("graph-fit").addEventListener("click", fitGraph);
  byId("graph-close").addEventListener("click", () => { opened.clear(); relayout(); fitGraph(); });
  byId("graph-open").addEventListener("click", () => {
    callers.forEach((at) => at && opened.add(at.join(":")));
    relayout();
    fitGraph();
  });
}
