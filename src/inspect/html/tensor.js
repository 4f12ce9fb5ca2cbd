// The values of one instruction, got beside expected: a slice as a heat map, the differing elements in three dimensions,
// how values are spread, and what is at a point. A large tensor comes as blocks: of each, the element that differs most.

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

function openTensor(packed) {
  const cells = packed.cells.reduce((product, size) => product * size, 1);
  const seen = packed.seen ? new Uint8Array(bytesOf(packed.seen)) : null;
  return {
    ...packed,
    count: cells,
    got: new Float32Array(bytesOf(packed.got)),
    expected: new Float32Array(bytesOf(packed.expected)),
    at: packed.at ? new Uint32Array(bytesOf(packed.at)) : null,
    isSeen: (n) => !seen || (seen[n >> 3] >> (n & 7) & 1) === 1,
  };
}

// The element that cell `n` shows, as an index of the tensor.
function indexOf(tensor, n) {
  let flat = tensor.at ? tensor.at[n] : n;
  const index = [];
  for (let d = tensor.dimensions.length - 1; d >= 0; --d) {
    index.unshift(flat % tensor.dimensions[d]);
    flat = Math.floor(flat / tensor.dimensions[d]);
  }
  return index;
}

const differenceAt = (tensor, n) => (Object.is(tensor.got[n], tensor.expected[n]) ? 0 : tensor.got[n] - tensor.expected[n]);
const differsAt = (tensor, n) => tensor.isSeen(n) && !(tensor.got[n] === tensor.expected[n]) && !(Number.isNaN(tensor.got[n]) && Number.isNaN(tensor.expected[n]));

const channels = {
  difference: (tensor, n) => (tensor.isSeen(n) ? differenceAt(tensor, n) : null),
  got: (tensor, n) => (tensor.isSeen(n) ? tensor.got[n] : null),
  expected: (tensor, n) => tensor.expected[n],
};

// Negative blue, positive red, by the square root of the share of the largest magnitude; NaN magenta, infinite yellow.
function colour(value, largest, dark) {
  if (value === null) return dark ? [44, 47, 52] : [232, 232, 228];
  if (Number.isNaN(value)) return [214, 51, 214];
  if (!Number.isFinite(value)) return [240, 200, 0];
  const share = largest > 0 ? Math.sqrt(Math.min(1, Math.abs(value) / largest)) : 0;
  const zero = dark ? [29, 32, 36] : [255, 255, 255];
  const full = value < 0 ? [38, 110, 220] : [222, 50, 50];
  return zero.map((from, k) => Math.round(from + (full[k] - from) * share));
}

function largestOf(tensor, channel) {
  let largest = 0;
  for (let n = 0; n < tensor.count; ++n) {
    const value = Math.abs(channels[channel](tensor, n) ?? 0);
    if (Number.isFinite(value) && value > largest) largest = value;
  }
  return largest;
}

