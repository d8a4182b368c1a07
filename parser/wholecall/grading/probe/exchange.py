"""The data model of the probe: one request with its answer, what it asked for, and findings about it.

Theory of operation. An exchange is complete: it can be judged again without the endpoint. It is stored as a recording
in our own format, whose header carries everything but the bytes (the sidecar, `meta["probe"]`), so that all commands
that read recordings read it, too. No header of a request is part of it, thus no key. Findings hold no content of an
answer: they name a rule and point at frames of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from wholecall.errors import BadRecording
from wholecall.recordings.model import Chunk, Recording, Request

Wire = Literal["chat-completions", "responses", "anthropic", "gemini"]
WIRES: tuple[Wire, ...] = ("chat-completions", "responses", "anthropic", "gemini")
Severity = Literal["critical", "major", "minor", "note"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor", "note")  # worst first
FindingKind = Literal["wire", "model", "open"]
Ending = Literal["closed", "broken", "timed_out", "unreachable", "hung_up"]
Outcome = Literal["calls", "text", "cut", "refusal", "any"]

SIDECAR = "probe"  # the member of a recording's `meta`
VERSION = 1
# The response's headers that are kept; no other may be stored.
HEADERS = frozenset({"content-type", "content-encoding", "retry-after"})


class AskedCall(msgspec.Struct, frozen=True):
    """A call that the request asks for.

    Attributes:
        name: the tool's name.
        arguments: the exact arguments, decoded; None where any that fit the tool's schema will do.
    """

    name: str
    arguments: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"AskedCall(name={self.name!r})"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that a request asks for; `tool_choice` and the like are read from the request itself.

    Attributes:
        outcome: `calls`: exactly these calls; `text`: no call; `cut`: the token limit falls inside the arguments of the
            last of these calls; `refusal`: the request is wrong, and a status of 4xx is right; `any`: nothing.
        calls: the calls, in any order.
    """

    outcome: Outcome = "any"
    calls: tuple[AskedCall, ...] = ()


