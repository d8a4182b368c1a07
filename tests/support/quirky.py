"""Quirky chat streams from a seed, and the two rules that judge the calls read from them.

    python tests/support/quirky.py --count 100000 --seed 0

A case begins as intended calls with random arguments. Each is cut into pieces as a well-behaved server sends
them; then one quirk mode, or a pair, bends the pieces (`MODES`). The rules (`judge`):

1. no unsent call is emitted;
2. if the case is decidable, exactly the sent calls are emitted, in order of first appearance.

The pieces, not the modes, determine whether a case is decidable. `_Reader` knows the truth and goes through the pieces
in order of arrival. It checks that the labels of each point at its call and at no other, given the wire so far. It
knows sufficient conditions only; all other cases are undecidable (rule 1 still holds). A few shapes are on the wire
identical to another, honest stream; no parser can keep even rule 1 there. They are *excused* and counted separately.
`DOUBTS` lists the shapes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from multiprocessing import Pool
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# --- words ---------------------------------------------------------------------------------------------------

NAMES = ("go", "got", "get", "get_tide", "get_tide_at", "read", "read_file", "set", "f", "now", "multi.use")
KEYS = ("a", "b", "path", "city", "name", "arguments", "index", "a b", "", "{", 'q"', "ключ", "\\", "id")
HOSTILE = (
    "", " ", "{}", "{", "}", "[", "]", '"', "\\", '\\"', '"}', '{"a":1}', '{"a": {"b": "c"}}', "[1,2]", "null",
    '"},{"', "},", ",}", "// x", "/* y */", "# z", "True", "None", "'", "''", "```json\n{}\n```", "</tool_call>",
    "<|im_end|>", '{"index":0,"id":"call_1"}', "data: [DONE]", "\n", "\t", "\r\n", "a\u2028b", "C:\\new\\table",
    "&amp;&quot;", "жар", "日本", "\U0001f30a", "e\u0301", "\x00", "\x1f", "x" * 40, "rm -rf /tmp/x", "1e5", "-0",
)  # fmt: skip
JUNK = (" ", "\n", "}", "</tool_call>", "<|im_end|>")  # readable after a complete object
TERMINALS = {
    "tool_calls": "tool_calls",
    "stop": "stop",
    "length": "length",
    "content_filter": "content_filter",
}


class _Absent:
    def __repr__(self) -> str:
        return "-"


ABSENT: Any = _Absent()


# --- the parts of a case --------------------------------------------------------------------------------------


@dataclass
class Intent:
    """A call that the server means to send."""

    name: str
    arguments: dict[str, Any]
    raw: str | None
    id: Any
    choice: int = 0
    index: int = 0
    cut: bool = False

    @property
    def pair(self) -> tuple[str, dict[str, Any]]:
        """The name and the arguments."""
        return self.name, self.arguments


@dataclass
class Piece:
    """An entry of `tool_calls`, with the truth: its call and the intended sense of its text.

    `sense` is `delta`, `snapshot`, `repeat`, `placeholder`, `junk` or `whole` (an object as the value).
    """

    call: int
    choice: int
    index: Any = ABSENT
    id: Any = ABSENT
    name: Any = ABSENT
    text: Any = ABSENT
    sense: str = "delta"
    under: str = "arguments"
    flat: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """Return the piece as an entry of `tool_calls`."""
        entry = {k: v for k, v in (("index", self.index), ("id", self.id)) if v is not ABSENT}
        inner = {k: v for k, v in (("name", self.name), (self.under, self.text)) if v is not ABSENT}
        if self.flat:
            return {**entry, **inner, **self.extra}
        if "function" in self.extra:
            inner = {**inner, **self.extra["function"]}
        return {**entry, "type": "function", **self.extra, "function": inner}


@dataclass
class Draft:
    """A draft of a case, which the modes bend."""

    rng: random.Random
    modes: tuple[str, ...]
    intents: list[Intent] = field(default_factory=list)
    tracks: list[list[Piece]] = field(default_factory=list)
    order: str = "sequential"
    ending: str = "tool_calls"
    bundle: bool = False
    same_chunk_finish: bool = False
    noise: bool = False
    legacy: bool = False
    restate: str = ""
    as_object: bool = False
    chunk_ids: bool = False
    null_finish: Any = None


@dataclass
class Case:
    """A stream, the intended calls, and the requirements on a parser."""

    seed: str
    modes: tuple[str, ...]
    frames: list[dict[str, Any] | str]
    sent: list[tuple[str, dict[str, Any]]]
    cut: list[tuple[str, dict[str, Any]]]
    doubts: tuple[str, ...]
    ascii: bool

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The decoded payloads, without comments and `[DONE]`."""
        return [frame for frame in self.frames if isinstance(frame, dict)]

    @property
    def decidable(self) -> bool:
        """Whether exactly the sent calls must be emitted."""
        return not self.doubts

    @property
    def excused(self) -> bool:
        """Whether the wire is identical to that of other calls, so that no parser could do right."""
        return any(DOUBTS[doubt].excused for doubt in self.doubts)

    def bytes(self, newline: str = "\n") -> bytes:
        """Return the stream as server-sent events."""
        lines = []
        for frame in self.frames:
            text = frame if isinstance(frame, str) else "data: " + _dump(frame, escape=self.ascii)
            lines.append(text + newline * 2)
        return "".join(lines).encode()


def _dump(value: object, *, escape: bool) -> str:
    text = json.dumps(value, ensure_ascii=escape, separators=(",", ":"))
    if not escape and any("\ud800" <= c <= "\udfff" for c in text):
        return json.dumps(value, separators=(",", ":"))
    return text


# --- random calls -----------------------------------------------------------------------------------------------


def _random_string(rng: random.Random) -> str:
    return "".join(rng.choice(HOSTILE) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def _random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.random()
    if kind < 0.55 or depth <= 0:
        return _random_string(rng)
    if kind < 0.75:
        return rng.choice((0, 1, -1, 12, 2**53 + 1, 10**20, 0.5, -2.5e-9, 1e16, True, False, None))
    if kind < 0.88:
        return random_arguments(rng, depth - 1)
    return [_random_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]


def random_arguments(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    """Return a random object whose strings hold braces, quotes and JSON-looking text."""
    return {rng.choice(KEYS): _random_value(rng, depth) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))}


def _pieces_of(rng: random.Random, text: str, most: int = 6) -> list[str]:
    """Cut a text at random places; no piece is empty unless the text is."""
    count = min(rng.randint(1, most), len(text))
    if count <= 1:
        return [text]
    cuts = sorted(rng.sample(range(1, len(text)), count - 1))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _intents(rng: random.Random) -> list[Intent]:
    count = rng.choice((1, 2, 2, 2, 3, 3, 4))
    pool = rng.sample(NAMES, rng.randint(1, 3))
    style = rng.choice(((",", ":"), (", ", ": ")))
    escape = rng.random() < 0.3
    intents: list[Intent] = []
    for number in range(count):
        arguments = random_arguments(rng)
        if intents and rng.random() < 0.12:
            arguments = rng.choice(intents).arguments
        raw: str | None = json.dumps(arguments, ensure_ascii=escape, separators=style)
        if not arguments:
            raw = rng.choice(("{}", "{}", "", None, "null", "{ }"))
        ident = f"call_{rng.randrange(16**6):06x}"
        intents.append(Intent(rng.choice(pool), arguments, raw, ident, index=number))
    return intents


