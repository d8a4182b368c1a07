
// A list of which only the rows in sight exist, so that its length costs nothing.

const SPARE = 8; // rows beyond the edges

class VirtualList {
  // `paint(row, n)` fills an empty row; `choose(n)` is called on a click.
  constructor(place, height, paint, choose) {
    this.place = place;
    this.height = height;
    this.paint = paint;
    this.count = 0;
    this.rows = new Map();
    this.space = element("div");
    place.append(this.space);
    place.addEventListener("scroll", () => this.draw(), { passive: true });
    place.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) choose(Number(row.dataset.n));
    });
    new ResizeObserver(() => this.draw()).observe(place);
  }

  reset(count) {
    this.count = count;
    this.space.style.height = `${count * this.height}px`;
    this.place.scrollTop = 0;
    this.redraw();
  }

  redraw() {
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.draw();
  }

  draw() {
    const first = Math.max(Math.floor(this.place.scrollTop / this.height) - SPARE, 0);
    const seen = Math.ceil(this.place.clientHeight / this.height) + 2 * SPARE;
    const last = Math.min(first + seen, this.count);
    for (const [n, row] of this.rows) {
      if (n < first || n >= last) {
        row.remove();
        this.rows.delete(n);
      }
    }
    for (let n = first; n < last; n += 1) {
      if (!this.rows.has(n)) this.rows.set(n, this.made(n));
    }
  }

  made(n) {
    const row = element("div", "row");
    row.dataset.n = n;
    row.id = `${this.place.id}-${n}`;
    row.setAttribute("role", "option");
    row.style.top = `${n * this.height}px`;
    row.style.height = `${this.height}px`;
    this.paint(row, n);
    this.place.append(row);
    return row;
  }

  // Brings rows into sight, the last one at least; a row is in sight where there is one more beside it.
  show(first, last = first) {
    const { height, place } = this;
    const room = place.clientHeight;
    if ((last + 2) * height > place.scrollTop + room) place.scrollTop = (last + 2) * height - room;
    if ((first - 1) * height < place.scrollTop) place.scrollTop = (first - 1) * height;
    this.redraw();
  }
}

function paintFrame(model, now, row, n) {
  const step = model.steps[n];
  const facts = element("div", "facts");
  facts.append(element("span", "number", `#${n}`), element("span", "", `byte ${step.offset.toLocaleString("en")}`));
  if (step.time !== null) facts.append(element("span", "", `${step.time.toFixed(3)} s`));
  facts.append(element("b", "", step.name));
  row.append(facts, element("div", "what", inLine(step.summary) || "(empty)"));
  mark(row, facts, model.kinds[n], n === now, n > now);
}

function paintEvent(model, now, row, n) {
  const { step, event } = model.events[n];
  const facts = element("div", "facts");
  facts.append(element("span", "number", `#${step}`), element("b", "", event.type.replaceAll("_", " ")));
  row.append(facts, element("div", "what", inLine(inShort(event))));
  mark(row, facts, kindOfEvent(event), step === now, step > now);
}

function kindOfEvent(event) {
  if (event.type === "tool_call_dropped") return "drop";
  if (event.type === "stream_fault") return "fault";
  return ENDS.has(event.type) ? "call" : "";
}

function mark(row, facts, kind, isHere, isLater) {
  if (kind) {
    row.classList.add(kind);
    facts.append(element("span", "word", kind));
  }
  row.classList.toggle("here", isHere);
  row.classList.toggle("later", isLater);
  row.setAttribute("aria-selected", isHere ? "true" : "false");
}
