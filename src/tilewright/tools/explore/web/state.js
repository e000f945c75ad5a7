/* The state is in the URL: #version=1&view=step:12&mode=both&search=load&pin=0:14. */

const DEFAULTS = { version: 0, other: 1, view: "overview", mode: "text", search: "", hide: false };

function hashOf(change = {}) {
  const shown = { ...state, ...change }, parts = new URLSearchParams();
  for (const [name, value] of Object.entries(DEFAULTS)) if (shown[name] !== value) parts.set(name, shown[name]);
  if (shown.pinned) parts.set("pin", shown.pinned.map(place => place.join(":")).join(","));
  return `#${String(parts).replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
}

/** Take the state from the URL, as far as this page has it. */
function readHash() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = (name, fallback) => {
    const given = Number(parts.get(name) ?? fallback);
    return data.versions[given] ? given : Math.min(fallback, data.versions.length - 1);
  };
  state.version = number("version", 0);
  const other = Number(parts.get("other") ?? DEFAULTS.other);
  state.other = Number.isInteger(other) && other >= 0 ? other : DEFAULTS.other;
  state.mode = parts.get("mode") in MODES ? parts.get("mode") : "text";
  state.search = parts.get("search") || "";
  state.hide = parts.get("hide") === "true";
  const view = parts.get("view") || "overview", known = viewsOf(version());
  state.view = known.includes(view) || view.startsWith("compare:") && known.includes("compare") ? view : "overview";
  state.pinned = parts.get("pin")?.split(",").map(place => place.split(":").map(Number)) || null;
}

function writeHash() {
  const hash = hashOf();
  if (hash === (location.hash || "#")) return;
  try { history.replaceState(null, "", hash); } catch { /* a frame without an address of its own */ }
}

/** What a browser keeps for the next page; nothing where it may not. */
const kept = {
  get(name) { try { return localStorage.getItem(`tilewright-${name}`); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(`tilewright-${name}`, value); } catch { /* private */ } },
};
