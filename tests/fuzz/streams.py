"""Targets that read streams: both doors of the parser, and the repair of streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from tests.fuzz.model import Options, Target, held, opened
from tests.support import corpora, encode
from tests.support.renderers import RENDERERS
from tests.support.turns import log, pairs, violations
from wholecall import Limits, Policy, ToolCallParser, Tools
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.events import TurnFinished
from wholecall.dialects import table
from wholecall.framing import FRAMINGS
from wholecall.framing.opening import sniff
from wholecall.repairing import Repairer

DIALECTS = ("auto", *(dialect.name for dialect in table.DIALECTS))
TIGHT = Limits(
    max_line_bytes=600,
    max_event_bytes=700,
    max_stream_bytes=3000,
    max_calls=2,
    max_choices=2,
    max_id_chars=8,
    max_name_chars=8,
    max_aliases=2,
    max_arguments_bytes=40,
    max_total_arguments_bytes=60,
    max_depth=3,
    max_number_chars=5,
    max_recovery_bytes=30,
    max_edits=2,
    max_pending_frames_bytes=400,
    max_raw_bytes=10,
    max_faults=2,
)
LIMITS = (Limits(), TIGHT, Limits.none())
POLICIES = (
    Policy(),
    Policy(recovery="none"),
    Policy(require_terminal=False),
    Policy(truncated_turn="drop", on_bad_sibling="reject_all"),
    Policy(lone_surrogates="keep", json_safe_ints=True),
    Policy(unknown_tool="flag", tool_names="normalised", coerce="schema"),
)
_PARAMETERS = {
    "type": "object",
    "properties": {"port": {"type": "string"}, "n": {"type": "array"}},
    "required": ["port"],
}
TOOLS = (
    None,
    Tools(
        [
            {"type": "function", "function": {"name": name, "parameters": _PARAMETERS}}
            for name in ("get_tide", "f")
        ]
    ),
)
LONGEST_SEED = 2200  # a small input is run often
_NAME = re.compile(r"[\w./-]*").fullmatch
_CALLS = (
    encode.Call(id="call_1", name="get_tide", arguments='{"port":"Brést","n":[1,{"x":"}\\""}]}'),
    encode.Call(id="call_2", name="now", arguments="{}"),
)


@cache
def recordings() -> list[tuple[str, bytes]]:
    """Return short streams of every dialect: recordings, and a turn with two calls. Each with its dialect."""
    found = [(entry["dialect"], corpora.recorded(entry)) for entry in corpora.cases()]
    found = [(dialect, data) for dialect, data in found if len(data) <= LONGEST_SEED]
    turn = encode.Turn(calls=_CALLS, text="ok")
    for name, render in RENDERERS.items():
        found.append((name.partition(",")[0], render(turn, encode.every(12))))
    return found


def parser_of(options: Options) -> ToolCallParser[Any]:
    """Return a parser as the first four options say."""
    return ToolCallParser(
        options.pick(0, DIALECTS),
        framing=options.pick(1, (None, None, *FRAMINGS)),
        limits=options.pick(2, LIMITS),
        policy=options.pick(3, POLICIES),
        tools=TOOLS[options.flag(3, 7)],
        live=options.flag(2, 7),
        watch={"get_tide": "port"} if options.flag(2, 6) else None,
    )


def _stream_seeds() -> Iterator[bytes]:
    for number, (dialect, data) in enumerate(recordings()):
        named = DIALECTS.index(dialect) if dialect in DIALECTS else 0
        yield bytes((0, 0, 0, 0, 1 if number % 4 == 0 else 3, 0, 90, number % 256)) + data
        yield bytes((named, 0, number % 3 + 128 * (number % 2), number % 6, 17, 131, 0, number % 256)) + data


def _run(parser: ToolCallParser[Any], chunks: Iterable[bytes]) -> list[Any]:
    found = [event for chunk in chunks for event in parser.feed(chunk)]
    return [*found, *parser.close()]


# `feed`.


def run_feed(data: bytes) -> None:
    """Feed bytes whole, in chunks, and cut short: same events, well formed, nothing lost, nothing early."""
    options, payload = opened(data)
    whole = _run(parser_of(options), [payload])
    held(
        "law 1: the events depend on the chunks",
        log(whole) == log(_run(parser_of(options), options.cut(payload))),
    )
    held_by_events(whole)
    place = options.number(7) * len(payload) // 256
    parser = parser_of(options)
    early = parser.feed(payload[:place])
    held("law 5: something was taken back", log(early) == log(whole)[: len(early)])
    late = parser.close() if options.flag(7, 0) else parser.abort("enough")
    held_by_events([*early, *late])
    held(
        "law 7: a call came out of a stream that was cut inside its text", not _premature(early, late, whole)
    )
    repr((parser, parser.turn, parser.turns))


def held_by_events(events: list[Any]) -> None:
    """Check the truths of every finished list of events."""
    wrong = violations(events)
    held(f"law 10: {wrong}", not wrong)
    wrong = unaccounted(events)
    held(f"law 9: {wrong}", not wrong)
    for event in events:
        json.loads(event.to_json())
        repr(event)


def unaccounted(events: Iterable[Any], *, drops: bool = False) -> list[str]:
    """Return where the text that was shown of a call is not the text that its end has, or begins with.

    For drops only on request: they have the text in force, which was never shown if the wire restated it.
    """
    shown: dict[tuple[int, int, int], str] = {}
    found: list[str] = []
    for event in events:
        key = (event.turn, event.choice, getattr(event, "index", -1))
        if type(event) is ArgumentsDelta:
            shown[key] = shown.get(key, "") + event.delta
        elif type(event) is ArgumentsReset:
            shown[key] = event.raw_arguments
        elif type(event) in (ToolCall, ServerToolCall):
            if shown.get(key, event.raw_arguments) != event.raw_arguments:
                found.append(f"the text of call {key} is not what was shown")
        elif type(event) is CustomToolCall:
            if shown.get(key, event.input) != event.input:
                found.append(f"the input of call {key} is not what was shown")
        elif type(event) is ToolCallDropped and drops:
            kept, text = event.raw_arguments, shown.get(key, "")
            if not (kept.startswith(text) or text.startswith(kept)):
                found.append(f"the text of dropped call {key} is not what was shown")
    return found


def _premature(early: list[Any], late: list[Any], whole: list[Any]) -> list[Any]:
    """Return calls that were emitted at the end of a cut stream although more of their text was to come.

    Only where the wire had not told an end: a finish that is followed by more text was a lie, which a reader of the
    cut stream cannot know.
    """
    if not any(type(event) is TurnFinished and "missing_finish" in event.anomalies for event in late):
        return []
    more = {
        (event.turn, event.choice, event.index): event.raw_arguments
        for event in whole[len(early) :]
        if type(event) in (ToolCall, ToolCallDropped)
    }
    calls = [event for event in late if type(event) is ToolCall]
    texts = [(call.raw_arguments, more.get((call.turn, call.choice, call.index), "")) for call in calls]
    return [here for here, there in texts if there.startswith(here) and there[len(here) :].strip()]


# `feed_event`.


def run_feed_event(data: bytes) -> None:
    """Feed decoded values: one a line, `[name, value]` or the value. The door for bytes gives the same calls."""
    options, payload = opened(data)
    values = list(_decoded(payload))
    parser = parser_of(options)
    events = [event for name, value in values for event in parser.feed_event(value, name)]
    events += parser.close()
    held_by_events(events)
    # One value alone may be a whole response, which is over when it is there; an event never is.
    is_stream = len(values) > 1 and all(type(value) is dict for _, value in values)
    if is_stream and options.pick(1, (None, None, *FRAMINGS)) in (None, "sse"):
        frames = [encode.sse(_written(value), name) for name, value in values]
        again = parser_of(options)
        told = _run(again, frames)
        if again.dialect == parser.dialect and options.pick(2, LIMITS) is not TIGHT:
            held("law 3: the doors disagree", pairs(events) == pairs(told))


def _written(value: Any) -> str:
    """Return a value as the other door writes it, for whose text is whose goes by its spelling, too."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    is_whole = not any("\ud800" <= character <= "\udfff" for character in text)
    return text if is_whole else json.dumps(value, separators=(",", ":"))


