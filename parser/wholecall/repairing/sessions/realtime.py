"""OpenAI Realtime: the messages of a session whose responses are in flight side by side.

Theory of operation. Each response has a parser of its own. From the first message of a call on, the messages of its
response wait until each call that began has its verdict, or the response is over; those of other responses, the user's
side and errors do not wait. (Of a call that is shown while it arrives only the events wait on which clients act.) Then
the messages of calls leave with the verdict (`tracks`), and the finished response lists the calls that left. Events of
the conversation restate the items of a response under the same ids; they go with their calls. Items of other ids are the
client's own history, and pass.

A response that claims success and whose calls were all withheld fails: an `error`, then the response as a failed one.
The session goes on. Source: OpenAI API reference, "Realtime: server events".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Union

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import EXECUTABLE, Event
from wholecall.calls.tools.tool import Tools
from wholecall.repairing.encoders.base import Executable, json_bytes
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.report import Ledger, RepairReport
from wholecall.repairing.responses import places
from wholecall.repairing.rewriter import most_of, never_ended
from wholecall.repairing.sessions import tracks
from wholecall.repairing.sessions.base import Message, Options, Raw, Session, named_tools
from wholecall.repairing.withholding import CALLS_WITHHELD, INCOMPLETE, Losses
from wholecall.stream.parser import ToolCallParser

_ENDS: Final = "response.done"
_SOUND: Final = ("response.output_audio.delta", "response.audio.delta")  # most of a session's bytes
_BREAKS: Final = str.maketrans({"\r": " ", "\n": " "})
_MOST_OPEN: Final = 64  # responses in flight
_MOST_KEPT: Final = 256  # ids of responses that are over, and four times as many of calls

Said = Union[Message, dict[str, Any]]


class RealtimeSession(Session):
    """The messages of one session.

    Args:
        options: what the caller chose.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._open: dict[str | None, _Response] = {}
        self._over: dict[str | None, None] = {}  # ids of responses that are over, the latest last
        self._last: str | None = None  # the response that was heard last
        self._items: dict[str, Executable | None] = {}  # calls of responses that are over, by their items
        self._tools: Tools[Any] | None = None  # of the session
        self._asked: Tools[Any] | None = None  # of the next response
        self._ledger = Ledger()
        self._error: str | None = None
        self._n_ours = 0  # messages of ours

    def send(self, payload: Mapping[str, Any]) -> None:
        """Take note of the tools of the session, or of one response."""
        if not self._options.learns:
            return
        for kind, member in (("session.update", "session"), ("response.create", "response")):
            inner = payload.get(member)
            if payload.get("type") == kind and isinstance(inner, dict) and "tools" in inner:
                found = named_tools(inner["tools"])
                self._asked = found if member == "response" else self._asked
                self._tools = found if member == "session" else self._tools

    @property
    def report(self) -> RepairReport:
        """The report of all responses."""
        held = sum(each.n_waiting for each in self._open.values())
        return self._ledger.report(error=self._error, held=held)

    # Messages.

    def _take(self, message: Message) -> list[Raw]:
        if message.payload is None:
            self._ledger.mended = True
            return [raw for each in list(self._open.values()) for raw in self._heard(each, message)]
        if (item := tracks.conversation_item(message)) is not None:
            return self._of_conversation(message, item)
        if not (message.kind.startswith("response.") or _is_bare(message.payload)):
            return self._sent([message])
        key = _key_of(message.payload, self._last)
        if key in self._over and key not in self._open:
            return self._late(message)
        self._last = key
        return self._heard(self._open.get(key) or self._begin(key), message)

    def _begin(self, key: str | None) -> _Response:
        if len(self._open) >= _MOST_OPEN:
            oldest = next(iter(self._open))
            self._open[oldest].abort()
            self._end(oldest)
        tools, self._asked = self._options.tools or self._asked or self._tools, None
        response = self._open[key] = _Response(key, tools, self._options, self._ledger)
        return response

    def _heard(self, response: _Response, message: Message) -> list[Raw]:
        said = response.take(message)
        self._error = response.failed or self._error
        is_end = message.kind == _ENDS or _is_bare(message.payload or {})
        if is_end:
            self._end(response.key)
        return self._sent(said, is_dropped=not said and not response.n_waiting)

    def _end(self, key: str | None) -> None:
        """Forget a response, except its id and its calls."""
        self._items |= self._open.pop(key).items
        self._over[key] = None
        _trim(self._over, _MOST_KEPT)
        _trim(self._items, 4 * _MOST_KEPT)

    def _late(self, message: Message) -> list[Raw]:
        """Take a message of a response that is over: nothing of a call is sent any more."""
        is_call = tracks.is_of_call(message) or message.kind == _ENDS
        return self._sent([] if is_call else [message], is_dropped=is_call)

    def _of_conversation(self, message: Message, item: dict[str, Any]) -> list[Raw]:
        """Take an event of the conversation that holds a call: it goes with the call."""
        id = str(item.get("id"))
        for response in self._open.values():
            if response.knows(id):
                said = response.converse(message)
                return self._sent(said, is_dropped=not said and not response.n_waiting)
        if id not in self._items:
            return self._sent([message])
        call = self._items[id]
        return self._sent([] if call is None else [_conversed(message, item, call)], is_dropped=call is None)

    def _sent(self, said: Iterable[Said], *, is_dropped: bool = False) -> list[Raw]:
        """Return messages as they are sent; those of ours get an id if they have none."""
        out: list[Raw] = []
        for each in said:
            if isinstance(each, Message) and not each.is_odd:
                out.append(each.raw)
                continue
            is_dropped = True
            payload = (each.payload or {}) if isinstance(each, Message) else each
            if "event_id" not in payload:
                self._n_ours += 1
                payload = {**payload, "event_id": f"event_wholecall_{self._n_ours}"}
            out.append(self._written(payload))
        self._ledger.mended = self._ledger.mended or is_dropped
        return out

    def fail(self, code: str, text: str) -> list[Raw]:
        """Fail the responses in flight; without one, the client is told all the same."""
        self._error = code
        said = [each for response in self._open.values() for each in response.fail(code, text)]
        return self._sent(said or [_error(code, text)], is_dropped=True)

    def close(self) -> list[Raw]:
        """End the responses in flight."""
        said = [each for response in self._open.values() for each in response.close()]
        for key in list(self._open):
            self._error = self._open[key].failed or self._error
            self._end(key)
        return self._sent(said)


