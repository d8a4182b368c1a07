
// Which of many recordings are offered: those of a kind whose name or dialect holds every word of the filter.

const WHICH = [
  ["all", () => true],
  ["with drops", (one) => one.dropped > 0],
  ["with faults", (one) => one.faults > 0],
  ["with calls", (one) => one.calls > 0],
  ["without drops and faults", (one) => !one.dropped && !one.faults],
];

class Chooser {
  // `load(n)` is called when another recording is chosen, or when the one that is shown is filtered out.
  constructor(recordings, load) {
    this.recordings = recordings;
    this.load = load;
    this.shown = 0;
    at("choice").hidden = recordings.length < 2;
    at("which").replaceChildren(...WHICH.map(([word, holds], n) => option(n, `${word} (${recordings.filter(holds).length})`)));
    at("filter").addEventListener("input", () => this.offer());
    at("which").addEventListener("change", () => this.offer());
    at("choose").addEventListener("change", () => load(Number(at("choose").value)));
    this.offer();
  }

  // Takes note of the recording that is shown.
  show(number) {
    this.shown = number;
    at("choose").value = number;
  }

  offer() {
    const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const holds = WHICH[Number(at("which").value)][1];
    const isFound = (one) => holds(one) && words.every((word) => `${one.name} ${one.dialect}`.toLowerCase().includes(word));
    const found = [...this.recordings.keys()].filter((n) => isFound(this.recordings[n]));
    at("choose").replaceChildren(...found.map((n) => option(n, offered(this.recordings[n]))));
    at("choose").disabled = !found.length;
    at("found").textContent = `${found.length.toLocaleString("en")} of ${counted(this.recordings.length, "recording")}`;
    if (found.includes(this.shown)) at("choose").value = this.shown;
    else if (found.length) this.load(found[0]);
  }
}

function option(value, text) {
  const made = element("option", "", text);
  made.value = value;
  return made;
}

function offered(recording) {
  const { name, calls, dropped, faults } = recording;
  const facts = [counted(calls, "call")];
  if (dropped) facts.push(`${dropped} dropped`);
  if (faults) facts.push(counted(faults, "fault"));
  return `${name} · ${facts.join(", ")}`;
}
