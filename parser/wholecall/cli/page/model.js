
// A recording, made ready so that any of its steps can be shown at once, forwards and backwards.

const ENDS = new Set(["tool_call", "custom_tool_call", "builtin_tool_call", "server_tool_call", "tool_call_dropped"]);
const RANKS = ["drop", "fault", "edit", "odd", "call"]; // what a step is marked as, the worst first

class Model {
  constructor(recording) {
    this.name = recording.name;
    this.steps = recording.steps;
    this.calls = [];
    this.events = []; // {step, event} of all steps
    this.firstEvent = []; // of each step: where its events begin
    this.marks = []; // {step, kind}, in order
    this.kinds = []; // of each step: what it is marked as, "" for nothing
    this.sums = { calls: 0, drops: 0, faults: 0 };
    this.origin = "";
    this.hasSpans = recording.steps.some((step) => step.spans.length);
    this.isTimed = recording.steps.some((step) => step.time !== null);
    const byKey = new Map();
    this.steps.forEach((step, n) => this.add(step, n, byKey));
    this.firstEvent.push(this.events.length);
    this.calls.forEach(settleTexts);
  }

  add(step, n, byKey) {
    this.firstEvent.push(this.events.length);
    const found = new Set(step.anomalies.length ? ["odd"] : []);
    for (const event of step.events) {
      this.events.push({ step: n, event });
      this.count(event, found);
    }
    for (const change of step.changes) {
      const key = `${change.turn} ${change.choice} ${change.index}`;
      if (!byKey.has(key)) {
        byKey.set(key, { change, changes: [], texts: [], end: null });
        this.calls.push(byKey.get(key));
      }
      addChange(byKey.get(key), change, n, step);
      if (change.flags.length || change.hole || change.replaced) found.add("odd");
      if (change.edits.length) found.add("edit");
    }
    const kind = RANKS.find((one) => found.has(one)) || "";
    this.kinds.push(kind);
    if (kind) this.marks.push({ step: n, kind });
  }

  count(event, found) {
    if (event.type === "turn_started" && !this.origin) {
      this.origin = [event.dialect, event.model].filter(Boolean).join(" · ");
    } else if (event.type === "stream_fault") {
      this.sums.faults += 1;
      found.add("fault");
    } else if (event.type === "tool_call_dropped") {
      this.sums.drops += 1;
      found.add("drop");
    } else if (event.type === "tool_call_cancelled") {
      found.add("odd");
    } else if (ENDS.has(event.type)) {
      this.sums.calls += 1;
      found.add("call");
    }
  }

  // The step at which to begin: where a call ended first, or else the first mark.
  get opening() {
    const end = this.events.find(({ event }) => ENDS.has(event.type));
    return end ? end.step : this.marks.length ? this.marks[0].step : 0;
  }

  // The step of the mark before or after a step, or that step itself.
  markFrom(step, direction) {
    const marks = direction > 0 ? this.marks : this.marks.slice().reverse();
    const mark = marks.find((one) => (one.step - step) * direction > 0);
    return mark ? mark.step : step;
  }
}

// A call keeps its texts whole, one for each time it was replaced; a change says how much of which one it shows.
function addChange(call, change, step, whole) {
  const last = call.changes[call.changes.length - 1];
  if (!call.texts.length || change.replaced) call.texts.push([]);
  call.texts[call.texts.length - 1].push(change.added);
  const from = !last || change.replaced ? 0 : last.to;
  call.changes.push({
    step,
    from,
    to: from + change.added.length,
    text: call.texts.length - 1,
    phase: change.after,
    before: change.before,
    id: change.id ?? (last ? last.id : null),
    name: change.name ?? (last ? last.name : null),
    flags: last ? [...last.flags, ...change.flags] : change.flags,
    format: change.text_format ?? (last ? last.format : null),
    hole: change.hole || Boolean(last && last.hole),
    change,
  });
  if (change.outcome) {
    const same = (event) =>
      ENDS.has(event.type) && event.turn === change.turn && event.choice === change.choice && event.index === change.index;
    call.end = { step, event: whole.events.find(same) };
  }
}

function settleTexts(call) {
  call.texts = call.texts.map((parts) => parts.join(""));
}

// Returns a call as it is after a step, null if it has not come.
function callAt(call, step) {
  let low = 0;
  let high = call.changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (call.changes[middle].step <= step) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return null;
  const now = call.changes[low - 1];
  const isOver = call.end !== null && call.end.step <= step;
  return {
    ...now,
    label: labelOf(call.change),
    kind: call.change.kind,
    text: call.texts[now.text].slice(0, now.to),
    touched: now.step === step,
    end: isOver ? call.changes.find((one) => one.change.outcome).change : null,
    event: isOver ? call.end.event : null,
  };
}

function labelOf({ turn, choice, index }) {
  return `call ${turn || choice ? `${turn}.${choice}.` : ""}${index}`;
}

// Returns an event in a few words.
function inShort(event) {
  const call = "index" in event ? `${labelOf(event)}  ` : "";
  const facts = {
    turn_started: () => [event.dialect, event.model, event.id].filter(Boolean).join("  "),
    text_delta: () => `+${event.text.length}  ${event.text}`,
    reasoning_delta: () => `+${event.text.length}  ${event.text}`,
    arguments_delta: () => `+${event.delta.length}  ${event.delta}`,
    arguments_reset: () => `${event.raw_arguments.length}  ${event.raw_arguments}`,
    tool_call_started: () => event.name,
    tool_call: () => `${event.name}  ${event.status}`,
    tool_call_dropped: () => `${event.name ?? "(no name)"}  ${event.reason}`,
    tool_call_cancelled: () => event.id,
    stream_fault: () => `${event.kind}${event.fatal ? "  fatal" : ""}`,
    turn_finished: () => event.reason,
  };
  return call + (facts[event.type] ? facts[event.type]() : event.name || event.kind || "").slice(0, 200);
}
