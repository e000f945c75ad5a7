/* What a page opens on. */

function table(heads, rows, numbers = []) {
  const made = element("table"), frame = element("div", "wide");
  if (heads.length) {
    const row = made.createTHead().insertRow();
    heads.forEach((head, at) => {
      const cell = element("th", numbers.includes(at) ? "number" : "", head);
      cell.scope = "col";
      row.append(cell);
    });
  }
  const body = made.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    cells.forEach((cell, at) => {
      const made = element("td", numbers.includes(at) ? "number" : "");
      made.append(cell instanceof Node ? cell : String(cell ?? ""));
      row.append(made);
    });
  }
  frame.append(made);
  return frame;
}

const marked = (cls, text) => element("span", cls, text);

/** Bars of the time by pass; those below a hundredth of it together. */
function drawTimes(shown) {
  const bars = element("div", "bars"), emission = { name: "machine code", ms: shown.emission };
  const all = [...shown.steps.map((step, number) => ({ name: step.name, ms: step.ms, view: `step:${number}` })), emission];
  const sum = all.reduce((total, bar) => total + bar.ms, 0), longest = Math.max(...all.map(bar => bar.ms));
  const short = all.filter(bar => bar.ms < sum / 100), rest = short.reduce((total, bar) => total + bar.ms, 0);
  const shownBars = all.filter(bar => bar.ms >= sum / 100);
  if (short.length) shownBars.push({ name: `${short.length} others, each below 1 %`, ms: rest });
  for (const bar of shownBars) {
    const row = element("a", bar.view ? "" : "total"), length = element("b");
    if (bar.view) row.href = hashOf({ view: bar.view });
    length.style.width = `${100 * bar.ms / longest}%`;
    row.append(element("span", "", bar.name), length, element("span", "", `${bar.ms.toFixed(1)} ms`));
    bars.append(row);
  }
  return [element("h2", "", `Time of the compilation: ${sum.toFixed(0)} ms`), bars];
}

const intensity = work => work.flops / Math.max(1, work.loaded + work.stored);

/** Operations per byte against operations per second, both logarithmic: a machine's roof and kernels below it. */
function drawRoofline(kernels) {
  const roof = kernels[0].roofline, ridge = roof.flops_per_second / roof.bytes_per_second;
  const width = 520, height = 260, left = 62, bottom = 34, points = kernels.map(kernel => intensity(kernel.work));
  const low = Math.min(ridge, ...points.filter(Boolean)) / 8, high = Math.max(ridge, ...points) * 8;
  const top = roof.flops_per_second * 2, base = Math.min(low, ridge) * roof.bytes_per_second / 2;
  const x = value => left + (width - left - 10) * Math.log(value / low) / Math.log(high / low);
  const y = value => (height - bottom) - (height - bottom - 10) * Math.log(value / base) / Math.log(top / base);
  const reach = value => Math.min(roof.flops_per_second, value * roof.bytes_per_second);
  const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "roofline", role: "img",
    "aria-label": `roofline: ${kernels.map((kernel, at) => `${points[at].toPrecision(3)} operations per byte`).join(", ")}` });
  picture.style.maxWidth = "100%";
  for (let power = Math.ceil(Math.log10(low)); 10 ** power < high; power++) {
    picture.append(drawn("line", { x1: x(10 ** power), x2: x(10 ** power), y1: 10, y2: height - bottom, stroke: "var(--edge)" }));
    picture.append(drawn("text", { x: x(10 ** power), y: height - bottom + 15, "text-anchor": "middle" }, String(+(10 ** power).toPrecision(1))));
  }
  for (let power = Math.ceil(Math.log10(base)); 10 ** power < top; power++) {
    picture.append(drawn("line", { x1: left, x2: width - 10, y1: y(10 ** power), y2: y(10 ** power), stroke: "var(--edge)" }));
    picture.append(drawn("text", { x: left - 5, y: y(10 ** power) + 4, "text-anchor": "end" }, quantity(10 ** power, "")));
  }
  const line = [low, ridge, high].map(value => `${x(value)},${y(reach(value))}`).join(" ");
  picture.append(drawn("polyline", { points: line, fill: "none", stroke: "var(--value)", "stroke-width": 2 }));
  picture.append(drawn("text", { x: width / 2 + left / 2, y: height - 4, "text-anchor": "middle" }, "operations per byte; operations per second upwards"));
  points.forEach((point, at) => {
    if (!point) return;
    picture.append(drawn("line", { x1: x(point), x2: x(point), y1: y(reach(point)), y2: height - bottom, stroke: "var(--text)", "stroke-dasharray": "4 3" }));
    picture.append(drawn("circle", { cx: x(point), cy: y(reach(point)), r: 5, fill: "var(--text)" }));
    picture.append(drawn("text", { x: x(point) + 8, y: y(reach(point)) + 16 }, kernels.length > 1 ? "AB"[at] : quantity(reach(point), "op/s at most")));
  });
  return picture;
}