def _decoded(payload: bytes) -> Iterator[tuple[str | None, Any]]:
    for line in payload.splitlines():
        try:
            value = json.loads(line, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and _NAME(value[0]):
            yield value[0], value[1]
        else:
            yield None, value


def _event_seeds() -> Iterator[bytes]:
    for seed in _stream_seeds():
        head, data = seed[:8], seed[8:]
        framing = FRAMINGS[sniff(data) or "sse"](Limits())
        frames = [*framing.feed(data), *framing.close()]
        lines = [json.dumps([frame.event, _value(frame.data)]) for frame in frames]
        yield head + "\n".join(lines).encode()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# The repair of streams, as the transports do it.


def run_repair(data: bytes) -> None:
    """Repair a stream whole and in chunks: the same bytes, and no call that the parser did not let out."""
    options, payload = opened(data)
    kept: dict[str, Any] = {
        "limits": options.pick(2, LIMITS),
        "policy": options.pick(3, POLICIES),
        "tools": TOOLS[options.flag(3, 7)],
        "live_arguments": options.flag(1, 0),
    }
    drops: list[Any] = []
    repairer = Repairer(**kept, on_dropped=drops.append)
    out = repairer.feed(payload) + repairer.close()
    held("law 52: the output depends on the chunks", out == _repaired(options.cut(payload), **kept))
    reader: ToolCallParser[Any] = ToolCallParser(
        **{k: kept[k] for k in ("limits", "policy", "tools")}, framing="sse"
    )
    known = _run(reader, [payload])
    spoken = reader.dialect or "auto"
    told = _run(ToolCallParser(spoken, limits=kept["limits"]), [out])  # as the client that it is meant for
    if repairer.report.dialect is not None and not kept["live_arguments"]:  # else it passes as it is
        held("law 54: a call came out that the parser withheld", not _more(told, known))


def _repaired(chunks: Iterable[bytes], **options: Any) -> bytes:
    repairer = Repairer(**options)
    return b"".join([*map(repairer.feed, chunks), repairer.close()])


def _more(told: list[Any], known: list[Any]) -> list[Any]:
    sent = [(name, arguments) for _, name, arguments in pairs(known)]
    found = []
    for _, name, arguments in pairs(told):
        if (name, arguments) in sent:
            sent.remove((name, arguments))
        else:
            found.append((name, arguments))
    return found


def _repair_seeds() -> Iterator[bytes]:
    for number, (dialect, data) in enumerate(recordings()):
        if dialect in ("anthropic", "chat-completions", "responses"):
            yield bytes((0, number % 2, 0, number % 6 if number % 5 == 0 else 0, 9, 0, 120, 1)) + data


TARGETS = (
    Target("feed", run_feed, _stream_seeds),
    Target("feed-event", run_feed_event, _event_seeds),
    Target("repair", run_repair, _repair_seeds),
)