def _track(rng: random.Random, number: int, intent: Intent) -> list[Piece]:
    """Cut one call as a well-behaved server does: labels once, then text under its index."""
    texts = _pieces_of(rng, intent.raw) if intent.raw else [intent.raw if intent.raw is not None else ABSENT]
    head = Piece(number, intent.choice, intent.index, intent.id, intent.name, ABSENT)
    if rng.random() < 0.5 or texts == [""]:
        head.text = texts.pop(0)
    elif rng.random() < 0.7:
        head.text = ""
    return [head, *(Piece(number, intent.choice, intent.index, text=t) for t in texts if t is not ABSENT)]


# --- quirk modes --------------------------------------------------------------------------------------------------


class Mode(NamedTuple):
    """A quirk. Modes of the same `axis` (the part that is bent) exclude each other unless `COMPATIBLE` allows them."""

    axis: str
    bend: Callable[[Draft], None]
    early: bool = False  # bends the intents, before they are cut into pieces


MODES: dict[str, Mode] = {}


def _mode(axis: str, *, early: bool = False) -> Callable[[Callable[[Draft], None]], Callable[[Draft], None]]:
    def register(bend: Callable[[Draft], None]) -> Callable[[Draft], None]:
        MODES[bend.__name__.strip("_")] = Mode(axis, bend, early)
        return bend

    return register


def _all(draft: Draft) -> Iterable[Piece]:
    return (piece for track in draft.tracks for piece in track)


def _later(draft: Draft) -> Iterable[Piece]:
    return (piece for track in draft.tracks for piece in track[1:])


@_mode("none")
def _plain(draft: Draft) -> None:
    """Nothing odd."""


@_mode("index")
def _index_missing(draft: Draft) -> None:
    for piece in _all(draft):
        piece.index = ABSENT


@_mode("index")
def _index_null(draft: Draft) -> None:
    for piece in _all(draft):
        piece.index = None


@_mode("index")
def _index_zero(draft: Draft) -> None:
    for piece in _all(draft):
        piece.index = 0


@_mode("index")
def _index_sparse(draft: Draft) -> None:
    numbers = draft.rng.sample((1, 2, 3, 7, 40, 10**9, 2**53), len(draft.tracks))
    for piece in _all(draft):
        piece.index = numbers[piece.call]


@_mode("index")
def _index_from_one(draft: Draft) -> None:
    for piece in _all(draft):
        piece.index += 1


@_mode("index")
def _index_odd_type(draft: Draft) -> None:
    odd = draft.rng.choice((str, float))
    for piece in _all(draft):
        piece.index = odd(piece.index)


@_mode("index")
def _index_incremented(draft: Draft) -> None:
    heads = draft.rng.choice(("own", "zero"))
    step = draft.rng.choice((0, 1))
    for track in draft.tracks:
        first = track[0].index if heads == "own" else 0
        for number, piece in enumerate(track):
            piece.index = first + (1 + step * (number - 1) if number else 0)


@_mode("index")
def _index_reused(draft: Draft) -> None:
    for piece in _all(draft):
        piece.index //= 2


@_mode("index")
def _index_only_first(draft: Draft) -> None:
    for piece in _later(draft):
        piece.index = ABSENT


@_mode("id")
def _id_blank_later(draft: Draft) -> None:
    blank = draft.rng.choice(("", "  ", "null", "None", None))
    for piece in _later(draft):
        piece.id = blank


@_mode("id")
def _id_missing(draft: Draft) -> None:
    blank = draft.rng.choice((ABSENT, ABSENT, None, "", "null"))
    for piece in _all(draft):
        piece.id = blank
    for intent in draft.intents:
        intent.id = blank


@_mode("id")
def _id_number(draft: Draft) -> None:
    for piece in _all(draft):
        if piece.id is not ABSENT:
            piece.id = piece.call
    for number, intent in enumerate(draft.intents):
        intent.id = number


def _fresh(draft: Draft) -> str:
    return f"chatcmpl-tool-{draft.rng.randrange(16**8):08x}"


@_mode("id")
def _id_churn(draft: Draft) -> None:
    for piece in _later(draft):
        piece.id = _fresh(draft)


@_mode("id")
def _id_churn_once(draft: Draft) -> None:
    for track in draft.tracks:
        other = _fresh(draft)
        for piece in track[1:]:
            piece.id = other


@_mode("id")
def _id_churn_named(draft: Draft) -> None:
    for piece in _later(draft):
        piece.id = _fresh(draft)
        if not _name(piece.name):
            piece.name = draft.intents[piece.call].name


@_mode("id")
def _id_late(draft: Draft) -> None:
    second = draft.rng.random() < 0.5
    for track in draft.tracks:
        if len(track) > 1:
            track[1 if second else -1].id, track[0].id = track[0].id, ABSENT


@_mode("id")
def _id_repeated(draft: Draft) -> None:
    for track in draft.tracks:
        for piece in track[1:]:
            piece.id = track[0].id


@_mode("id")
def _id_same(draft: Draft) -> None:
    for piece in _all(draft):
        if piece.id is not ABSENT:
            piece.id = "call_1"
    for intent in draft.intents:
        intent.id = "call_1"


@_mode("id")
def _id_same_repeated(draft: Draft) -> None:
    _id_same(draft)
    _id_repeated(draft)


@_mode("name")
def _name_repeated(draft: Draft) -> None:
    for track in draft.tracks:
        for piece in track[1:]:
            piece.name = track[0].name


@_mode("name")
def _name_split(draft: Draft) -> None:
    for track in draft.tracks:
        head, name = track[0], track[0].name
        if len(name) < 2:
            continue
        place = draft.rng.randint(1, len(name) - 1)
        if head.text is not ABSENT and head.text:
            rest = Piece(
                head.call, head.choice, head.index, text=head.text, sense=head.sense, under=head.under
            )
            track.insert(1, rest)
            head.text = ABSENT
        head.name = name[:place]
        track.insert(1, Piece(head.call, head.choice, head.index, name=name[place:]))


@_mode("name")
def _name_late(draft: Draft) -> None:
    for track in draft.tracks:
        head = track[0]
        name, head.name = head.name, draft.rng.choice((ABSENT, None))
        if len(track) == 1 or draft.rng.random() < 0.3:
            track.append(Piece(head.call, head.choice, head.index))
        track[draft.rng.randint(1, len(track) - 1)].name = name


