/* The list of views. */

function drawList() {
  const list = byId("list"), shown = version();
  list.replaceChildren();
  const add = (view, name, size, cls) => {
    const link = element("a", cls || "");
    link.href = hashOf({ view });
    link.dataset.view = view;
    const [short, hasOptions] = name.split(/(?=\{)/);
    link.append(element("span", "", hasOptions ? `${short} {\u2026}` : short));
    if (hasOptions) link.title = name;
    if (size) link.append(element("small", "", size));
    list.append(link);
  };
  add("overview", "overview");
  if (data.versions.length > 1) add("compare", "compare versions");
  const label = element("label"), box = element("input");
  box.type = "checkbox";
  box.checked = state.hide;
  box.id = "hide";
  box.onchange = () => show({ hide: box.checked });
  label.append(box, " only passes with an effect");
  list.append(label);
  let stage = null;
  shown.steps.forEach((step, number) => {
    if (step.stage !== stage) list.append(element("h2", "", stage = step.stage));
    const size = (step.changes || []).reduce(([added, dropped], change) => [added + change[3] - change[2], dropped + change[1] - change[0]], [0, 0]);
    add(`step:${number}`, step.name, size.some(Boolean) ? `+${size[0]} \u2212${size[1]}` : "", step.changed ? "" : "same");
  });
  if (shown.machine.length) list.append(element("h2", "", "machine"));
  for (const text of shown.machine) add(`text:${text.name}`, text.name, `${text.lines.length}`);
  if (shown.drawings.length) add("layouts", "layouts", `${shown.drawings.length}`);
}

function markList() {
  const list = byId("list"), kind = state.view.split(":")[0];
  list.classList.toggle("changed", state.hide);
  for (const link of list.querySelectorAll("a")) {
    const here = link.dataset.view === state.view || kind === "compare" && link.dataset.view === "compare";
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    link.href = hashOf({ view: link.dataset.view });
    if (here) link.scrollIntoView({ block: "nearest" });
  }
}