/** The work of a kernel as rows of a table. */
function workRows(shown) {
  const work = shown.work, bound = shown.roofline && intensity(work) < shown.roofline.flops_per_second / shown.roofline.bytes_per_second;
  const rows = [["operations", quantity(work.flops, ""), work.matmul_flops ? `${Math.round(100 * work.matmul_flops / work.flops)} % in matmuls` : "no matmuls"],
    ["loads", quantity(work.loaded, "B"), "asked for, masked lanes and repeats included"], ["stores", quantity(work.stored, "B"), ""],
    ["arithmetic intensity", `${intensity(work).toPrecision(3)} op/B`, shown.roofline ? bound ? "below the ridge: memory decides" : "above the ridge: arithmetic decides" : ""]];
  if (shown.roofline && work.flops + work.loaded + work.stored) {
    const seconds = Math.max(work.flops / shown.roofline.flops_per_second, (work.loaded + work.stored) / shown.roofline.bytes_per_second);
    rows.push(["least time", duration(seconds), "if all that is asked for came from memory at the peak rates"]);
  }
  return rows;
}

function drawWork(shown) {
  if (!shown.work) return [];
  const grid = shown.grid ? `of the grid ${shown.grid.join(" x ")}` : "of one program";
  const parts = [element("h2", "", `Work ${grid}`), table([], workRows(shown), [1])];
  if (shown.work.unknown_loops) parts.push(element("p", "dim", "Loops whose count nothing says here are counted once."));
  if (shown.roofline && intensity(shown.work)) {
    const figure = element("figure");
    figure.append(drawRoofline([shown]), element("div", "dim", `Peak: ${quantity(shown.roofline.flops_per_second, "op/s")}, `
      + `${quantity(shown.roofline.bytes_per_second, "B/s")} (${shown.roofline.origin})`));
    parts.push(figure);
  }
  return parts;
}

function drawOverview() {
  const shown = version(), section = element("section", "plain");
  section.tabIndex = 0;
  section.setAttribute("aria-label", "Overview");
  section.append(element("h2", "", `${shown.name} for ${shown.target}`));
  if (shown.parameters.length) section.append(table(["parameter", "type", "value"], shown.parameters));
  const launch = [["grid", shown.grid ? shown.grid.join(" x ") : "no launch was seen"], ["options", shown.options || "the defaults"]];
  section.append(element("h2", "", "Launch"), table([], launch));
  if (shown.facts.length) section.append(element("h2", "", "Machine code"), table([], shown.facts.map(fact => fact.slice(0, 3)), [1]));
  section.append(...drawWork(shown), ...drawTimes(shown));
  const remarks = [...new Set(shown.steps.flatMap(step => step.remarks))];
  if (remarks.length) section.append(element("h2", "", "What passes left as it was"));
  for (const remark of remarks) section.append(element("p", "remark", remark));
  return [section];
}