@_mode("name")
def _name_empty_first(draft: Draft) -> None:
    for track in draft.tracks:
        head = track[0]
        if len(track) == 1:
            track.append(Piece(head.call, head.choice, head.index))
        track[1].name, head.name = head.name, draft.rng.choice(("", " "))


@_mode("name")
def _name_null_later(draft: Draft) -> None:
    blank = draft.rng.choice((None, "", "  "))
    for piece in _later(draft):
        piece.name = blank


@_mode("name")
def _name_padded(draft: Draft) -> None:
    form = draft.rng.choice((" {} ", "{}\n", "\t{}"))
    for piece in _all(draft):
        if piece.name is not ABSENT and piece.name:
            piece.name = form.format(piece.name)


@_mode("arguments")
def _arguments_null_first(draft: Draft) -> None:
    for track in draft.tracks:
        head = track[0]
        if head.text is not ABSENT and head.text:
            rest = Piece(
                head.call, head.choice, head.index, text=head.text, sense=head.sense, under=head.under
            )
            track.insert(1, rest)
        head.text = None


@_mode("arguments")
def _arguments_object(draft: Draft) -> None:
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        if not intent.cut:
            del track[1:]
            track[0].text, track[0].sense = intent.arguments, "whole"


@_mode("arguments")
def _object_later(draft: Draft) -> None:
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        if not intent.cut:
            head = track[0]
            head.text = draft.rng.choice((ABSENT, "", None))
            whole = Piece(head.call, head.choice, head.index, text=intent.arguments, sense="whole")
            track[1:] = [whole]


@_mode("arguments")
def _snapshots(draft: Draft) -> None:
    for track in draft.tracks:
        text = ""
        for piece in track:
            if isinstance(piece.text, str) and piece.sense == "delta":
                text += piece.text
                piece.text, piece.sense = text, "snapshot"


def _object_text(track: list[Piece]) -> str:
    texts = [piece.text for piece in track if isinstance(piece.text, str) and piece.sense != "placeholder"]
    return texts[-1] if any(piece.sense == "snapshot" for piece in track) else "".join(texts)


@_mode("arguments")
def _full_repeat(draft: Draft) -> None:
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        text = _object_text(track)
        if text.startswith("{") and not intent.cut:
            head = track[0]
            track.append(Piece(head.call, head.choice, head.index, text=text, sense="repeat"))


@_mode("arguments")
def _placeholder(draft: Draft) -> None:
    for track in draft.tracks:
        head = track[0]
        if head.text is not ABSENT and head.text:
            rest = Piece(head.call, head.choice, head.index, text=head.text, sense=head.sense)
            track.insert(1, rest)
        head.text, head.sense = "{}", "placeholder"


@_mode("arguments")
def _other_field(draft: Draft) -> None:
    name = draft.rng.choice(("parsed_arguments", "args", "input", "parameters"))
    as_object = name == "parsed_arguments" or draft.rng.random() < 0.5
    masked = draft.rng.random() < 0.3
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        if as_object and not intent.cut:
            del track[1:]
            track[0].text, track[0].sense = intent.arguments, "whole"
        for piece in track:
            piece.under = name
            if masked:
                piece.extra["function"] = {"arguments": ""}


@_mode("arguments")
def _flat(draft: Draft) -> None:
    name = draft.rng.choice(("arguments", "args", "input", "parameters"))
    for piece in _all(draft):
        piece.under, piece.flat = name, True


@_mode("arguments", early=True)
def _double_encoded(draft: Draft) -> None:
    for intent in draft.intents:
        if intent.raw and intent.raw.startswith("{"):
            intent.raw = json.dumps(intent.raw)


@_mode("arguments")
def _trailing_junk(draft: Draft) -> None:
    junk, apart = draft.rng.choice(JUNK), draft.rng.random() < 0.5
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        last = track[-1]
        if intent.cut or not (isinstance(last.text, str) and last.text.rstrip().endswith("}")):
            continue
        if apart:
            track.append(Piece(last.call, last.choice, last.index, text=junk, sense="junk"))
        else:
            last.text += junk


@_mode("arguments")
def _split_surrogates(draft: Draft) -> None:
    for track in draft.tracks:
        for place in range(len(track) - 1, -1, -1):
            piece = track[place]
            wide = (
                [n for n, c in enumerate(piece.text or "") if c > "\uffff"]
                if piece.text is not ABSENT
                else []
            )
            if not wide:
                continue
            cut, code = wide[0], ord(piece.text[wide[0]]) - 0x10000
            rest = chr(0xDC00 + (code & 0x3FF)) + piece.text[cut + 1 :]
            piece.text = piece.text[:cut] + chr(0xD800 + (code >> 10))
            track.insert(place + 1, Piece(piece.call, piece.choice, piece.index, text=rest))


@_mode("arguments")
def _single_characters(draft: Draft) -> None:
    for number, (track, intent) in enumerate(zip(draft.tracks, draft.intents, strict=True)):
        text = (intent.raw or "")[:60]
        if intent.cut or text != (intent.raw or ""):
            continue
        track[0].text = ""
        track[1:] = [Piece(number, intent.choice, intent.index, text=char) for char in text]


@_mode("order")
def _interleaved(draft: Draft) -> None:
    draft.order = "round"


@_mode("order")
def _interleaved_randomly(draft: Draft) -> None:
    draft.order = "random"


@_mode("order")
def _heads_first(draft: Draft) -> None:
    draft.order = "heads"


@_mode("envelope")
def _whole_delta(draft: Draft) -> None:
    for track, intent in zip(draft.tracks, draft.intents, strict=True):
        if intent.raw is not None:
            del track[1:]
            track[0].text = intent.raw


@_mode("envelope")
def _two_entries(draft: Draft) -> None:
    draft.bundle = True


@_mode("envelope")
def _as_object(draft: Draft) -> None:
    draft.as_object = True


@_mode("envelope")
def _noise(draft: Draft) -> None:
    draft.noise = True


@_mode("envelope")
def _message_at_end(draft: Draft) -> None:
    draft.restate = "end"


@_mode("envelope")
def _message_only(draft: Draft) -> None:
    draft.restate = "only"


@_mode("envelope", early=True)
def _legacy(draft: Draft) -> None:
    draft.legacy = True
    del draft.intents[1:]


@_mode("envelope", early=True)
def _two_choices(draft: Draft) -> None:
    counts: Counter[int] = Counter()
    for intent in draft.intents:
        intent.choice = draft.rng.randint(0, 1)
        intent.index = counts[intent.choice]
        counts[intent.choice] += 1


@_mode("envelope")
def _chunk_ids(draft: Draft) -> None:
    draft.chunk_ids = True


@_mode("envelope")
def _odd_types(draft: Draft) -> None:
    for piece in _all(draft):
        if not piece.flat:
            piece.extra.update(
                draft.rng.choice(({"type": None}, {"type": ""}, {"custom": {}}, {"custom": None}))
            )


