
// The page: which recording and which step are shown, and how one goes to another.

const PACES = [["1 a second", 1], ["5 a second", 5], ["20 a second", 20], ["100 a second", 100]];
const SPANS = { text: "plain", reasoning: "plain", markup: "odd", call: "call", drop: "drop" }; // their chips
const LONGEST_WAIT = 3; // seconds between two steps, when they come as they were recorded

const data = JSON.parse(at("data").textContent);
let model = null;
let chooser = null;
let now = 0;
let timer = 0;
let later = 0;

const frames = new VirtualList(at("frames"), 46, (row, n) => paintFrame(model, now, row, n), (n) => go(n));
const events = new VirtualList(at("events"), 46, (row, n) => paintEvent(model, now, row, n), (n) => go(model.events[n].step));

function go(step) {
  now = Math.min(Math.max(step, 0), model.steps.length - 1);
  at("slider").value = now;
  const here = model.steps[now];
  frames.show(now);
  at("frames").setAttribute("aria-activedescendant", `frames-${now}`);
  fill(at("frame"), here.data || (here.end ? "" : "(nothing)"));
  showSpans(here.spans);
  drawCalls(at("calls"), model, now);
  showEvents();
  drawTicks(at("ticks"), model, now);
  const time = here.time === null ? "" : `  ${here.time.toFixed(3)} s`;
  at("where").textContent = `step ${now} of ${model.steps.length - 1}  byte ${here.offset.toLocaleString("en")}${time}`;
  at("status").textContent = visible(description(here));
  at("slider").setAttribute("aria-valuetext", at("where").textContent);
  for (const id of ["first", "back", "markBack"]) at(id).disabled = now === 0;
  for (const id of ["next", "last", "markNext"]) at(id).disabled = now === model.steps.length - 1;
  clearTimeout(later);
  later = setTimeout(() => history.replaceState(null, "", `#${data.recordings.indexOf(model.source)}.${now}`), 400);
}

// Shows what the parts of the text are that this step decided, where calls in text are read.
function showSpans(spans) {
  for (const id of ["hSpans", "spans"]) at(id).hidden = !model.hasSpans;
  if (!model.hasSpans) return at("spans").replaceChildren();
  const parts = spans.flatMap(({ kind, text }) => [
    chip(SPANS[kind], kind),
    element("span", "", ` ${text.slice(0, MAX_SHOWN)}`),
    text.length > MAX_SHOWN ? textAfter(text.length - MAX_SHOWN) : "",
    "\n",
  ]);
  return at("spans").replaceChildren(...(parts.length ? parts : [element("span", "cut", "(nothing was decided)")]));
}

function showEvents() {
  const first = model.firstEvent[now];
  const last = model.firstEvent[now + 1];
  if (last > first) events.show(first, last - 1);
  else if (first > 0) events.show(first - 1);
  else events.show(0);
  const written = model.steps[now].events.map((event) => JSON.stringify(event, null, 2)).join("\n");
  fill(at("event"), written || "(no event)");
}

// Says what a step did, for those who cannot see it.
function description(step) {
  const facts = step.changes.map((change) => {
    const phase = change.before === change.after ? "" : ` ${change.after}`;
    const end = change.outcome === "dropped" ? `, dropped: ${change.reason}` : change.outcome ? `, ${change.outcome}` : "";
    const added = change.added ? `, ${change.replaced ? "replaced by" : "added"} ${counted(change.added.length, "character")}` : "";
    return `${labelOf(change)}${phase}${added}${end}`;
  });
  facts.push(...step.anomalies.map((one) => `odd: ${one}`));
  facts.push(...step.events.filter((event) => event.type === "stream_fault").map((event) => `fault: ${event.kind}: ${event.detail}`));
  facts.push(...step.events.filter((event) => event.type === "turn_finished").map((event) => `the turn ended: ${event.reason}`));
  return facts.join(" · ") || "nothing changed for any call";
}

// Shows a recording, from a step on; without one, where a call ended for the first time.
function load(number, step) {
  pause();
  const source = data.recordings[number];
  model = new Model(source);
  model.source = source;
  chooser.show(number);
  at("name").textContent = visible(model.name);
  at("origin").textContent = visible(model.origin || "unknown dialect");
  document.title = `${visible(model.name)} · wholecall inspect`;
  const { calls, drops, faults } = model.sums;
  const sums = [chip("plain", counted(model.steps.length, "step")), chip("call", counted(calls, "call"))];
  if (drops) sums.push(chip("drop", `${drops} dropped`));
  if (faults) sums.push(chip("fault", counted(faults, "fault")));
  at("sums").replaceChildren(...sums);
  at("slider").max = model.steps.length - 1;
  offerPaces();
  frames.reset(model.steps.length);
  events.reset(model.events.length);
  go(step ?? model.opening);
}

function offerPaces() {
  const paces = model.isTimed ? [...PACES, ["as recorded", 0]] : PACES;
  at("pace").replaceChildren(...paces.map(([text, pace]) => option(pace, text)));
  at("pace").value = "5";
}

// Playing.

function pause() {
  clearTimeout(timer);
  timer = 0;
  at("play").textContent = "play";
  at("play").setAttribute("aria-label", "Play");
}

function play() {
  if (now === model.steps.length - 1) go(0);
  at("play").textContent = "pause";
  at("play").setAttribute("aria-label", "Pause");
  timer = setTimeout(tick, wait());
}

function tick() {
  go(now + 1);
  if (now === model.steps.length - 1) pause();
  else timer = setTimeout(tick, wait());
}

function wait() {
  const pace = Number(at("pace").value);
  if (pace > 0) return 1000 / pace;
  const gap = (model.steps[now + 1].time ?? 0) - (model.steps[now].time ?? 0);
  return 1000 * Math.min(Math.max(gap, 0), LONGEST_WAIT);
}

const toggle = () => (timer ? pause() : play());

// Controls.

const ACTIONS = {
  first: () => go(0),
  back: () => go(now - 1),
  next: () => go(now + 1),
  last: () => go(model.steps.length - 1),
  play: toggle,
  markBack: () => go(model.markFrom(now, -1)),
  markNext: () => go(model.markFrom(now, 1)),
};
const KEYS = {
  ArrowLeft: (far) => go(now - (far ? 10 : 1)),
  ArrowRight: (far) => go(now + (far ? 10 : 1)),
  ArrowUp: (far) => go(now - (far ? 10 : 1)),
  ArrowDown: (far) => go(now + (far ? 10 : 1)),
  PageUp: () => go(now - 10),
  PageDown: () => go(now + 10),
  Home: ACTIONS.first,
  End: ACTIONS.last,
  " ": toggle,
  n: ACTIONS.markNext,
  p: ACTIONS.markBack,
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const focus = event.target;
  if (focus.matches("[type=search]")) return;
  const isText = focus.matches("select, pre, .cards") && event.key !== "n" && event.key !== "p";
  if (isText || (focus.matches("button") && event.key === " ")) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action(event.shiftKey);
}

function start() {
  for (const [id, action] of Object.entries(ACTIONS)) at(id).addEventListener("click", action);
  at("slider").addEventListener("input", () => go(Number(at("slider").value)));
  document.addEventListener("keydown", pressed);
  followTheme(() => model && drawTicks(at("ticks"), model, now));
  const [number, step] = location.hash.slice(1).split(".").map((text) => (text ? Number(text) : undefined));
  chooser = new Chooser(data.recordings, load);
  load(data.recordings[number] ? number : 0, Number.isInteger(step) ? step : undefined);
  new ResizeObserver(() => drawTicks(at("ticks"), model, now)).observe(at("ticks"));
}

start();
