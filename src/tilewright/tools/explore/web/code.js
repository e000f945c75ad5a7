/* Texts line by line, in colours. */

const TOKEN = /(%[\w$.-]+(?::\d+|#\d+)?)|("(?:[^"\\]|\\.)*")|(\/\/.*|(?<=^|\s);.*|#\s.*)|([!#][A-Za-z_][\w.]*|\b(?:tensor|memref|vector)\b|\b(?:i|f|bf|u)\d+\b|\bindex\b)|(\b[a-z_]+\.[\w.]+\b)/g;
const KINDS = ["v", "s", "c", "t", "o"];
const PYTHON = /("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|[rbf]*"(?:[^"\\]|\\.)*"|[rbf]*'(?:[^'\\]|\\.)*')|(#.*)|(@[\w.]+|\b(?:def|return|for|in|if|elif|else|while|and|or|not|is|import|from|as|class|with|lambda|pass|assert|None|True|False|global|nonlocal|try|except|raise|del|break|continue|yield)\b)|(\b(?:tl|triton)(?:\.\w+)+)|(\b\d[\w.]*\b)/g;
const PYTHON_KINDS = ["s", "c", "k", "o", "n"];

/** A line of code; each value of IR knows its name. */
function lineOf(text, number, pattern = TOKEN, kinds = KINDS) {
  const line = element("div");
  line.append(element("i", "", number));
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    line.append(text.slice(end, match.index));
    const kind = kinds[match.slice(1).findIndex(Boolean)];
    const token = element("span", kind, match[0]);
    if (kind === "v") token.dataset.value = match[0].split(/[:#]/)[0];
    line.append(token);
    end = match.index + match[0].length;
  }
  line.append(text.slice(end));
  return line;
}

function codeLine(text, index, cls) {
  const line = lineOf(text.lines[index], index + 1);
  line.places = text.places[index];
  if (cls) line.classList.add(cls);
  return line;
}

/** A pane of code that keys can walk through. */
function pane(label) {
  const section = element("section"), code = element("div", "code");
  section.tabIndex = 0;
  section.setAttribute("role", "region");
  section.setAttribute("aria-label", label);
  section.append(code);
  return [section, code];
}

function drawText(text) {
  const [section, code] = pane(text.name);
  text.lines.forEach((_, index) => code.append(codeLine(text, index)));
  return section;
}

/** The files of the version shown, from the lines that its texts come from. */
function drawSources() {
  const source = byId("source"), used = new Set();
  for (const text of [...version().steps, ...version().machine])
    for (const places of text.places) for (const [file] of places) used.add(file);
  source.replaceChildren();
  for (const [number, file] of data.files.entries()) {
    if (!used.has(number)) continue;
    const code = element("div", "code");
    source.append(element("h3", "", file.name), code);
    file.segments.forEach((segment, at) => {
      if (at) code.append(element("div", "gap", "\u22ef"));
      segment.lines.forEach((text, index) => {
        const line = lineOf(text, segment.first + index, PYTHON, PYTHON_KINDS);
        line.places = [[number, segment.first + index]];
        code.append(line);
      });
    });
  }
}

/** Functions of a text, [name, line]: definitions of IR, labels of assembly, entries of PTX. */
function symbolsOf(text) {
  const found = [];
  text.lines.forEach((line, number) => {
    const match = /^\s*(?:(?:tt|func)\.func|define|\.visible \.entry|\.entry|\.func)\b[^@(]*?(?:\([^)]*\)\s*)?@?("[^"]+"|[\w.$]+)\s*\(/.exec(line)
      || (["asm"].includes(text.name) && /^("[^"]+"|[A-Za-z_$][\w.$]*):/.exec(line));
    if (match) found.push([match[1].replaceAll('"', ""), number]);
  });
  return found;
}