def _ending(name: str) -> Callable[[Draft], None]:
    def bend(draft: Draft) -> None:
        draft.ending = name

    bend.__name__ = name
    return bend


for _name in ("stop", "no_finish", "no_done", "two_finishes", "early_finish", "same_chunk", "late_null",
              "length", "content_filter", "end_of_stream"):  # fmt: skip
    _mode("ending")(_ending(f"ends_{_name}"))


def _cutting(name: str) -> Callable[[Draft], None]:
    def bend(draft: Draft) -> None:
        draft.ending = name
        intent = draft.intents[-1]
        if intent.raw is not None and len(intent.raw) > 2 and intent.arguments:
            intent.raw = intent.raw[: draft.rng.randint(1, len(intent.raw) - 1)]
            intent.cut = True

    bend.__name__ = name
    return bend


for _name in ("tool_calls", "length", "content_filter", "end_of_stream"):
    _mode("ending", early=True)(_cutting(f"cut_{_name}"))

COMPATIBLE = {
    frozenset(pair)
    for pair in (
        ("placeholder", "snapshots"),
        ("placeholder", "full_repeat"),
        ("snapshots", "full_repeat"),
        ("arguments_null_first", "full_repeat"),
        ("name_repeated", "name_padded"),
        ("name_empty_first", "name_padded"),
        ("two_entries", "noise"),
        ("two_entries", "two_choices"),
        ("noise", "message_at_end"),
        ("chunk_ids", "two_entries"),
    )
}
# Modes that leave nothing for the other mode to bend.
_POINTLESS = {
    frozenset(pair)
    for pair in (
        ("message_only", "same_chunk"),
        ("whole_delta", "single_characters"),
        ("double_encoded", "legacy"),
    )
}
# The order of bending: text first, then whole calls, then labels.
_AXES = ("none", "envelope", "arguments", "name", "id", "index", "order", "ending")
PAIRS = tuple(
    tuple(sorted(pair, key=lambda name: (_AXES.index(MODES[name].axis), list(MODES).index(name))))
    for pair in combinations(MODES, 2)
    if "plain" not in pair
    and frozenset(pair) not in _POINTLESS
    and (MODES[pair[0]].axis != MODES[pair[1]].axis or frozenset(pair) in COMPATIBLE)
)


# --- from a draft to a case --------------------------------------------------------------------------------------


def make(seed: str, modes: Sequence[str]) -> Case:
    """Return the case of a seed under the modes."""
    draft = Draft(random.Random(f"{seed}:{'+'.join(modes)}"), tuple(modes))
    draft.intents = _intents(draft.rng)
    for name in modes:
        if MODES[name].early:
            MODES[name].bend(draft)
    draft.tracks = [_track(draft.rng, number, intent) for number, intent in enumerate(draft.intents)]
    for name in modes:
        if not MODES[name].early:
            MODES[name].bend(draft)
    return _finish(seed, draft, _ordered(draft))


def make_numbered(seed: int, number: int) -> Case:
    """Return case `number` of a run: a mode or (mostly) a pair of modes, chosen at random."""
    rng = random.Random(f"{seed}:{number}")
    modes = (rng.choice(list(MODES)),) if rng.random() < 0.1 else rng.choice(PAIRS)
    return make(f"{seed}:{number}", modes)


def _ordered(draft: Draft) -> list[Piece]:
    tracks = [list(track) for track in draft.tracks]
    if draft.order == "sequential":
        return [piece for track in tracks for piece in track]
    pieces: list[Piece] = []
    if draft.order == "heads":
        return [track[0] for track in tracks] + [piece for track in tracks for piece in track[1:]]
    while any(tracks):
        left = [track for track in tracks if track]
        chosen = left if draft.order == "round" else [draft.rng.choice(left)]
        pieces += [track.pop(0) for track in chosen]
    return pieces


def _finish(seed: str, draft: Draft, pieces: list[Piece]) -> Case:
    early = draft.rng.randint(0, len(pieces)) if draft.ending == "ends_early_finish" else -1
    doubts = _doubts(draft, pieces, early)
    frames = _frames(draft, pieces, early)
    calls = _in_order(draft, pieces)
    sent = [intent.pair for intent in calls if not _is_lost(draft, intent)]
    cut = [intent.pair for intent in calls if _is_lost(draft, intent)]
    return Case(seed, draft.modes, frames, sent, cut, doubts, draft.rng.random() < 0.5)


def _is_lost(draft: Draft, intent: Intent) -> bool:
    """Return whether no call may be emitted: it was cut, or the turn was and its text does not prove it whole."""
    if intent.cut or draft.ending in {"ends_end_of_stream", "cut_end_of_stream"}:
        return True
    if draft.ending in {"ends_length", "cut_length", "ends_content_filter", "cut_content_filter"}:
        return not intent.arguments
    return False


def _in_order(draft: Draft, pieces: list[Piece]) -> list[Intent]:
    """Return the intents in order of choice and first appearance."""
    first: dict[int, int] = {}
    if draft.restate != "only":
        for place, piece in enumerate(pieces):
            if not _is_blank(piece):
                first.setdefault(piece.call, place)
    order = sorted(
        range(len(draft.intents)),
        key=lambda number: (draft.intents[number].choice, first.get(number, len(pieces)), number),
    )
    return [draft.intents[number] for number in order]


