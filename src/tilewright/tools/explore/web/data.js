/* The recordings, and small things that everything uses. */

const byId = id => document.getElementById(id);

function element(tag, cls, text) {
  const made = document.createElement(tag);
  if (cls) made.className = cls;
  if (text !== undefined) made.textContent = text;
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
function drawn(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Lines and places in place of their numbers; a step without a text of its own has that of the step before. */
function unpack(data) {
  for (const version of data.versions) {
    let last = null;
    for (const step of version.steps) {
      step.changed = Boolean(step.text);
      if (step.changed) last = step;
      step.lines = last.text.map(number => data.lines[number]);
      step.places = last.from.map(number => data.places[number]);
    }
    for (const text of version.machine) {
      text.lines = text.text.map(number => data.lines[number]);
      text.places = text.from.map(number => data.places[number]);
    }
  }
  return data;
}

let data = unpack(JSON.parse(byId("data").textContent));

/** What is shown: which version of the kernel, which view of it, how. The URL says it too, see state.js. */
const state = { version: 0, other: 1, view: "overview", mode: "text", search: "", hide: false, pinned: null };

const version = () => data.versions[state.version];

/** The views of a version in the order of the list: overview, step:0, step:1, ..., text:llir, ..., layouts, compare. */
function viewsOf(shown) {
  const views = ["overview", ...shown.steps.map((_, number) => `step:${number}`)];
  views.push(...shown.machine.map(text => `text:${text.name}`));
  if (shown.drawings.length) views.push("layouts");
  if (data.versions.length > 1) views.push("compare");
  return views;
}

/** The step or machine text behind a view; null where it has none. */
function textOf(shown, view) {
  const [kind, name] = view.split(":");
  if (kind === "step") return shown.steps[Number(name)] || null;
  return kind === "text" ? shown.machine.find(text => text.name === name) || null : null;
}

const duration = seconds => {
  const [unit, size] = [["s", 1], ["ms", 1e-3], ["\u00b5s", 1e-6]].find(([, size]) => seconds >= size) || ["ns", 1e-9];
  return `${(seconds / size).toPrecision(3)} ${unit}`;
};

const quantity = (number, unit) => {
  const scale = ["", "k", "M", "G", "T", "P"];
  let power = 0;
  while (number >= 1000 && power < scale.length - 1) { number /= 1000; power++; }
  return `${number >= 100 || Number.isInteger(number) ? Math.round(number) : number.toPrecision(3)} ${scale[power]}${unit}`;
};
