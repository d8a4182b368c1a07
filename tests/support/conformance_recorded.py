"""Conformance cases from the project's recordings: the expectations of a neutral reader from the sidecars of ours."""

from __future__ import annotations

import json
from typing import Any

from tests.support import corpora
from tests.support.conformance_case import (
    ANY_END,
    INPUT,
    JSON,
    REPAIRED,
    SAID_END,
    WIRES,
    Case,
    call_of,
    is_common,
    kind_of,
    odd,
    shown_keys,
    whole_object,
)
from tests.support.encode import sse

# Reasons of a turn that the wire itself gives for an end that is not a good one.
_TOLD = frozenset({"length", "content_filter", "pause"})
_BODY = 90
_HOSTILE = 101
_ERROR = 52
_MALFORMED_BY_NAME = 68
# Why a call was dropped, where its text was not at fault.
_OPEN_ENDS = frozenset({"aborted", "truncated", "unterminated"})


def readings() -> dict[str, JSON]:
    """Return what the sidecars of the recordings do not say, by case."""
    found: dict[str, JSON] = json.loads((INPUT / "readings.json").read_bytes())
    return found


def _entries() -> list[JSON]:
    return [entry for entry in corpora.cases() if entry["dialect"] in WIRES]


def _wire(entry: JSON) -> str:
    """Return the wire of a recording: messages of a WebSocket are lines."""
    wire = str(entry["dialect"])
    return f"{wire}-socket" if wire == "responses" and entry["file"].endswith(".ndjson") else wire


def left_out() -> dict[str, str]:
    """Return the recordings that are no cases, and why."""
    return {
        entry["name"]: why
        for entry in _entries()
        if (why := readings().get(entry["name"], {}).get("left_out"))
    }


def cases() -> list[Case]:
    """Return the cases that recordings make."""
    known = readings()
    chosen = [entry for entry in _entries() if "left_out" not in known.get(entry["name"], {})]
    return [_case(entry, known.get(entry["name"], {})) for entry in chosen]


def _case(entry: JSON, reading: JSON) -> Case:
    expect, wire, quirks = entry["expect"], _wire(entry), entry["quirks"]
    suffix = reading.get("as") or entry["file"].rpartition(".")[2]
    sent, may, retracted = _sorted_calls(expect, reading)
    server = [_entry(call, reading) for call in expect.get("server", ())]
    level = _level(entry, reading)
    return Case(
        wire=wire,
        name=entry["name"].rpartition("/")[2],
        about=reading.get("about", entry["about"]),
        data=_data(entry, reading),
        suffix=suffix,
        level=level,
        kind=_kind(entry, level, suffix, bool(server or retracted)),
        sent=sent,
        may=may,
        retracted=retracted,
        server=server,
        accept=_accept(entry, level, reading),
        quirks=quirks,
        origin=entry["origin"],
        ending=reading.get("ending", "clean"),
        asked=reading.get("asked", ["tools"]),
        offered={drop["name"]: shown_keys(drop.get("raw", "")) for drop in _named_drops(expect)},
        text=expect.get("text"),
        finish=expect.get("reason"),
    )


def _data(entry: JSON, reading: JSON) -> bytes:
    data = corpora.recorded(entry)
    if reading.get("as") != "sse":
        return data
    return b"".join(sse(frame, newline=b"\r\n") for frame in json.loads(data))


def _named_drops(expect: JSON) -> list[JSON]:
    return [drop for drop in expect.get("dropped", ()) if drop["name"]]


def _entry(call: JSON, reading: JSON) -> JSON:
    """Return a call as the suite writes it."""
    found = call["id"] if call["id"] not in reading.get("any_id", ()) else None
    return call_of(found, call["name"], call["arguments"], "" if call.get("status") == "empty" else None)


def _sorted_calls(expect: JSON, reading: JSON) -> tuple[list[JSON], list[JSON], list[JSON]]:
    """Return the calls that were sent, that may be handed over, and that were taken back.

    A call that our own recovery or normalisation makes may be handed over, and must not. So may a call whose text is a
    whole object although nothing says that it was over: the bytes allow both readings.
    """
    sent, may, retracted = [], [], []
    for call in expect.get("calls", ()):
        entry = _entry(call, reading)
        if call["id"] in reading.get("retracted", ()):
            retracted.append(entry)
        elif _is_repaired(call) or call["id"] in reading.get("unsure", ()) or "verbatim" in reading:
            may.append(entry)
        else:
            sent.append(entry)
    may += [_verbatim(call, reading) for call in expect.get("calls", ()) if "verbatim" in reading]
    may += [call for drop in _named_drops(expect) if (call := _open_call(drop, reading))]
    return sent, [*may, *reading.get("may", ())], retracted


def _is_repaired(call: JSON) -> bool:
    return call.get("status") in ("normalised", "recovered") or "placeholder" in call.get("flags", ())


def _verbatim(call: JSON, reading: JSON) -> JSON:
    return _entry(call, reading) | {"name": reading["verbatim"]}


def _open_call(drop: JSON, reading: JSON) -> JSON | None:
    arguments = whole_object(drop.get("raw", ""))
    if arguments is None or drop.get("reason") not in _OPEN_ENDS:
        return None
    return _entry(drop | {"arguments": arguments}, reading)


def _is_damaged(expect: JSON) -> bool:
    return bool(expect.get("dropped") or expect.get("faults"))


def _level(entry: JSON, reading: JSON) -> str:
    expect, wire = entry["expect"], _wire(entry)
    if "level" in reading:
        return str(reading["level"])
    if REPAIRED & set(entry["quirks"]) or any(map(_is_repaired, expect.get("calls", ()))):
        return "recovery"
    if _is_damaged(expect):
        return "damage"
    if reading.get("core"):
        return "core"
    if _HOSTILE in entry["quirks"]:
        return "hostile"
    strange = odd(wire, entry["quirks"])
    return "common" if strange and all(map(is_common, strange)) else "rare"


def _kind(entry: JSON, level: str, suffix: str, others: bool) -> str:
    faults = entry["expect"].get("faults", ())
    if "provider_error" in faults:
        return "error"
    if others:
        return "server"
    if level == "recovery":
        return "slips"
    if suffix == "json":
        return "body"
    kind = kind_of(_wire(entry), entry["quirks"])
    return "cut" if level == "damage" and kind == "plain" else kind


def _accept(entry: JSON, level: str, reading: JSON) -> tuple[str, ...]:
    expect = entry["expect"]
    more = tuple(reading.get("accept", ()))
    if "ends" in reading:
        return tuple(reading["ends"])
    if level in ("recovery", "hostile"):
        return ANY_END
    if not _is_damaged(expect):
        return ("calls", *more)
    is_told = expect.get("reason") in _TOLD or _told_in_reason(entry)
    return (*SAID_END, *more, *(("calls",) if is_told else ()))


def _told_in_reason(entry: JSON) -> bool:
    """Return whether the wire's own reason names the fault, where ours says something else."""
    quirks: list[Any] = entry["quirks"]
    return 49 in quirks or _MALFORMED_BY_NAME in quirks or entry["name"].endswith("/refusal")