def _chunk(
    draft: Draft, choice: int, delta: dict[str, Any], finish: Any = None, **more: Any
) -> dict[str, Any]:
    ident = f"chatcmpl-{draft.rng.randrange(10**6)}" if draft.chunk_ids else "chatcmpl-1"
    inner = {"index": choice, "delta": delta, "finish_reason": finish, **more}
    return {"id": ident, "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [inner]}


def _frames(draft: Draft, pieces: list[Piece], early: int) -> list[dict[str, Any] | str]:
    choices = sorted({intent.choice for intent in draft.intents})
    if draft.ending == "ends_late_null":
        draft.null_finish = draft.rng.choice(("", "null"))
    frames: list[dict[str, Any] | str] = []
    frames += [_chunk(draft, choice, {"role": "assistant", "content": None}) for choice in choices]
    sent = [] if draft.restate == "only" else pieces
    for place, group in _groups(draft, sent):
        if 0 <= early <= place and early != -2:
            frames += [_chunk(draft, c, {}, draft.rng.choice(("stop", "tool_calls"))) for c in choices]
            early = -2
        frames.append(_chunk(draft, group[0].choice, _delta(draft, group), draft.null_finish))
    frames += _last_frames(draft, choices, frames)
    return _with_noise(draft, frames) if draft.noise else frames


def _groups(draft: Draft, pieces: list[Piece]) -> list[tuple[int, list[Piece]]]:
    groups: list[tuple[int, list[Piece]]] = []
    for place, piece in enumerate(pieces):
        last = groups[-1][1] if groups else []
        if draft.bundle and last and last[-1].choice == piece.choice and draft.rng.random() < 0.6:
            last.append(piece)
        else:
            groups.append((place, [piece]))
    return groups


def _delta(draft: Draft, group: list[Piece]) -> dict[str, Any]:
    if draft.legacy:
        inner = {k: v for k, v in (("name", group[0].name), ("arguments", group[0].text)) if v is not ABSENT}
        return {"function_call": inner}
    entries = [piece.entry() for piece in group]
    delta: dict[str, Any] = {"tool_calls": entries[0] if draft.as_object and len(entries) == 1 else entries}
    if draft.noise and draft.rng.random() < 0.2:
        delta["content"] = draft.rng.choice(("", "Let me see", '{"name": "go"}'))
    return delta


def _last_frames(draft: Draft, choices: list[int], frames: list[Any]) -> list[dict[str, Any] | str]:
    ending = draft.ending.partition("_")[2]
    reason: Any = TERMINALS.get(ending, "function_call" if draft.legacy else "tool_calls")
    last: list[dict[str, Any] | str] = []
    if ending in {"no_finish", "end_of_stream"}:
        reason = None
    if ending == "same_chunk" and len(choices) == 1 and not draft.restate:
        frames[-1]["choices"][0]["finish_reason"] = reason
    elif reason is not None or draft.restate:
        if ending == "two_finishes":
            last += [_chunk(draft, choice, {}, "stop") for choice in choices]
        for choice in choices:
            more = {"message": _message(draft, choice)} if draft.restate else {}
            last.append(_chunk(draft, choice, {}, reason, **more))
    if draft.rng.random() < 0.3:
        last.append(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "choices": [],
                "usage": {"total_tokens": 3},
            }
        )
    return last if ending in {"no_done", "end_of_stream"} else [*last, "data: [DONE]"]