// A map of the last two dimensions; sliders for those before.
function heatMap(tensor, onPoint) {
  const cells = [1, 1, ...tensor.cells].slice(-Math.max(2, tensor.cells.length));  // outer ones are the tensor's own
  let [height, width] = cells.slice(-2);
  const limit = height * width;  // a long vector goes on in the next row
  if (height === 1 && width > 256) [height, width] = [Math.ceil(width / 128), 128];
  const outer = cells.slice(0, -2);
  // The slice of what differs most comes first.
  let peak = 0;
  for (let n = 1; n < tensor.count; ++n) if (differsAt(tensor, n) && !(Math.abs(differenceAt(tensor, n)) <= Math.abs(differenceAt(tensor, peak)))) peak = n;
  const slice = outer.map(() => 0);
  for (let d = outer.length - 1, at = Math.floor(peak / limit); d >= 0; at = Math.floor(at / outer[d--])) slice[d] = at % outer[d];
  let channel = "difference";
  const canvas = element("canvas", {class: "map", width, height});
  const zoom = Math.max(1, Math.min(16, Math.floor(380 / Math.max(width, height / 1.2))));
  canvas.style.width = width * zoom + "px";
  const first = () => slice.reduce((flat, at, d) => flat * outer[d] + at, 0) * limit;
  const draw = () => {
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    const largest = largestOf(tensor, channel);
    const dark = document.documentElement.classList.contains("dark");
    for (let k = 0, n = first(); k < width * height; ++k, ++n) {
      const [red, green, blue] = colour(k < limit ? channels[channel](tensor, n) : null, largest, dark);
      image.data.set([red, green, blue, 255], 4 * k);
    }
    context.putImageData(image, 0, 0);
  };
  const choice = element("select", {"aria-label": "Shown", class: "channel"}, ...Object.keys(channels).map((name) => element("option", {}, name)));
  choice.addEventListener("change", () => { channel = choice.value; draw(); });
  const sliders = outer.map((size, d) => {
    if (size === 1) return "";
    const text = () => `dim ${d}: ${slice[d] * tensor.block[d]} `;
    const label = element("span", {}, text());
    const slider = element("input", {type: "range", min: 0, max: size - 1, value: slice[d], "aria-label": `dimension ${d}`});
    slider.addEventListener("input", () => {
      slice[d] = Number(slider.value);
      label.textContent = text();
      draw();
    });
    return element("label", {}, label, slider);
  });
  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.min(width - 1, Math.max(0, Math.floor((event.clientX - box.left) / box.width * width)));
    const row = Math.min(height - 1, Math.max(0, Math.floor((event.clientY - box.top) / box.height * height)));
    onPoint(first() + Math.min(limit - 1, row * width + column));
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("click", point);
  draw();
  return {parts: [element("div", {class: "controls"}, "show", choice, ...sliders), canvas], draw};
}

// The differing elements in the last three dimensions, turned by dragging; size and colour by how much they differ.
function spaceView(tensor) {
  const dimensions = [1, 1, 1, ...tensor.dimensions].slice(-3);
  const points = [];
  for (let n = 0; n < tensor.count; ++n)
    if (differsAt(tensor, n)) points.push({n, at: [0, 0, 0, ...indexOf(tensor, n)].slice(-3), size: Math.abs(differenceAt(tensor, n))});
  if (!points.length) return null;
  points.sort((a, b) => (Number.isFinite(b.size) ? b.size : Infinity) - (Number.isFinite(a.size) ? a.size : Infinity));
  const peak = points[0];
  const most = points.length > 6000 ? points.slice(0, 6000) : points;
  const low = [0, 1, 2].map((d) => points.reduce((least, point) => Math.min(least, point.at[d]), Infinity));
  const high = [0, 1, 2].map((d) => points.reduce((most, point) => Math.max(most, point.at[d]), -Infinity));
  const canvas = element("canvas", {class: "space", width: 380, height: 250, "aria-label": "Where elements differ, in three dimensions"});
  let turn = 0.7, tilt = 0.5;
  const longest = Math.max(...dimensions);
  const project = (at) => {
    const [z, y, x] = at.map((value, d) => ((value + 0.5 - dimensions[d] / 2) / longest) * (dimensions[d] * 12 < longest ? 3 : 1));
    const across = x * Math.cos(turn) - z * Math.sin(turn), deep = x * Math.sin(turn) + z * Math.cos(turn);
    return [190 + across * 250, 125 + (y * Math.cos(tilt) + deep * Math.sin(tilt)) * 250];
  };
  const box = (context, from, to, style, width) => {
    context.strokeStyle = style;
    context.lineWidth = width;
    const corner = (bits) => project(from.map((value, d) => (bits >> d & 1 ? to[d] + 0.5 : value - 0.5)));
    context.beginPath();
    for (let bits = 0; bits < 8; ++bits)
      for (let d = 0; d < 3; ++d)
        if (!(bits >> d & 1)) {
          context.moveTo(...corner(bits));
          context.lineTo(...corner(bits | 1 << d));
        }
    context.stroke();
  };
  const draw = () => {
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, canvas.width, canvas.height);
    box(context, [0, 0, 0], dimensions.map((size) => size - 1), style.getPropertyValue("--line"), 1);
    for (const point of [...most].reverse()) {
      const share = Number.isFinite(point.size) && peak.size > 0 && Number.isFinite(peak.size) ? Math.sqrt(point.size / peak.size) : 1;
      const [x, y] = project(point.at);
      context.fillStyle = `rgba(214,48,58,${0.25 + 0.75 * share})`;
      context.fillRect(x - 1 - share, y - 1 - share, 2 + 2 * share, 2 + 2 * share);
    }
    box(context, low, high, style.getPropertyValue("--diverges"), 1.5);
    const [x, y] = project(peak.at);
    context.strokeStyle = style.getPropertyValue("--accent");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 6, 0, 2 * Math.PI);
    context.stroke();
    context.fillStyle = style.getPropertyValue("--text");
    context.font = "12px system-ui, sans-serif";
    context.fillText(`peak [${indexOf(tensor, peak.n)}]`, Math.min(x + 9, 270), Math.max(14, y - 8));
  };
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    turn += event.movementX / 120;
    tilt = Math.max(-1.5, Math.min(1.5, tilt + event.movementY / 120));
    draw();
  });
  draw();
  const text = element("div", {class: "mono"}, `box [${low.map((value, d) => (value === high[d] ? value : `${value}..${high[d]}`))}] of the last three dimensions, peak at [${indexOf(tensor, peak.n)}]: got ${number(tensor.got[peak.n])}, expected ${number(tensor.expected[peak.n])}`);
  return {parts: [canvas, text], draw};
}

