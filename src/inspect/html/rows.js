// A long list of which only what can be seen is in the page: so many rows of 20 pixels, made when they come into view.

const rowHeight = 20;

// `make(n)` gives the element of row n.
function virtualRows(box, make) {
  const rows = element("div", {class: "rows"});
  box.append(rows);
  let count = 0;
  const draw = () => {
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - 10);
    const last = Math.min(count, Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + 10);
    const made = [];
    for (let n = first; n < last; ++n) {
      const row = make(n);
      row.style.top = n * rowHeight + "px";
      made.push(row);
    }
    rows.replaceChildren(...made);
  };
  box.addEventListener("scroll", () => requestAnimationFrame(draw));
  new ResizeObserver(draw).observe(box);
  return {
    draw,
    resize(rowCount) {
      count = rowCount;
      rows.style.height = count * rowHeight + "px";
      draw();
    },
    show(n) {
      const top = n * rowHeight;
      if (top < box.scrollTop || top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
      draw();
    },
  };
}
