/* Showing a view, and what keys and the mouse do. */

function show(change = {}) {
  const before = { ...state };
  Object.assign(state, change);
  if (!viewsOf(version()).includes(state.view.startsWith("compare:") ? "compare" : state.view)) state.view = "overview";
  if (state.version !== before.version || !byId("list").childElementCount) { drawHeader(); drawList(); drawSources(); }
  const [kind, name] = state.view.split(":"), about = byId("about"), panes = byId("panes");
  const isSame = before.view === state.view && before.mode === state.mode && before.version === state.version && panes.childElementCount;
  about.replaceChildren();
  const draw = { overview: drawOverview, layouts: drawLayouts, text: drawMachine, compare: drawCompare, step: number => drawStep(Number(number)) };
  const top = isSame ? [...panes.children].map(section => section.scrollTop) : [];
  panes.replaceChildren(...draw[kind](name));
  panes.classList.toggle("two", panes.childElementCount === 2);
  top.forEach((offset, number) => { if (panes.children[number]) panes.children[number].scrollTop = offset; });
  byId("modes").hidden = kind !== "step" || name === "0";
  for (const button of byId("modes").children) button.setAttribute("aria-pressed", button.dataset.mode === state.mode);
  fillSymbols(kind, name, isSame);
  markList();
  mark(state.pinned, "pinned");
  if (!isSame) seePinned();
  at = -1;
  search(state.search ? 1 : 0);
  if (byId("search").value !== state.search) byId("search").value = state.search;
  writeHash();
  if (!isSame) byId("said").textContent = `${state.view.replace(":", " ")}: ${textOf(version(), state.view)?.name || kind}`;
}

/** What stays marked from view to view comes into sight in each. */
function seePinned() {
  for (const section of [...byId("panes").children, byId("source")])
    section.querySelector(".pinned")?.scrollIntoView({ block: section === byId("source") ? "nearest" : "center" });
}

function drawHeader() {
  const shown = version();
  byId("name").textContent = shown.name;
  byId("target").textContent = [shown.target, shown.options].filter(Boolean).join(", ");
  byId("failure").textContent = shown.failure;
  const select = byId("version");
  select.replaceChildren(...data.versions.map((one, number) => new Option(one.label, number, false, number === state.version)));
  select.hidden = data.versions.length < 2;
}

/** A menu of the functions of the text; the kernel's own comes into view first in machine texts. */
function fillSymbols(kind, name, isSame) {
  const text = textOf(version(), state.view), select = byId("symbol"), found = text ? symbolsOf(text) : [];
  const isWhole = kind === "text" || state.mode === "text";
  select.hidden = !found.length || !isWhole;
  select.replaceChildren(new Option("symbols", ""), ...found.map(([symbol, line]) => new Option(symbol, line)));
  if (select.hidden || kind !== "text" || isSame) return;
  const own = found.find(([symbol]) => symbol === version().name) || found.find(([symbol]) => symbol.startsWith(version().name));
  if (own) jump(own[1]);
}

function jump(line) {
  const found = byId("panes").querySelector(".code").children[line];
  byId("panes").querySelectorAll(".cursor").forEach(old => old.classList.remove("cursor"));
  found.classList.add("cursor");
  found.scrollIntoView({ block: "start" });
}

/** Up and down walk through a text; what a line comes from is marked, and said to screen readers. */
function walk(section, event) {
  const lines = [...section.querySelectorAll(".code > div:not(.filler):not(.gap)")], here = section.querySelector(".cursor");
  const next = lines[lines.indexOf(here) + (event.key === "ArrowDown" ? 1 : -1)] || here || lines[0];
  event.preventDefault();
  if (!next) return;
  here?.classList.remove("cursor");
  next.classList.add("cursor");
  next.scrollIntoView({ block: "nearest" });
  mark(next.places, "near", next);
  const from = sayPlaces(next.places);
  byId("said").textContent = `${next.textContent}${from ? `, from ${from}` : ""}`;
}

