"""OpenAI Responses over a WebSocket: the events of the stream, one message each, of many responses.

Theory of operation. Each response is read by a repairer of its own, whose stream is made of its messages. So what is
true of a stream is true of a response, and an error of one does not touch the next. Responses run side by side in
*lanes*, which a `stream_id` tells apart; in one lane they follow each other. The lane's name is taken off before the
repairer and put on again, because a stream of one response has no names of lanes.

An error with a `status` is the connection's: it answers a request, and ends no response that is running. Source: OpenAI
API reference, "WebSocket mode", and the types of openai-python.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from wholecall.calls.tools.tool import Tools
from wholecall.repairing.blocks import Blocks
from wholecall.repairing.encoders.base import json_bytes
from wholecall.repairing.pieces import once
from wholecall.repairing.repairer import Repairer
from wholecall.repairing.report import RepairReport
from wholecall.repairing.responses import places
from wholecall.repairing.sessions.base import Message, Options, Raw, Session, named_tools

_LANE: Final = "stream_id"
_STEERS: Final = "response.steer."
_KIND: Final = re.compile(r"[\w.]+\Z", re.ASCII)
_BREAKS: Final = str.maketrans(
    {"\r": " ", "\n": " ", "\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_MOST_LANES: Final = 64
_MOST_ASKED: Final = 64  # requests of a lane whose responses did not begin


class ResponsesSession(Session):
    """The messages of one connection.

    Args:
        options: what the caller chose.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._lanes: dict[str | None, _Lane] = {}
        self._last: _Lane | None = None  # that was heard last
        self._past: list[RepairReport] = []  # of lanes that were forgotten

    def send(self, payload: Mapping[str, Any]) -> None:
        """Take note of a request: the tools of the response that it asks for."""
        if payload.get("type") == "response.create" and self._options.learns:
            self._lane(payload).ask(named_tools(payload.get("tools")))

    def _take(self, message: Message) -> list[Raw]:
        if message.payload is None:  # some response lost an event
            return [raw for lane in self._lanes.values() for raw in self._heard(lane, message)]
        return self._heard(self._lane(message.payload), message)

    def _heard(self, lane: _Lane, message: Message) -> list[Raw]:
        self._last = lane
        return [self._raw(each, lane) for each in lane.take(message)]

    def _raw(self, sent: Raw | bytearray, lane: _Lane) -> Raw:
        """Return a message to be sent: one of the server's as it is, one of ours with the name of its lane."""
        if not isinstance(sent, bytearray):
            return sent
        if lane.name is not None:
            value, _ = once(sent.decode())
            return self._written({**value, _LANE: lane.name})
        return bytes(sent) if self._is_binary else sent.decode()

    def _lane(self, payload: Mapping[str, Any]) -> _Lane:
        name = payload.get(_LANE)
        name = name if isinstance(name, str) else None
        if name not in self._lanes and len(self._lanes) >= _MOST_LANES:
            self._forget_lane()
        return self._lanes.setdefault(name, _Lane(name, self._options))

    def _forget_lane(self) -> None:
        """Forget a lane in which nothing runs, else the oldest: its response is dropped."""
        lanes = self._lanes.values()
        lane = next((lane for lane in lanes if lane.is_idle), next(iter(lanes)))
        lane.close()
        self._past = [_sum([*self._past, *lane.reports])]
        del self._lanes[lane.name]

    def fail(self, code: str, text: str) -> list[Raw]:
        """Fail the responses that are running."""
        return [self._raw(each, lane) for lane in self._lanes.values() for each in lane.fail(code, text)]

    def close(self) -> list[Raw]:
        """End the responses that are running."""
        return [self._raw(each, lane) for lane in self._lanes.values() for each in lane.close()]

    @property
    def report(self) -> RepairReport:
        """The report of all responses; `ended` is of the last one that was heard."""
        reports = [each for lane in self._lanes.values() for each in lane.reports]
        last = None if self._last is None else self._last.report
        return _sum([*self._past, *reports], last) if reports or self._past else RepairReport()


def _sum(reports: list[RepairReport], last: RepairReport | None = None) -> RepairReport:
    """Return the sums of reports; the other members are those of the last one."""
    shown = reports[-1] if last is None else last
    errors = [each.error for each in reports if each.error is not None]
    return RepairReport(
        dialect=shown.dialect,
        ended=shown.ended,
        n_calls=sum(each.n_calls for each in reports),
        n_withheld=sum(each.n_withheld for each in reports),
        mended=any(each.mended for each in reports),
        error=errors[-1] if errors else None,
        held=sum(each.held for each in reports),
        usage=shown.usage,
    )


