
// Text of the wire. Everything here ends in textContent: nothing that was received is ever markup.

// The same as in cli/show.py: what is obeyed, and what is drawn as nothing.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u2800\u3164\uffa0\ufe00-\ufe0d\u{e0100}-\u{e01ef}]|(?<![#*0-9\u00a9\u00ae\u2000-\u3299\u{1f000}-\u{1faff}])[\ufe0e\ufe0f]/gu;
const KEPT = new Set(["\n", "\t", "\u200c", "\u200d"]);
const MAX_SHOWN = 20000;

// Returns the text with all that a browser would hide or reorder as an escape.
function visible(text) {
  return text.replace(UNSEEN, (char) => {
    if (KEPT.has(char)) return char;
    const code = char.codePointAt(0).toString(16);
    return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

function counted(n, noun) {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

// Returns a new element with a class and a text.
function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = visible(text);
  return made;
}

function chip(kind, text) {
  return element("span", `chip ${kind}`, text);
}

// Returns the text on one line.
function inLine(text) {
  return text.replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

// Shows a text of any length: its beginning, and how much more there is.
function fill(place, text) {
  const shown = element("span", "", text.slice(0, MAX_SHOWN));
  place.replaceChildren(shown);
  if (text.length > MAX_SHOWN) {
    place.append(element("span", "cut", `\n… ${counted(text.length - MAX_SHOWN, "character")} more`));
  }
}

// Returns JSON on several lines; a text that is not JSON as it is.
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
