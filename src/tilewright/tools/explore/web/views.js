/* A pass: its text, what it changed, before and after. */

const MODES = { text: "text", diff: "changes", both: "before and after" };

/** The text after a step with what was there before, around what changed. */
function drawChanges(before, step, changes) {
  const around = 4, [section, code] = pane("changes");
  let at = 0;
  const unchanged = (to, isLast) => {
    const from = at, first = from ? from + around : 0;
    const next = isLast ? to : to - around, isGap = next - first > 1;
    for (let number = from; number < to; number++) {
      if (isGap && number === first) code.append(element("div", "gap", `\u22ef ${next - number} lines \u22ef`));
      if (!isGap || number < first || number >= next) code.append(codeLine(step, number));
    }
    at = to;
  };
  for (const [from, to, first, end] of changes) {
    unchanged(first, false);
    for (let number = from; number < to; number++) code.append(codeLine(before, number, "dropped"));
    for (let number = first; number < end; number++) code.append(codeLine(step, number, "added"));
    at = end;
  }
  unchanged(step.lines.length, true);
  return section;
}

/** Two texts side by side: equal lines stand beside each other, and both scroll together. */
function drawBoth(before, after, changes, titles) {
  const sides = [pane(titles[0]), pane(titles[1])];
  sides.forEach(([section], side) => section.prepend(element("h3", "", titles[side])));
  let old = 0, young = 0;
  const equal = to => {
    for (; old < to; old++, young++) {
      sides[0][1].append(codeLine(before, old));
      sides[1][1].append(codeLine(after, young));
    }
  };
  for (const [from, to, first, end] of changes) {
    equal(from);
    for (let number = 0; number < Math.max(to - from, end - first); number++) {
      sides[0][1].append(from + number < to ? codeLine(before, from + number, "dropped") : element("div", "filler"));
      sides[1][1].append(first + number < end ? codeLine(after, first + number, "added") : element("div", "filler"));
    }
    [old, young] = [to, end];
  }
  equal(before.lines.length);
  const [left, right] = sides.map(([section]) => section);
  for (const [moved, other] of [[left, right], [right, left]])
    moved.addEventListener("scroll", () => { other.scrollTop = moved.scrollTop; other.scrollLeft = moved.scrollLeft; });
  return [left, right];
}

function drawStep(number) {
  const step = version().steps[number], before = version().steps[number - 1], about = byId("about");
  const title = element("p"), change = step.changed ? "" : ", no change";
  title.append(element("b", "", step.name), element("span", "dim", `  ${step.stage}, ${step.ms} ms, ${step.ops} ops${change}`));
  about.append(title);
  if (step.summary) about.append(element("p", "", step.summary));
  for (const remark of step.remarks) about.append(element("p", "remark", remark));
  if (state.mode === "text" || !before) return [drawText(step)];
  if (state.mode === "diff") return [drawChanges(before, step, step.changes || [])];
  return drawBoth(before, step, step.changes || [], [before.name, step.name]);
}

const drawMachine = name => [drawText(textOf(version(), `text:${name}`))];