function step(key) {
  const views = viewsOf(version()), here = views.indexOf(state.view), move = { j: 1, n: 1, k: -1, p: -1 }[key];
  let next = here + move;
  const isDull = view => view?.startsWith("step:") && !textOf(version(), view).changed;
  while ((key === "n" || key === "p" || state.hide) && isDull(views[next])) next += move;
  if (views[next]) show({ view: views[next] });
}

document.addEventListener("mouseover", event => {
  const line = event.target.closest(".code > div"), value = event.target.dataset?.value;
  if (line) mark(line.places, "near");
  for (const token of document.querySelectorAll("#panes .v")) token.classList.toggle("same", value !== undefined && token.dataset.value === value);
});
document.addEventListener("click", event => {
  const link = event.target.closest("nav a, .bars a[href]"), line = event.target.closest(".code > div");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    show({ view: new URLSearchParams(link.hash.slice(1)).get("view") || "overview" });
    if (innerWidth <= 700) chooseTab("code");
  } else if (line?.places && !getSelection().toString()) pin(line.classList.contains("pinned") ? null : line.places, line);
});
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select")) return;
  const section = event.target.closest("#panes section, #source");
  if (event.target === byId("search")) {
    if (event.key === "Enter") search(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") { show({ search: "" }); event.target.blur(); }
  } else if (event.target.closest("input")) return;
  else if (section && ["ArrowDown", "ArrowUp"].includes(event.key) && section.querySelector(".code")) walk(section, event);
  else if (section && event.key === "Enter" && section.querySelector(".cursor")) pin(section.querySelector(".cursor").places, section.querySelector(".cursor"));
  else if (event.key === "Escape") pin(null);
  else if ("jknp".includes(event.key)) step(event.key);
  else if (event.key === "o") show({ view: "overview" });
  else if (event.key === "d") nextTheme();
  else if (event.key === "?") byId("help").click();
  else if (event.key === "/") { byId("search").focus(); event.preventDefault(); }
});
byId("search").addEventListener("input", event => { state.search = event.target.value; at = -1; search(1); writeHash(); });
byId("symbol").onchange = event => { if (event.target.value) jump(Number(event.target.value)); };
byId("version").onchange = event => show({ version: Number(event.target.value) });
byId("theme").onclick = nextTheme;
byId("help").onclick = () => {
  byId("keys").hidden = !byId("keys").hidden;
  byId("help").setAttribute("aria-expanded", String(!byId("keys").hidden));
};
byId("copy").onclick = async () => {
  const text = textOf(version(), state.view);
  const said = text ? text.lines.join("\n") : byId("panes").innerText;
  try { await navigator.clipboard.writeText(said); byId("said").textContent = "Copied"; byId("copy").textContent = "Copied"; }
  catch { byId("copy").textContent = "Not allowed"; }
  setTimeout(() => { byId("copy").textContent = "Copy"; }, 1500);
};
addEventListener("hashchange", () => { readHash(); show(); });

/** A page with a server asks it for news: it answers once there are some. */
async function listen() {
  for (let number = data.live; ;) {
    try {
      const answer = await fetch(`news?after=${number}`);
      if (answer.status === 200) {
        number = Number(answer.headers.get("X-Number"));
        data = unpack(await answer.json());
        readHash();
        byId("list").replaceChildren();
        show();
        byId("said").textContent = "The kernel was compiled again";
      }
    } catch { await new Promise(resolve => setTimeout(resolve, 2000)); }
  }
}

for (const [mode, label] of Object.entries(MODES)) {
  const button = element("button", "", label);
  button.type = "button";
  button.dataset.mode = mode;
  button.onclick = () => show({ mode });
  byId("modes").append(button);
}
applyTheme(theme);
makeBars();
makeTabs();
readHash();
show();
if (data.live) listen();
