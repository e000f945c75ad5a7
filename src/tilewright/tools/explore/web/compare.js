/* Two versions side by side: facts, then any text of both. */

function choice(label, options, chosen, act) {
  const frame = element("span", "choice", `${label} `), select = element("select");
  select.setAttribute("aria-label", label);
  for (const [value, text] of options) select.append(new Option(text, value, false, String(value) === String(chosen)));
  select.onchange = () => act(select.value);
  frame.append(select);
  return frame;
}

/** Texts that both versions have: the ends of stages, passes of the same name at the same place, machine texts. */
function commonTexts(left, right) {
  const ends = shown => new Map([...shown.steps.map(step => [step.stage, step]), ...shown.machine.map(text => [text.name, text])]);
  const [first, second] = [ends(left), ends(right)];
  return [...first.keys()].filter(name => second.has(name)).map(name => [name, first.get(name), second.get(name)]);
}

function ratio(before, after, lessIsBetter) {
  if (typeof before !== "number" || typeof after !== "number" || before === after) return "";
  const text = before ? `${after > before ? "+" : "\u2212"}${Math.abs(100 * (after / before - 1)).toFixed(0)} %` : "new";
  return marked(after < before === lessIsBetter ? "better" : "worse", text);
}

function compareRows(left, right) {
  const rows = [], other = new Map(right.facts.map(fact => [fact[0], fact])), seen = new Set();
  for (const [label, value, , number] of left.facts) {
    seen.add(label);
    const found = other.get(label);
    rows.push([label, value, found ? found[1] : "\u2013", found ? ratio(number, found[3], label !== "occupancy") : ""]);
  }
  for (const [label, value] of right.facts) if (!seen.has(label)) rows.push([label, "\u2013", value, ""]);
  const time = shown => shown.emission + shown.steps.reduce((sum, step) => sum + step.ms, 0);
  rows.push(["compilation", `${time(left).toFixed(0)} ms`, `${time(right).toFixed(0)} ms`, ratio(time(left), time(right), true)]);
  if (left.work && right.work) for (const [key, label, unit] of [["flops", "operations", ""], ["loaded", "loads", "B"], ["stored", "stores", "B"]])
    rows.push([label, quantity(left.work[key], unit), quantity(right.work[key], unit), ratio(left.work[key], right.work[key], true)]);
  return rows;
}

function drawCompare(name) {
  const left = version(), right = data.versions[Math.min(state.other, data.versions.length - 1)], common = commonTexts(left, right);
  const at = Math.max(0, common.findIndex(text => text[0] === (name || "ttir"))), about = byId("about");
  const names = data.versions.map((shown, number) => [number, `${number + 1}: ${shown.label}`]);
  const row = element("p");
  row.append(choice("A", names, state.version, value => show({ version: Number(value) })), " ",
    choice("B", names, state.other, value => show({ other: Number(value) })), " ",
    choice("text", common.map(text => [text[0], text[0]]), common[at][0], value => show({ view: `compare:${value}` })));
  about.append(row, table(["", "A", "B", "B against A"], compareRows(left, right), [1, 2, 3]));
  const [, before, after] = common[at], changes = changesBetween(before.lines, after.lines);
  const count = changes.reduce((sum, [from, to, first, end]) => sum + Math.max(to - from, end - first), 0);
  about.append(element("p", "dim", changes.length ? `${count} lines differ` : "The texts are the same."));
  return drawBoth(before, after, changes, [`A: ${left.label}`, `B: ${right.label}`]);
}
