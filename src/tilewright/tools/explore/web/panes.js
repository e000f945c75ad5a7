/* Widths, tabs of small screens, colours, marks, search. */

const THEMES = { system: ["\u25d0", "as the system has them"], light: ["\u2600", "light"], dark: ["\u263e", "dark"] };
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let theme = kept.get("theme") in THEMES ? kept.get("theme") : "system";

function applyTheme(chosen) {
  theme = chosen;
  const isDark = theme === "dark" || theme === "system" && prefersDark.matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  byId("theme").textContent = THEMES[theme][0];
  byId("theme").setAttribute("aria-label", `Colours: ${THEMES[theme][1]}`);
  kept.set("theme", theme);
}
const nextTheme = () => applyTheme(Object.keys(THEMES)[(Object.keys(THEMES).indexOf(theme) + 1) % 3]);
prefersDark.addEventListener("change", () => applyTheme(theme));

function makeBars() {
  for (const bar of document.querySelectorAll(".bar")) {
    const pane = byId(bar.dataset.pane), name = `--${bar.dataset.pane}`;
    const set = width => {
      width = Math.round(Math.max(60, Math.min(width, innerWidth * 0.7)));
      document.documentElement.style.setProperty(name, `${width}px`);
      bar.setAttribute("aria-valuenow", width);
      kept.set(name, width);
    };
    if (kept.get(name)) set(Number(kept.get(name)));
    bar.addEventListener("pointerdown", event => {
      bar.setPointerCapture(event.pointerId);
      const start = pane.offsetWidth - event.clientX, move = moved => set(start + moved.clientX);
      bar.addEventListener("pointermove", move);
      bar.addEventListener("pointerup", () => bar.removeEventListener("pointermove", move), { once: true });
      event.preventDefault();
    });
    bar.addEventListener("keydown", event => {
      const step = { ArrowLeft: -20, ArrowRight: 20 }[event.key];
      if (step) { set(pane.offsetWidth + step); event.preventDefault(); event.stopPropagation(); }
    });
  }
}

function chooseTab(tab) {
  document.body.dataset.tab = tab;
  for (const button of byId("tabs").children) button.setAttribute("aria-pressed", button.dataset.tab === tab);
}

function makeTabs() {
  for (const [tab, label] of [["list", "Passes"], ["source", "Source"], ["code", "View"]]) {
    const button = element("button", "", label);
    button.type = "button";
    button.dataset.tab = tab;
    button.onclick = () => chooseTab(tab);
    byId("tabs").append(button);
  }
  chooseTab("code");
}

const key = place => place[0] + ":" + place[1];

function mark(places, cls, from) {
  const wanted = new Set((places || []).map(key));
  for (const line of document.querySelectorAll(".code > div"))
    line.classList.toggle(cls, Boolean(wanted.size && line.places && line.places.some(place => wanted.has(key(place)))));
  if (!from) return;
  for (const area of ["source", "panes"]) {
    const found = !byId(area).contains(from) && byId(area).querySelector("." + cls);
    if (found) found.scrollIntoView({ block: "nearest" });
  }
}

function pin(places, from) {
  state.pinned = places && places.length ? places : null;
  mark(state.pinned, "pinned", from);
  writeHash();
  markList();
}

/** What a line comes from, in words. */
function sayPlaces(places) {
  return (places || []).map(([file, line]) => `${data.files[file].name.split("/").pop()} line ${line}`).join(", called from ");
}

let matches = [], at = -1;

function search(move) {
  const wanted = state.search.toLowerCase(), lines = [...byId("panes").querySelectorAll(".code > div:not(.gap)")];
  lines.forEach(line => line.classList.remove("match", "at"));
  matches = wanted ? lines.filter(line => line.textContent.toLowerCase().includes(wanted)) : [];
  matches.forEach(line => line.classList.add("match"));
  highlight(wanted);
  at = matches.length ? (at + move + matches.length) % matches.length : -1;
  byId("found").textContent = wanted ? matches.length ? `${at + 1} of ${matches.length}` : "none" : "";
  if (at >= 0) { matches[at].classList.add("at"); if (move || state.search) matches[at].scrollIntoView({ block: "center" }); }
}

function highlight(wanted) {
  if (!window.Highlight || !CSS.highlights) return;
  CSS.highlights.delete("search");
  if (!wanted) return;
  const ranges = [];
  for (const line of matches.slice(0, 2000)) {
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, text = node.data.toLowerCase();
      for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + wanted.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, from + wanted.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("search", new Highlight(...ranges));
}