class _Waiting(NamedTuple):
    message: Message
    track: tracks.Track | None  # of a message about a call


class _Response:
    """One response in flight.

    Args:
        key: its id.
        tools: those that its calls are checked against.
        options: what the caller chose.
        ledger: of the session.

    Attributes:
        key: its id.
        n_waiting: bytes of the messages that wait.
        failed: the code of the error that ended it, None while it continues.
    """

    def __init__(self, key: str | None, tools: Tools[Any] | None, options: Options, ledger: Ledger) -> None:
        self.key = key
        self.n_waiting = 0
        self.failed: str | None = None
        self._options = options
        self._ledger = ledger
        self._parser: ToolCallParser[Any] = ToolCallParser(
            "openai-realtime", tools=tools, framing="jsonl", policy=options.policy, limits=options.limits
        )
        self._queue: list[_Waiting] = []
        self._tracks: list[tracks.Track] = []
        self._by_item: dict[str, tracks.Track] = {}
        self._by_call: dict[str, tracks.Track] = {}
        self._untold: list[tracks.Track] = []  # calls without a message of their own
        self._losses = Losses(options.withheld, goes_on_after_cuts=False)
        self._next_index = 0
        self._void: str | None = None  # why a shown call does not hold

    def knows(self, item_id: str) -> bool:
        """Return whether an item is a call of this response."""
        return item_id in self._by_item

    @property
    def items(self) -> dict[str, Executable | None]:
        """The calls, by the ids of their items; None for withheld ones."""
        return {id: track.call for id, track in self._by_item.items()}

    def take(self, message: Message) -> list[Said]:
        """Take a message; return those that may be sent now."""
        is_call = tracks.is_of_call(message)
        track = self._track(message) if is_call and self.failed is None else None
        if self.failed is None and not message.kind.startswith(_SOUND):
            self._note(self._parser.feed(_line(message)))
        if message.payload is None:
            return self._released(force=False)
        if message.kind == _ENDS or _is_bare(message.payload):
            return self._finish(message)
        if self._void is not None and self.failed is None:
            return self.fail(CALLS_WITHHELD, self._void)
        index = message.payload.get("output_index")
        self._next_index = max(self._next_index, index + 1 if type(index) is int else 0)
        return [] if is_call and track is None else self._hold(message, track)

    def converse(self, message: Message) -> list[Said]:
        """Take an event of the conversation about a call of this response; return what may be sent now."""
        return [] if self.failed is not None else self._hold(message, self._track(message))

    def _shown(self, message: Message, track: tracks.Track) -> list[Said] | None:
        """Return what may be sent of a call before its verdict; None if it has to wait."""
        if not self._options.live or track.is_judged or (self._queue and not track.is_shown):
            return None
        return track.show(message, self._options.limits)

    def _hold(self, message: Message, track: tracks.Track | None) -> list[Said]:
        """Put a message behind those that wait; return those that may be sent now."""
        if not self._queue and track is None:
            return [message]
        if track is not None and (shown := self._shown(message, track)) is not None:
            return shown
        if track is not None and track.is_judged and not self._queue:
            return list(track.written(message, is_last=False))
        self._queue.append(_Waiting(message, track))
        self.n_waiting += len(message.raw)
        if self.n_waiting > most_of(self._options.limits.max_event_bytes):
            return self.fail("event_too_large", "too much waits for a tool call")
        return self._released(force=False)

    def _track(self, message: Message) -> tracks.Track:
        place = tracks.labels_of(message.payload or {})
        found = self._by_item.get(place.item or "") or self._by_call.get(place.call or "")
        if found is None and place.item is place.call is None:
            found = next((each for each in reversed(self._tracks) if each.place.number == place.number), None)
        if found is None:
            found = tracks.Track(place)
            self._tracks.append(found)
        if place.item is not None:
            self._by_item.setdefault(place.item, found)
            found.place = found.place._replace(item=found.place.item or place.item)
        if place.call is not None:
            self._by_call.setdefault(place.call, found)
        found.note(message)
        return found

    # Verdicts.

    def _note(self, events: Sequence[Event[Any]]) -> None:
        self._ledger.note(events)
        self._options.note(events)
        for event in events:
            if isinstance(event, EXECUTABLE):
                self._judge(event)
            elif isinstance(event, ToolCallDropped):
                self._losses.note(event)
                track = self._by_call.get(event.id or "")
                if track is not None and not track.is_judged:
                    self._settle(track, None, event.reason)

    def _judge(self, call: Executable) -> None:
        item_id = (call.extra or {}).get("item_id")
        track = self._by_item.get(str(item_id)) or self._by_call.get(call.id)
        if track is None or track.is_judged:
            track = tracks.Track(tracks.Labels(item_id if isinstance(item_id, str) else None, call.id, None))
            self._untold.append(track)
            self._by_item.setdefault(track.place.item or call.id, track)
        self._settle(track, call)

    def _settle(self, track: tracks.Track, call: Executable | None, reason: str = "") -> None:
        """Give a call its verdict; one that was shown and does not hold fails the response."""
        track.judge(call)
        why = track.objection(reason)
        if why is not None:
            track.judge(None)
            self._void = self._void or why

    def _released(self, *, force: bool) -> list[Said]:
        """Return the waiting messages, if all calls that began in them have their verdicts."""
        waiting = [each.track for each in self._queue if each.track is not None]
        if not force and not all(track.is_judged for track in waiting):
            return []
        queue, self._queue = self._queue, []
        self.n_waiting = 0
        last = {id(each.track): at for at, each in enumerate(queue)}
        said: list[Said] = []
        for at, (message, track) in enumerate(queue):
            if track is None:
                said.append(message)
                continue
            found = list(track.written(message, is_last=last[id(track)] == at))
            self._ledger.mended = self._ledger.mended or not found
            said += found
        return said

    def _emitted(self) -> list[tracks.Track]:
        return [track for track in (*self._tracks, *self._untold) if track.call is not None]

    # The end.

    def _finish(self, message: Message) -> list[Said]:
        payload = message.payload or {}
        if self.failed is None:
            self._note(self._parser.close())
        said = self._released(force=True)
        for track in self._tracks if self.failed is None else ():
            said += track.last(self.key)
        for track in self._untold:
            said += track.whole(self.key, self._next_index)
            self._next_index += 1
        response = payload if _is_bare(payload) else payload.get("response")
        if not isinstance(response, dict):
            return [*said, message]
        claim = places.response_claim(response)
        if claim == "stop":  # else the client is told that the response has no more calls
            said += self._ended_void()
        edited = {**response, **self._output(response)}
        if self.failed is not None or self._losses.is_error(claim, executed=bool(self._emitted())):
            if self.failed is None:
                self.failed = CALLS_WITHHELD
                said.append(_error(CALLS_WITHHELD, self._losses.sentence))
            edited |= _failed(self.failed)
        elif claim == "stop" and not self._emitted() and self._losses.is_cut():
            edited |= {"status": "incomplete", "status_details": dict(_CUT)}
        if edited == response:
            return [*said, message]
        return [*said, edited if response is payload else {**payload, "response": edited}]

    def _ended_void(self) -> list[Said]:
        """Fail a response that claims success, and ends with a shown call that does not hold."""
        if any(track.is_shown and not track.is_judged for track in self._tracks):
            self._void = self._void or "the end of a tool call never came"
        if self._void is None or self.failed is not None:
            return []
        self.failed = CALLS_WITHHELD
        return [_error(CALLS_WITHHELD, self._void)]

    def _output(self, response: Mapping[str, Any]) -> dict[str, Any]:
        """Return the list of the finished response, with exactly the calls that left."""
        listed = response.get("output") or []
        if not isinstance(listed, list):
            return {}
        left = {id(track): track for track in self._emitted()} if self.failed is None else {}
        output: list[Any] = []
        for item in listed:
            if not places.is_ours(item):
                output.append(item)
                continue
            known = self._by_item.get(str(item.get("id"))) or self._by_call.get(str(item.get("call_id")))
            track = left.pop(id(known), None)
            if track is not None and track.call is not None:
                output.append(tracks.item_with(item, track.call, track.place.item))
        for track in left.values():
            assert track.call is not None
            id_ = {} if track.place.item is None else {"id": track.place.item}
            output.append({**ResponsesEncoder().item(track.call), "object": "realtime.item", **id_})
        return {} if output == listed else {"output": output}

    def fail(self, code: str, text: str) -> list[Said]:
        """End the response for the client: return what waits without calls, and an error."""
        if self.failed is not None:
            return []
        self.failed = code
        self._note(self._parser.abort(text))
        said: list[Said] = [each.message for each in self._queue if each.track is None]
        self._queue, self.n_waiting = [], 0
        self._ledger.ended = False
        return [*said, _error(code, text)]

    def abort(self) -> None:
        """Drop the open calls of a response that is forgotten."""
        self._note(self._parser.abort("too many responses are in flight"))

    def close(self) -> list[Said]:
        """End a response that did not end; return what waits without its open calls, and an error."""
        if self.failed is not None:
            return []
        events = self._parser.close()
        self._note(events)
        said = self._released(force=True)
        if not never_ended(events):
            return said
        self._ledger.ended = False
        self.failed = INCOMPLETE
        return [*said, _error(INCOMPLETE, "the session ended before the response did")]