def _message(draft: Draft, choice: int) -> dict[str, Any]:
    calls = []
    for intent in draft.intents:
        if intent.choice != choice or intent.cut:
            continue
        entry: dict[str, Any] = {} if intent.id is ABSENT else {"id": intent.id}
        function = {"name": intent.name, "arguments": json.dumps(intent.arguments)}
        calls.append({**entry, "type": "function", "function": function})
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _with_noise(draft: Draft, frames: list[dict[str, Any] | str]) -> list[dict[str, Any] | str]:
    empty = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
    noise: tuple[dict[str, Any] | str, ...] = (
        ": keep-alive",
        ": OPENROUTER PROCESSING",
        "data:",
        "event: ping\ndata: {}",
        "retry: 10",
        {**empty, "choices": [], "usage": None},
        {**empty, "choices": None},
        {**empty, "choices": [{"index": 0, "delta": {"tool_calls": []}, "finish_reason": None}]},
        {**empty, "choices": [{"index": 0, "delta": {"tool_calls": None, "content": ""}}]},
        {**empty, "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {**empty, "choices": [{"index": 0, "delta": {}, "obfuscation": "abc"}]},
    )
    mixed: list[dict[str, Any] | str] = []
    for frame in frames:
        if mixed and draft.rng.random() < 0.4:
            mixed.append(draft.rng.choice(noise))
        mixed.append(frame)
    return mixed


# --- decidable cases -----------------------------------------------------------------------------------------------


class Doubt(NamedTuple):
    """The reason that a case is undecidable; `excused`: another honest stream looks the same, so rule 1 cannot hold."""

    excused: bool
    why: str


DOUBTS = {
    # The shapes that no parser can decide.
    "empty_twin": Doubt(
        False, "a call without text on the index of another: an id that changed looks the same"
    ),
    "empty_open_churn": Doubt(False, "same index, same name, new id, and the open call has no text yet"),
    "split_or_second": Doubt(
        True, "no id or a known one, and another name before any text: a split name looks the same"
    ),
    "split_unlabelled": Doubt(True, "a split name without index and id, or with new ids, reads as two calls"),
    "mislabelled": Doubt(True, "the labels are those of another call that could take the text"),
    "unlabelled": Doubt(False, "no label tells which of several unfinished calls is meant"),
    "named_churn": Doubt(True, "new ids with the name repeated, interleaved with calls of that name"),
    "churned_repeat": Doubt(True, "anything behind complete text, under a new id and the name: two calls"),
    "unlabelled_repeat": Doubt(True, "a full repeat, or the text behind `{}`, with only the name: two calls"),
    "reads_as_new": Doubt(True, "every label is new and the name is given: a call of its own looks the same"),
    "one_id": Doubt(True, "unfinished calls of one name under one id: a changing index looks the same"),
    # Shapes that this generator does not vouch for: no call may be invented, none need be emitted.
    "name_only": Doubt(False, "only the name tells that a call begins, and the names are related"),
    "begins_anew": Doubt(
        False, "string content that looks like a new object comes under a new id or a bare name"
    ),
    "late_opening": Doubt(False, "a call without a new id opens after a finish reason"),
    "late_labels": Doubt(False, "a call opens without a name on labels that are in use, or gets them late"),
    "churned_index": Doubt(False, "new ids without a name, on no index or a new one"),
    "churned_hollow": Doubt(False, "a new id after `{}` or after complete text, without a name"),
    "hollow": Doubt(False, "a call that holds `{}` may still be waiting for its text"),
    "opened_inside": Doubt(False, "opened inside an unfinished call of the same name, which is then dropped"),
    "same_id": Doubt(False, "calls that have one id, and nothing else that tells them apart"),
    "snapshot_or_nested": Doubt(
        False, "a snapshot of text that ends where a value, or a brace in a key, may follow"
    ),
    "snapshot_or_cut": Doubt(
        True, "a cut object whose nested object begins as it does: a snapshot looks the same"
    ),
    "not_an_object": Doubt(False, "snapshots and placeholders are sound for objects only"),
    "junk": Doubt(False, "junk behind an empty object, in a cut turn, or between labels"),
    "restated": Doubt(False, "a restatement that lacks a call, or names several calls alike"),
    "silence": Doubt(False, "a call without text, of which no finish reason says that it ended"),
    "lost_text": Doubt(False, "the turn was cut, and the text is no plain object"),
    "legacy": Doubt(False, "the legacy field knows neither split nor repeated pieces"),
}


@dataclass
class _Seen:
    """The wire's statements about one call so far."""

    number: int
    cut: bool
    left: int
    ids: set[str] = field(default_factory=set)
    indices: set[int] = field(default_factory=set)
    name: str | None = None
    text: str = ""
    junk: bool = False
    full: bool = False  # the text is one complete object

    @property
    def hollow(self) -> bool:
        return self.full and self.text.strip(" {}") == ""

    @property
    def done(self) -> bool:
        return self.full and not self.hollow and not self.junk

    @property
    def live(self) -> bool:
        return not self.full


def _id(value: Any) -> str | None:
    if value is ABSENT or value is None or str(value).strip() in {"", "null", "None"}:
        return None
    return str(value)


def _name(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _index(value: Any) -> int | None:
    return None if value is ABSENT or value is None else int(value)


def _text(piece: Piece) -> str:
    if isinstance(piece.text, str):
        return piece.text
    return json.dumps(piece.text) if isinstance(piece.text, dict) else ""


def _is_blank(piece: Piece) -> bool:
    return not (_id(piece.id) or _name(piece.name) or _text(piece))


def _starts(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["}


def _related(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one.startswith(other) or other.startswith(one)


def _is_object(text: str) -> bool:
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class _Labels(NamedTuple):
    index: int | None
    id: str | None
    name: str | None
    text: str


class _Reader:
    """A reader of one choice's pieces in order of arrival, which notes undecidable points."""

    def __init__(self, draft: Draft, pieces: list[Piece]) -> None:
        self.draft = draft
        self.doubts: set[str] = set()
        self.seen: dict[int, _Seen] = {}
        self.left = Counter(piece.call for piece in pieces if _text(piece))
        self.finished = False

    def read(self, piece: Piece) -> None:
        """Judge a piece, then update its call."""
        if _is_blank(piece):
            return
        labels = _Labels(_index(piece.index), _id(piece.id), _name(piece.name), _text(piece))
        if self.draft.legacy:
            labels = labels._replace(index=0, id=None)
        me = self.seen.get(piece.call)
        if me is None:
            doubt = self._opening(labels) if self.seen or self.finished else None
            intent = self.draft.intents[piece.call]
            me = self.seen[piece.call] = _Seen(piece.call, intent.cut, self.left[piece.call])
            self._note_hollow_twin(me, labels)
        else:
            doubt = self._continuing(me, labels, piece)
        if doubt is not None:
            self.doubts.add(doubt)
        self._learn(me, labels, piece)

    def _note_hollow_twin(self, me: _Seen, at: _Labels) -> None:
        """A call that stays empty on the index of another may be taken for a tentative call, or for its repeat."""
        if me.left == 0 and any(at.index is None or at.index in c.indices for c in self._others(me)):
            self.doubts.add("empty_twin")
        inside = [c for c in self._others(me) if c.cut and c.name == at.name]
        if any(at.index is None or at.index in c.indices for c in inside):
            self.doubts.add("opened_inside")

    def _learn(self, me: _Seen, labels: _Labels, piece: Piece) -> None:
        if labels.id is not None:
            me.ids.add(labels.id)
        if labels.index is not None:
            me.indices.add(labels.index)
        if labels.name is not None:
            split = "name_split" in self.draft.modes and me.name is not None and me.text == ""
            me.name = me.name + labels.name if split and me.name else labels.name
        if not labels.text:
            return
        me.left -= 1
        if piece.sense in {"snapshot", "whole"}:
            self._note_snapshot(me, labels.text)
            me.text = labels.text
        elif piece.sense == "junk":
            me.junk = True
        elif piece.sense != "repeat":
            if me.hollow and not (piece.sense == "delta" and labels.text.strip()[:1] == "{"):
                self.doubts.add("not_an_object")
            if me.cut and me.text and labels.text.startswith(me.text):
                self.doubts.add("snapshot_or_cut")
            me.text = labels.text if me.hollow else me.text + labels.text
        if piece.sense != "junk":
            me.full = _is_object(me.text)

    def _note_snapshot(self, me: _Seen, text: str) -> None:
        if not me.text or me.hollow:
            if me.hollow and not text.startswith("{"):
                self.doubts.add("not_an_object")
            return
        if not me.text.startswith("{"):
            self.doubts.add("not_an_object")
        elif me.text.rstrip()[-1] in ":[," or me.text.split() == ['{"']:
            self.doubts.add("snapshot_or_nested")

    def _others(self, me: _Seen | None = None) -> list[_Seen]:
        return [call for call in self.seen.values() if call is not me]

    # The first piece of a call: does it read as a first piece?

    def _opening(self, at: _Labels) -> str | None:
        others = self._others()
        same_id = [c for c in others if at.id in c.ids] if at.id is not None else []
        same_index = [c for c in others if at.index in c.indices] if at.index is not None else []
        if self.finished and (at.id is None or same_id or at.name is None):
            return "mislabelled" if any(c.left for c in same_index) else "late_opening"
        if same_id:
            return self._opening_known_id(at, same_id, same_index)
        if at.id is not None:
            return self._opening_new_id(at, same_index)
        return self._opening_without_id(at, same_index)

    def _opening_known_id(self, at: _Labels, same_id: list[_Seen], same_index: list[_Seen]) -> str | None:
        if any(not c.done and c.left for c in same_id):
            return "one_id"
        if at.name is None:
            return "mislabelled"
        if (at.index is None or same_index) and any(not c.text for c in same_id):
            return "split_or_second"
        if not all(c.done for c in [*same_id, *same_index]):
            return "same_id"
        if at.index is not None and not same_index:
            return None
        if all(not _related(c.name, at.name) for c in same_id):
            return None
        return (
            None if _starts(at.text) and not any(at.text.startswith(c.text) for c in same_id) else "same_id"
        )

    def _opening_new_id(self, at: _Labels, same_index: list[_Seen]) -> str | None:
        if not same_index:
            if at.name is None and any(c.live and not c.ids for c in self._others()):
                return "mislabelled"
            return None
        open_calls = [c for c in same_index if not c.done]
        if not open_calls:
            return None if at.name is not None or _starts(at.text) else "late_labels"
        if at.name is not None and all(not _related(c.name, at.name) for c in open_calls):
            return None
        if any(c.left for c in open_calls):
            return "named_churn" if at.name is not None else "mislabelled"
        if at.name is None:
            return "mislabelled"
        return "empty_open_churn"

    def _opening_without_id(self, at: _Labels, same_index: list[_Seen]) -> str | None:
        others = self._others()
        if at.name is None:
            pool = same_index or others
            return "mislabelled" if any(not c.done for c in pool) else "late_labels"
        if at.index is not None and not same_index:
            return None
        pool = same_index or others
        open_calls = [c for c in pool if not c.done]
        if not open_calls:
            latest = pool[-1]
            if all(not _related(c.name, at.name) for c in pool):
                return None
            if latest.name != at.name and _related(latest.name, at.name):
                return "name_only"
            return (
                None
                if _starts(at.text) and not any(at.text.startswith(c.text) for c in pool)
                else "name_only"
            )
        if any(not c.text and not at.name.startswith(c.name or "") for c in same_index):
            return "split_or_second"
        if any(_related(c.name, at.name) for c in open_calls):
            return "mislabelled" if any(c.left or c.hollow for c in open_calls) else "name_only"
        if same_index:
            return self._unless_latest_open(pool)
        return "name_only" if any(not c.text for c in open_calls) else None

    @staticmethod
    def _unless_latest_open(pool: list[_Seen]) -> str | None:
        return None if not pool[-1].done and pool[-1].text else "name_only"

    # A later piece: does it read as this call's?

    def _continuing(self, me: _Seen, at: _Labels, piece: Piece) -> str | None:
        same_id = [c for c in self.seen.values() if at.id in c.ids] if at.id is not None else []
        same_index = [c for c in self.seen.values() if at.index in c.indices] if at.index is not None else []
        if at.name is not None and me.name is not None and at.name != me.name and me.text:
            return "split_unlabelled"
        if same_id:
            return self._known_id(me, at, same_id, same_index)
        if at.id is not None:
            return self._new_id(me, at, same_index)
        return self._without_id(me, at, same_index, piece)

    def _known_id(self, me: _Seen, at: _Labels, same_id: list[_Seen], same_index: list[_Seen]) -> str | None:
        if me not in same_id:
            return "mislabelled"
        others = [c for c in same_id if c is not me]
        if not others:
            if at.index is None or at.index in me.indices or at.name is None:
                return None
            if me.full:
                return "reads_as_new"
            return None if at.name == me.name else "late_labels"
        if [c for c in same_index if c in same_id] == [me] and (at.name is None or not me.full):
            return None
        if same_id[-1] is me and all(c.done for c in others) and (at.name is None or not me.full):
            repeated = any(at.index in c.indices and at.text == c.text for c in others)
            return "same_id" if repeated else None
        return "one_id"

    def _new_id(self, me: _Seen, at: _Labels, same_index: list[_Seen]) -> str | None:
        if me in same_index:
            return self._churn_on_index(me, at, [c for c in same_index if c is not me])
        if at.name is not None:
            if at.index is None and me.text and not me.full:
                return "begins_anew" if not same_index else "mislabelled"
            return "reads_as_new"
        if any(not c.done for c in same_index):
            return "mislabelled"
        others = [c for c in self._others(me) if c.live]
        if at.index is None and not me.ids and not me.full:
            return None if not others else "mislabelled"
        return "mislabelled" if any(not c.ids for c in others) else "churned_index"

    def _churn_on_index(self, me: _Seen, at: _Labels, others: list[_Seen]) -> str | None:
        if me.full:
            return "churned_repeat" if at.name is not None else "churned_hollow"
        if at.name is not None and me.name is None:
            return "late_labels" if not others else "mislabelled"
        if at.name is not None and at.name != me.name:
            return "split_unlabelled"
        if at.name is not None and _starts(at.text) and me.text and not at.text.startswith(me.text):
            return "begins_anew"
        if all(c.done for c in others):
            return None if not others or self._is_latest(me, others) else "late_labels"
        return "named_churn"

    def _without_id(self, me: _Seen, at: _Labels, same_index: list[_Seen], piece: Piece) -> str | None:
        if at.index is None:
            return self._without_labels(me, at, piece)
        if me in same_index:
            return self._on_own_index(me, at, [c for c in same_index if c is not me], piece)
        if at.name is not None:
            return "reads_as_new"
        if same_index:
            return "mislabelled" if any(not c.done for c in same_index) else "unlabelled"
        others = self._others(me)
        if not me.full and all(c.done for c in others):
            return self._on_free_index(me, at)
        return "mislabelled" if me.full and any(c.live for c in others) else "unlabelled"

    @staticmethod
    def _on_free_index(me: _Seen, at: _Labels) -> str | None:
        if _starts(at.text) and me.text:
            return "begins_anew"
        return None if me.text or _starts(at.text) or at.text[:1] == '"' else "unlabelled"

    def _is_latest(self, me: _Seen, others: list[_Seen]) -> bool:
        order = list(self.seen)
        return all(order.index(me.number) > order.index(c.number) for c in others)

    def _on_own_index(self, me: _Seen, at: _Labels, others: list[_Seen], piece: Piece) -> str | None:
        latest = self._is_latest(me, others)
        if at.name is not None and at.name != me.name:
            return None if all(c.done for c in others) and latest else "mislabelled"
        if not me.full:
            order = list(self.seen)
            later = [c for c in others if order.index(c.number) > order.index(me.number)]
            pool = later if at.name is None else others
            return None if all(c.done for c in pool) and (latest or at.name is None) else "mislabelled"
        if not latest or any(c.live for c in others):
            return "mislabelled"
        if at.name is not None and piece.sense != "junk" and at.text != me.text and at.text:
            return "unlabelled_repeat"
        return None

    def _without_labels(self, me: _Seen, at: _Labels, piece: Piece) -> str | None:
        others = self._others(me)
        if at.name is None:
            if not me.full:
                if _starts(at.text) and any(c.hollow for c in others):
                    return "hollow"
                return None if not any(c.live for c in others) else "unlabelled"
            return None if not any(c.live for c in others) and self._is_latest(me, others) else "mislabelled"
        if me.name is not None and at.name != me.name:
            return "split_unlabelled"
        if me.full:
            return "unlabelled_repeat" if piece.sense != "junk" else "junk"
        if any(c.live for c in others):
            return "reads_as_new" if me.text == "" or me.name is None else "begins_anew"
        if me.text == "" and at.text and at.text[0] not in '{["':
            return "reads_as_new"
        if _starts(at.text) and me.text and not at.text.startswith(me.text):
            return "begins_anew"
        return None


def _doubts(draft: Draft, pieces: list[Piece], early: int) -> tuple[str, ...]:
    doubts: set[str] = set(_turn_doubts(draft))
    if draft.restate == "only":
        return tuple(sorted(doubts))
    for choice in {piece.choice for piece in pieces}:
        mine = [piece for piece in pieces if piece.choice == choice]
        reader = _Reader(draft, mine)
        for place, piece in enumerate(pieces):
            reader.finished = reader.finished or (0 <= early <= place)
            if piece.choice == choice:
                reader.read(piece)
        doubts |= reader.doubts
    return tuple(sorted(doubts))


def _turn_doubts(draft: Draft) -> Iterable[str]:
    modes, cut_turn = set(draft.modes), draft.ending.endswith(("length", "content_filter"))
    if "double_encoded" in modes and modes & {"snapshots", "placeholder", "full_repeat"}:
        yield "not_an_object"
    if cut_turn and modes & {"double_encoded", "trailing_junk"}:
        yield "lost_text"
    if "name_split" in modes and modes & {"index_zero", "index_null", "index_missing", "index_reused"}:
        yield "name_only"
    if "index_reused" in modes and modes & {"id_churn", "id_churn_once"}:
        yield "empty_twin"
    if draft.ending.endswith("no_finish") and any(not intent.arguments for intent in draft.intents):
        yield "silence"
    if "trailing_junk" in modes and any(not intent.arguments for intent in draft.intents):
        yield "junk"
    if (
        "trailing_junk" in modes
        and len(modes) > 1
        and MODES[draft.modes[0]].axis == MODES[draft.modes[1]].axis
    ):
        yield "junk"
    if draft.legacy and modes & {"name_split", "name_late", "flat", "other_field", "name_empty_first"}:
        yield "legacy"
    if draft.restate:
        ids = [_id(intent.id) for intent in draft.intents]
        if any(intent.cut for intent in draft.intents):
            yield "restated"
        if len(set(ids)) < len(ids) and any(ids):
            yield "restated"


def decidable(case: Case) -> bool:
    """Return whether exactly the sent calls must be emitted."""
    return case.decidable


# --- judging ------------------------------------------------------------------------------------------------------


def _key(name: str, arguments: Any) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"


def _calls(events: Iterable[Any]) -> list[Any]:
    return [event for event in events if type(event).__name__ == "ToolCall"]


def judge(case: Case, events: Sequence[Any]) -> list[str]:
    """Return the violations: rule 1 (nothing invented) and, if the case is decidable, rule 2 (nothing lost)."""
    calls = sorted(_calls(events), key=lambda call: (call.choice, call.index))
    got = [_key(call.name, call.arguments) for call in calls]
    sent = [_key(name, arguments) for name, arguments in case.sent]
    violations = []
    invented = Counter(got) - Counter(sent)
    if invented and not case.excused:
        violations.append(f"rule 1: never sent: {sorted(invented)}")
    if case.decidable and not invented:
        lost = Counter(sent) - Counter(got)
        if lost:
            violations.append(f"rule 2: lost: {sorted(lost)}")
        elif got != sent:
            violations.append(f"rule 2: order: {got} instead of {sent}")
    return violations


def parse(chunks: Iterable[bytes], dialect: str = "auto") -> list[Any]:
    """Return all events of a stream that comes in these chunks."""
    from wholecall import ToolCallParser  # noqa: PLC0415 (the generator itself needs no parser)

    parser = ToolCallParser(dialect)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def random_split(rng: random.Random, data: bytes) -> list[bytes]:
    """Cut the bytes at random places: few, many, or all of one size."""
    size = rng.choice((1, 3, 17, 64, 300, 0, 0, 0))
    if size:
        return [data[n : n + size] for n in range(0, len(data), size)]
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice((1, 2, 5, 40))))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def unequal_splits(case: Case, events: Sequence[Any]) -> list[str]:
    """Return a violation if a random split of the stream gives another event list."""
    data, rng = case.bytes(), random.Random(case.seed)
    chunks = random_split(rng, data)
    if [event.to_json() for event in parse(chunks)] != [event.to_json() for event in events]:
        return [f"split: {[len(chunk) for chunk in chunks][:20]}"]
    return []


# --- a long run ---------------------------------------------------------------------------------------------------


class _Finding(NamedTuple):
    rule: str
    modes: tuple[str, ...]
    size: int
    seed: str
    violation: str


@dataclass
class _Tally:
    cases: int = 0
    decidable: int = 0
    excused: int = 0
    excused_inventions: int = 0
    sent: int = 0
    emitted: int = 0
    doubts: Counter[str] = field(default_factory=Counter)
    findings: list[_Finding] = field(default_factory=list)

    def add(self, other: _Tally) -> None:
        for name in ("cases", "decidable", "excused", "excused_inventions", "sent", "emitted"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.doubts += other.doubts
        self.findings += other.findings


def _tally(task: tuple[int, int, int]) -> _Tally:
    seed, first, last = task
    tally = _Tally()
    for number in range(first, last):
        case = make_numbered(seed, number)
        data = case.bytes()
        try:
            events = parse([data])
            violations = judge(case, events) + unequal_splits(case, events)
        except Exception as error:  # noqa: BLE001 (whatever it raises is the finding)
            events, violations = [], [f"raised: {error!r}"]
        tally.cases += 1
        tally.decidable += case.decidable
        tally.excused += case.excused
        tally.doubts.update(case.doubts)
        tally.sent += len(case.sent)
        got = Counter(_key(call.name, call.arguments) for call in _calls(events))
        tally.emitted += sum(got.values())
        if case.excused and got - Counter(_key(*pair) for pair in case.sent):
            tally.excused_inventions += 1
        tally.findings += [
            _Finding(text.partition(":")[0], case.modes, len(data), case.seed, text) for text in violations
        ]
    return tally


def _report(tally: _Tally, shown: int) -> None:
    def say(text: str) -> None:
        sys.stdout.write(text + "\n")

    say(f"{tally.cases} cases, {tally.decidable} decidable, {tally.excused} excused from rule 1")
    say(
        f"{tally.sent} calls sent, {tally.emitted} emitted; {tally.excused_inventions} excused cases invented one"
    )
    say("doubts: " + ", ".join(f"{name} {count}" for name, count in tally.doubts.most_common()))
    by_rule = Counter(finding.rule for finding in tally.findings)
    say("violations: " + (", ".join(f"{rule}: {n}" for rule, n in sorted(by_rule.items())) or "none"))
    groups: dict[tuple[str, tuple[str, ...]], list[_Finding]] = {}
    for finding in tally.findings:
        groups.setdefault((finding.rule, finding.modes), []).append(finding)
    ranked = sorted(groups.items(), key=lambda item: -len(item[1]))
    for (rule, modes), findings in ranked[:shown]:
        least = min(findings, key=lambda finding: finding.size)
        say(f"\n{rule} x{len(findings)} {'+'.join(modes)}  --show {least.seed} {'+'.join(modes)}")
        say(f"  {least.violation}")


def _show(seed: str, modes: str) -> None:
    case = make(seed, modes.split("+"))
    say = sys.stdout.write
    say(f"sent {case.sent}\ncut {case.cut}\ndoubts {case.doubts}\n\n{case.bytes().decode()}")
    events = parse([case.bytes()])
    for event in events:
        say(event.to_json().decode() + "\n")
    for text in judge(case, events) + unequal_splits(case, events):
        say(text + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run many cases and report; the exit code is 1 if a rule was broken."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--shown", type=int, default=20, help="mode pairs to show")
    options.add_argument("--show", nargs=2, metavar=("SEED", "MODES"), help="print one case and its events")
    given = options.parse_args(arguments)
    if given.show:
        _show(*given.show)
        return 0
    started, step = time.monotonic(), 500
    tasks = [(given.seed, n, min(n + step, given.count)) for n in range(0, given.count, step)]
    tally = _Tally()
    if given.jobs > 1:
        with Pool(given.jobs) as pool:
            for part in pool.imap_unordered(_tally, tasks):
                tally.add(part)
    else:
        for task in tasks:
            tally.add(_tally(task))
    _report(tally, given.shown)
    sys.stdout.write(f"{tally.cases / max(time.monotonic() - started, 1e-9):.0f} cases a second\n")
    return 1 if tally.findings else 0


if __name__ == "__main__":
    sys.exit(main())
