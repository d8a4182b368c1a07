
// The calls as they are after a step, a card each.

const MAX_CARDS = 60;
const MAX_TEXT = 6000; // characters of a text that are shown: the last ones, where it grows
const MAX_MARKED = 20000; // of a text that is shown whole because characters in it are marked

function drawCalls(place, model, step) {
  const all = model.calls.map((call) => callAt(call, step)).filter(Boolean);
  const shown = all.length <= MAX_CARDS ? all : mostTelling(all);
  const cards = shown.map(card);
  if (all.length > shown.length) {
    cards.unshift(element("p", "empty", `${counted(all.length - shown.length, "call")} that are over are not shown`));
  }
  if (!all.length) cards.push(element("p", "empty", "No call has begun."));
  place.replaceChildren(...cards);
  const touched = place.querySelector(".touched");
  if (touched) bring(place, touched);
  for (const text of place.querySelectorAll("pre")) {
    const added = text.querySelector("mark:not(.edited)"); // what is new, or what a drop names
    text.scrollTop = added ? added.offsetTop - text.offsetTop - 100 : text.scrollHeight;
  }
}

// Brings a card into sight, and scrolls nothing but the cards.
function bring(place, card) {
  const top = card.offsetTop - place.offsetTop - 10;
  const room = place.clientHeight - card.offsetHeight - 20;
  if (top < place.scrollTop || room < 0) place.scrollTop = top;
  else if (top > place.scrollTop + room) place.scrollTop = top - room;
}

// Of many calls those that just changed, then those that are open, then the latest.
function mostTelling(all) {
  const worth = (call) => (call.touched ? 2 : 0) + (call.end ? 0 : 1);
  const order = all.map((call, n) => [worth(call), n]).sort((a, b) => b[0] - a[0] || b[1] - a[1]);
  const kept = new Set(order.slice(0, MAX_CARDS).map(([, n]) => n));
  return all.filter((_, n) => kept.has(n));
}

function card(call) {
  const isDropped = call.end !== null && call.end.outcome === "dropped";
  const made = element("article", "card");
  made.classList.toggle("touched", call.touched);
  made.classList.toggle("over", call.end !== null);
  made.classList.toggle("dropped", isDropped);
  made.append(headOf(call), textOf(call));
  if (isDropped && call.event.detail) made.append(element("p", "why", call.event.detail));
  const notes = notesOf(call);
  if (notes.childElementCount) made.append(notes);
  return made;
}

function headOf(call) {
  const head = element("div", "head");
  const phase = call.touched && call.before && call.before !== call.phase ? `${call.before} → ${call.phase}` : call.phase;
  head.append(element("span", "dim", call.label));
  head.append(call.name === null ? element("span", "name none", "no name yet") : element("span", "name", call.name));
  head.append(chip("phase", phase));
  if (call.end) {
    const isDropped = call.end.outcome === "dropped";
    head.append(chip(isDropped ? "drop" : "call", isDropped ? `dropped: ${call.end.reason}` : call.end.outcome));
  }
  if (call.kind !== "function") head.append(chip("plain", call.kind));
  head.append(element("span", "id", call.id ?? "no id yet"));
  head.append(element("span", "size", counted(Array.from(call.text).length, "character")));
  return head;
}

function textOf(call) {
  const place = element("pre");
  if (!call.text) {
    place.append(element("span", "cut", call.end ? "no text" : "no text yet"));
    return place;
  }
  const places = placesOf(call);
  if (places.length) {
    place.append(...withMarks(call.text, places));
    return place;
  }
  const added = call.touched ? call.from : call.text.length;
  const first = Math.min(Math.max(call.text.length - MAX_TEXT, 0), added);
  const last = Math.min(first + 2 * MAX_TEXT, call.text.length);
  if (first > 0) place.append(textBefore(first));
  place.append(element("span", "", call.text.slice(first, added)));
  if (added < last) {
    const isReplaced = call.touched && call.change.replaced;
    place.append(element("mark", isReplaced ? "replaced" : "", call.text.slice(added, last)));
  }
  if (last < call.text.length) place.append(textAfter(call.text.length - last));
  return place;
}

const textBefore = (n) => element("span", "cut", `… ${counted(n, "character")} before\n`);
const textAfter = (n) => element("span", "cut", `\n… ${counted(n, "character")} more`);

// Returns which characters to mark in a call that is over: [offset, class], in order; its edits, or what its drop names.
function placesOf(call) {
  if (!call.end) return [];
  const edits = new Set(call.end.edits.map((edit) => edit.offset));
  const named = /; see character (\d+)$/.exec(call.event?.detail ?? "");
  const places = [...edits].map((offset) => [offset, "edited"]);
  if (named && !edits.has(Number(named[1]))) places.push([Number(named[1]), "named"]);
  return places.sort(([one], [other]) => one - other);
}

// Offsets count characters, of which some take two places in a string. Of a long text the part round the first one is
// shown. What comes after the last character is marked as an empty place.
function withMarks(text, places) {
  const chars = Array.from(text);
  const isLong = chars.length > MAX_MARKED;
  const first = isLong ? Math.max(places[0][0] - MAX_TEXT, 0) : 0;
  const last = isLong ? Math.min(first + 2 * MAX_TEXT, chars.length) : chars.length;
  const pieces = first > 0 ? [textBefore(first)] : [];
  let done = first;
  for (const [offset, kind] of places) {
    if (offset > last) break;
    pieces.push(element("span", "", chars.slice(done, offset).join("")), element("mark", kind, chars[offset] ?? ""));
    done = offset + 1;
  }
  pieces.push(element("span", "", chars.slice(done, last).join("")));
  if (last < chars.length) pieces.push(textAfter(chars.length - last));
  return pieces;
}

function notesOf(call) {
  const notes = element("div", "notes chips");
  if (call.touched && call.change.replaced) notes.append(chip("odd", "this frame replaced the text"));
  if (call.hole) notes.append(chip("odd", "text that may be its was lost"));
  for (const fact of call.event?.facts ?? []) notes.append(chip("odd", fact));
  for (const flag of call.flags) notes.append(chip("odd", flag === "from_text" && call.format ? `${flag} (${call.format})` : flag));
  for (const edit of call.end ? call.end.edits : []) notes.append(chip("edit", `${edit.kind} at character ${edit.offset}`));
  return notes;
}