class Exchange(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One request with its whole answer.

    Attributes:
        scenario: the scenario's id (`one`, `two`, `cut`); exchanges of one scenario and one variant are compared.
        variant: which of the scenario's requests it is (`limit-2`, `required`); empty where there is only one.
        attempt: the number of the try, from 1.
        name: the name of the file that holds it, for evidence; derived from the other labels if empty.
        wire: the wire format, by the name of wholecall's dialect.
        is_streamed: whether a stream was asked for.
        request: the JSON object that was sent.
        status: the HTTP status; None if none came.
        headers: the response's headers that matter (`HEADERS`), with names in lower case.
        chunks: the received bytes, each with its seconds since the request was sent, or None.
        ended: `closed`: the body ended; `broken`: the transport failed inside it; `timed_out`; `unreachable`: no answer
            came; `hung_up`: the probe itself left early, as the scenario wants.
        asked: what the request asks for.
    """

    scenario: str
    wire: Wire
    is_streamed: bool
    request: dict[str, Any]
    status: int | None
    headers: Mapping[str, str] = {}
    chunks: tuple[Chunk, ...] = ()
    ended: Ending = "closed"
    asked: Asked = Asked()
    variant: str = ""
    attempt: int = 1
    name: str = ""

    def __repr__(self) -> str:
        return (
            f"Exchange(name={self.file!r}, wire={self.wire!r}, status={self.status!r}, ended={self.ended!r})"
        )

    @property
    def file(self) -> str:
        """The name of the file that holds it, without a folder."""
        if self.name:
            return self.name
        labels = (self.scenario, self.variant, "stream" if self.is_streamed else "plain", str(self.attempt))
        return "-".join(filter(None, labels)) + ".jsonl"

    @property
    def body(self) -> bytes:
        """All received bytes."""
        return b"".join(chunk for _, chunk in self.chunks)

    @property
    def content_type(self) -> str:
        """The media type of the answer in lower case, without parameters; empty if none was sent."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class Evidence(NamedTuple):
    """A place that shows a finding.

    Attributes:
        file: the name of the exchange's file.
        frame: the number of the event in the stream, from 1; 0 for the answer as a whole, such as a plain body.
    """

    file: str
    frame: int = 0


class TriedClient(msgspec.Struct, frozen=True, kw_only=True):
    """What a client of the conformance suite made of the cases that have the fault of a finding.

    Attributes:
        name: the client's name in the suite's results.
        version: its version.
        of: the number of these cases that it was run over.
        unsafe: of these, the cases in which it handed over a call that nobody sent.
        lost: those in which a call, or a fault, went missing without a word.
        refused: those in which a call went missing, and it said so.
        crash: those in which it crashed, or gave no answer in time.
    """

    name: str
    version: str
    of: int
    unsafe: int = 0
    lost: int = 0
    refused: int = 0
    crash: int = 0

    @property
    def failed(self) -> int:
        """The number of cases that it did not pass."""
        return self.unsafe + self.lost + self.refused + self.crash


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A result that is not as it should be.

    Attributes:
        rule: the rule's id, such as `labels.id-missing`.
        severity: how bad it is; always `note` where `kind` is not `wire`.
        kind: `wire`: the server or gateway is at fault; `model`: the model did not do what it was asked; `open`: it
            could not be told.
        says: the finding in words, without any content of the answer.
        count: in how many exchanges it was found.
        of: how many exchanges the rule applied to.
        quirks: numbers of the quirks that it is a case of.
        evidence: the places that show it.
        clients: in a report, the clients whose published results fail on the same fault, the worst first.
        clients_tried: in a report, how many clients were run over cases with the fault; 0 if there is no such case.
    """

    rule: str
    severity: Severity
    kind: FindingKind
    says: str
    count: int = 1
    of: int = 1
    quirks: tuple[int, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    clients: tuple[TriedClient, ...] = ()
    clients_tried: int = 0


class _Sidecar(msgspec.Struct, kw_only=True):
    """Everything of an exchange but its bytes, as it is stored."""

    version: int
    scenario: str
    wire: Wire
    is_streamed: bool
    request: dict[str, Any]
    headers: dict[str, str] = {}
    ended: Ending = "closed"
    asked: Asked = Asked()
    variant: str = ""
    attempt: int = 1

    def __repr__(self) -> str:
        return f"_Sidecar(scenario={self.scenario!r})"


def sidecar_of(exchange: Exchange) -> dict[str, Any]:
    """Return everything of an exchange but bytes, status and name, as JSON values."""
    kept = {name: value for name, value in exchange.headers.items() if name in HEADERS}
    sidecar = _Sidecar(
        version=VERSION,
        headers=kept,
        **{
            name: getattr(exchange, name)
            for name in _Sidecar.__struct_fields__
            if name not in {"version", "headers"}
        },
    )
    built: dict[str, Any] = msgspec.to_builtins(sidecar)
    return built


def recording_of(exchange: Exchange, url: str | None = None) -> Recording:
    """Return an exchange as a recording, to be written with `wholecall.recordings.write`.

    Args:
        exchange: the exchange.
        url: the target of the request, without secrets; None leaves it out.
    """
    return Recording(
        name=exchange.file,
        chunks=iter(exchange.chunks),
        form="wholecall",
        dialect=exchange.wire,
        request=Request("POST", url),
        status=exchange.status,
        content_type=exchange.headers.get("content-type"),
        meta={SIDECAR: sidecar_of(exchange)},
    )


def exchange_of(recording: Recording) -> Exchange:
    """Return the exchange that a recording holds; takes its chunks.

    Raises:
        BadRecording: it was not written by the probe, by a later version of it, or it is damaged.
    """
    try:
        sidecar = msgspec.convert(recording.meta.get(SIDECAR), _Sidecar)
    except msgspec.ValidationError:
        sidecar = None
    if sidecar is None:  # outside the handler: the error holds values of the request
        raise BadRecording(f"{recording.name}: it holds no exchange of the probe")
    if sidecar.version != VERSION:
        raise BadRecording(
            f"{recording.name}: version {sidecar.version} of the probe's data is not known here"
        )
    known: dict[str, Any] = {
        name: getattr(sidecar, name) for name in _Sidecar.__struct_fields__ if name != "version"
    }
    file = recording.name.replace("\\", "/").rpartition("/")[2]
    return Exchange(name=file, status=recording.status, chunks=tuple(recording.chunks), **known)