_CUT: Final = {"type": "incomplete", "reason": "max_output_tokens"}


def _error(code: str, text: str) -> dict[str, Any]:
    """Return the event for which clients raise."""
    return {"type": "error", "error": {"type": "server_error", "code": code, "message": text, "param": None}}


def _failed(code: str) -> dict[str, Any]:
    error = {"type": "server_error", "code": code}
    return {"status": "failed", "status_details": {"type": "failed", "error": error}}


def _is_bare(payload: Mapping[str, Any]) -> bool:
    """Return whether a message is a finished response itself."""
    return "type" not in payload and payload.get("object") == "realtime.response"


def _key_of(payload: Mapping[str, Any], last: str | None) -> str | None:
    """Return the id of the response that an event is of; one without an id is of the response heard last."""
    response = payload if _is_bare(payload) else payload.get("response")
    own = response.get("id") if isinstance(response, dict) else None
    for id in (payload.get("response_id"), own):
        if isinstance(id, str) and id:
            return id
    return last


def _line(message: Message) -> bytes:
    """Return a message as a line of JSON."""
    if message.is_odd and message.payload is not None:
        return json_bytes(message.payload) + b"\n"
    return message.text.translate(_BREAKS).encode("utf-8", "surrogatepass") + b"\n"


def _conversed(message: Message, item: dict[str, Any], call: Executable) -> Said:
    """Return an event of the conversation with what the verdict says of its call."""
    edited = tracks.item_with(item, call, None)
    return message if edited is item else {**(message.payload or {}), "item": edited}


def _trim(kept: dict[Any, Any], most: int) -> None:
    """Forget the oldest entries."""
    while len(kept) > most:
        del kept[next(iter(kept))]
