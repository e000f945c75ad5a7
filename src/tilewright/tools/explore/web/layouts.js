/* Layouts: which thread holds an element, and in which bank of shared memory it lies. */

const LEGEND = {
  registers: "T5:2 is register 2 of thread 5; + says that other threads hold the element, too. The colour is the thread's. "
    + "Below the encoding: the bases by which each bit of register, lane, warp and block moves through the tensor; "
    + "\u201crepeats lane bits 0b1\u201d says that threads that differ in these bits hold the same elements.",
  banks: "b3 @40 is bank 3 of the 32 banks of shared memory, offset 40 in elements. The colour is the bank's: "
    + "an instruction whose threads meet one colour in different words takes several passes.",
};

function drawBanks(shown) {
  if (!shown.banks.length) return [];
  const rows = shown.banks.map(([op, place, instruction, conflicts, passes]) =>
    [op, place, marked(conflicts ? "worse" : "better", conflicts), passes, instruction]);
  const total = shown.banks.reduce((sum, row) => sum + row[3], 0);
  return [element("h2", "", `Bank conflicts: ${total || "none"}`),
    table(["access", "line", "conflicts", "passes of a warp", "instruction"], rows, [2, 3]),
    element("p", "dim", "A conflict repeats a phase of an instruction; passes count all instructions of the access once.")];
}

function drawLayouts() {
  const section = element("section", "plain");
  section.tabIndex = 0;
  section.setAttribute("aria-label", "Layouts");
  section.append(...drawBanks(version()));
  for (const shared of [false, true]) {
    const drawings = version().drawings.filter(drawing => drawing.shared === shared);
    if (!drawings.length) continue;
    section.append(element("h2", "", shared ? "Shared memory" : "Registers"), element("p", "dim", LEGEND[shared ? "banks" : "registers"]));
    for (const drawing of drawings) {
      const figure = element("figure"), named = drawing.values.slice(0, 6).join(", ");
      const more = drawing.values.length > 6 ? ` and ${drawing.values.length - 6} more` : "";
      figure.append(element("figcaption", "", `${named}${more} : ${drawing.title}`));
      figure.append(element("pre", "", [drawing.encoding, drawing.summary].filter(Boolean).join("\n")));
      figure.insertAdjacentHTML("beforeend", drawing.svg);
      if (drawing.cut) figure.append(element("div", "dim", "The first 16 rows and columns."));
      section.append(figure);
    }
  }
  return [section];
}