// How got and expected values are spread over 40 bins of the expected range.
function histogram(tensor) {
  const finite = (values) => Array.from(values).filter((value, n) => Number.isFinite(value) && tensor.isSeen(n));
  const got = finite(tensor.got), expected = finite(tensor.expected);
  if (!expected.length) return null;
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity), most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const low = Math.min(least(got), least(expected)), high = Math.max(most(got), most(expected));
  const bins = 40;
  const count = (values) => {
    const counts = new Array(bins).fill(0);
    for (const value of values) ++counts[high > low ? Math.min(bins - 1, Math.floor((value - low) / (high - low) * bins)) : 0];
    return counts;
  };
  const canvas = element("canvas", {width: 380, height: 90, "aria-label": "How values are spread"});
  const draw = () => {
    const context = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const counts = {expected: count(expected), got: count(got)};
    const tallest = Math.max(...counts.expected, ...counts.got, 1);
    const bar = (canvas.width - 4) / bins;
    [["expected", "--explained", 0], ["got", "--diverges", bar / 2]].forEach(([name, tone, shift]) => {
      context.fillStyle = style.getPropertyValue(tone);
      counts[name].forEach((value, k) => {
        const height = value === 0 ? 0 : 2 + 68 * Math.log1p(value) / Math.log1p(tallest);
        context.fillRect(2 + k * bar + shift, 74 - height, bar / 2 - 1, height);
      });
    });
    context.fillStyle = style.getPropertyValue("--text");
    context.font = "11px system-ui, sans-serif";
    context.fillText(number(low), 2, 86);
    const end = number(high);
    context.fillText(end, canvas.width - 4 - context.measureText(end).width, 86);
  };
  draw();
  return {parts: [canvas, element("div", {}, "blue: expected, red: got; heights are logarithmic")], draw};
}

// All of it, for the inspector: {parts, draw}.
function tensorView(packed) {
  const tensor = openTensor(packed);
  const value = element("div", {class: "mono value"}, "Point at the map to read values.");
  const showPoint = (n) => {
    const got = tensor.isSeen(n) ? number(tensor.got[n]) : "not seen";
    const difference = tensor.isSeen(n) ? number(differenceAt(tensor, n)) : "-";
    value.textContent = `[${indexOf(tensor, n)}]${tensor.at ? " (differs most of its block)" : ""}: got ${got}, expected ${number(tensor.expected[n])}, difference ${difference}`;
  };
  const map = heatMap(tensor, showPoint), space = spaceView(tensor), spread = histogram(tensor);
  const views = [map, space, spread].filter(Boolean);
  return {
    parts: [
      element("h2", {}, "Values"),
      ...(tensor.at ? [element("div", {}, `${tensor.dimensions.join("×")} elements in blocks of ${tensor.block.join("×")}: of each block, the element that differs most`)] : []),
      ...map.parts, value,
      ...(space ? [element("h2", {}, "Where elements differ"), ...space.parts] : []),
      ...(spread ? [element("h2", {}, "Spread"), ...spread.parts] : []),
    ],
    draw: () => views.forEach((view) => view.draw()),
  };
}