class _Lane:
    """The responses of one lane, one after the other.

    What it returns is a message of the server's, or a `bytearray`: the JSON text of one of ours.

    Args:
        name: its `stream_id`, None for the lane without one.
        options: what the caller chose.
    """

    def __init__(self, name: str | None, options: Options) -> None:
        self.name = name
        self._options = options
        self._repairer: Repairer | None = None  # of the response that began last
        self._id: str | None = None  # of that response
        self._past: list[RepairReport] = []  # the sum of those before
        self._came: dict[bytes, Raw] = {}  # waiting messages, by their blocks
        self._asked: deque[Tools[Any] | None] = deque(maxlen=_MOST_ASKED)  # for responses to come
        self._tools: Tools[Any] | None = None  # the last of these

    @property
    def report(self) -> RepairReport | None:
        """The report of the last response."""
        return None if self._repairer is None else self._repairer.report

    @property
    def reports(self) -> list[RepairReport]:
        """The reports of the responses: the sum of those that are over, and the last."""
        report = self.report
        return self._past + ([] if report is None else [report])

    @property
    def is_idle(self) -> bool:
        """Return whether no response is running."""
        report = self.report
        return report is None or report.ended or report.error is not None

    def ask(self, tools: Tools[Any] | None) -> None:
        """Take note of a request with these tools."""
        self._asked.append(tools)

    def take(self, message: Message) -> list[Raw | bytearray]:
        """Take a message; return those that may be sent now."""
        payload = message.payload
        if payload is None:
            return [] if self._repairer is None else self._feed(message)
        kind = places.bare_kind(None, payload) or message.kind
        if kind == "error" and type(payload.get("status")) is int:
            if self.is_idle and self._asked:
                self._asked.popleft()
            return self._passing(message)
        out = self._turn(kind, places.response_label(payload) or _bare_id(payload))
        if self._repairer is None or (self._repairer.ended and not _is_of_response(kind)):
            return self._passing(message)
        return out + self._feed(message)

    def _passing(self, message: Message) -> list[Raw | bytearray]:
        if not message.is_odd:
            return [message.raw]
        return [bytearray(json_bytes({k: v for k, v in (message.payload or {}).items() if k != _LANE}))]

    def _turn(self, kind: str, id: str | None) -> list[Raw | bytearray]:
        """Begin another response, if the event is of one; return the messages that end the one before."""
        if not _is_of_response(kind):
            return []
        begins = kind == "response.created" or kind in places.RUNS
        is_other = id is not None and id != self._id
        if self._repairer is None or (is_other and (begins or (kind in places.ENDS and self.is_idle))):
            out = self._ended()
            self._begin(id)
            return out
        return []

    def _begin(self, id: str | None) -> None:
        options = self._options
        if self._asked:
            self._tools = self._asked.popleft()
        self._id = id
        self._repairer = Repairer(
            tools=options.tools or self._tools,
            live_arguments=options.live,
            withheld=options.withheld,
            on_dropped=lambda event: options.note([event]),
            on_fault=lambda event: options.note([event]),
            text=options.text,
            expected="responses",
            policy=options.policy,
            limits=options.limits,
        )

    def _ended(self) -> list[Raw | bytearray]:
        """End the last response, and add its report to those before."""
        out = self.close()
        if self._repairer is not None:
            self._past = [_sum([*self._past, self._repairer.report])]
            self._repairer = None
        return out

    def close(self) -> list[Raw | bytearray]:
        """End the last response; return the messages that say so."""
        return [] if self._repairer is None else self._sent(self._repairer.close())

    def fail(self, code: str, text: str) -> list[Raw | bytearray]:
        """Fail the response that is running."""
        return [] if self._repairer is None or self.is_idle else self._sent(self._repairer.fail(code, text))

    # Messages as the blocks of a stream.

    def _feed(self, message: Message) -> list[Raw | bytearray]:
        assert self._repairer is not None
        block = self._block(message)
        out = self._repairer.feed(block)
        if out == block and not message.is_odd:
            return [message.raw]
        if not message.is_odd:
            self._came[block] = message.raw
        sent = self._sent(out)
        if not self._repairer.report.held:
            self._came.clear()
        return sent

    def _block(self, message: Message) -> bytes:
        """Return the message as one event of a stream, in one line and without the name of its lane."""
        payload = message.payload
        if payload is not None and _LANE in payload:
            data = json_bytes({name: value for name, value in payload.items() if name != _LANE})
        else:
            data = message.text.translate(_BREAKS).encode("utf-8", "surrogatepass")
        kind = message.kind
        head = b"event: %b\n" % kind.encode() if _KIND.match(kind) else b""
        return head + b"data: " + data + b"\n\n"

    def _sent(self, out: bytes) -> list[Raw | bytearray]:
        """Return the messages in a repairer's output: those of the server as they came, and ours."""
        found: list[Raw | bytearray] = []
        for block in Blocks().feed(out) if out else ():
            came = self._came.get(block)
            if came is not None:
                found.append(came)
                continue
            data = block.partition(b"data: ")[2].strip()
            if data:
                found.append(bytearray(data))
        return found


def _is_of_response(kind: str) -> bool:
    """Return whether an event is one of a response's own."""
    return kind.startswith("response.") and not kind.startswith(_STEERS)


def _bare_id(payload: Mapping[str, Any]) -> str | None:
    """Return the id of a response that is the message itself."""
    id = payload.get("id") if payload.get("object") == "response" else None
    return id if isinstance(id, str) else None
