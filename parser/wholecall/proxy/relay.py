"""One exchange: read, decode, repair and send each piece of the answer in the turn of the event loop in which it came.

Theory of operation. Each read of the upstream causes at most one write to the client. A write is awaited before the
next read, so a slow client slows the upstream and nothing accumulates in between. An interruption from outside (a
silence, the end of the drain) closes the answer; the waiting read raises, and the relay ends the stream in the form
that its dialect has for that. When the client leaves, the relay is cancelled. In every case the repairer is aborted and
the upstream's connection closed; the connection stays open only if the answer was read to its end.

An answer that began and cannot be ended well is cut: `CutOff` is raised, which makes servers close the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, NamedTuple

from wholecall.framing.codings import Decoder, UndecodableError, decoder_for
from wholecall.proxy.config import Config
from wholecall.proxy.deadlines import Clock, Deadlines, Timer
from wholecall.proxy.entry import Entry, Unrepaired, Watcher
from wholecall.proxy.errors import LEAST_ERROR, CutOff, message_of, refusal_of
from wholecall.proxy.headers import BadHeaderError, to_client, value_of
from wholecall.proxy.memory import Held, NoMemoryError
from wholecall.proxy.translating import Translation
from wholecall.proxy.wire import Answer, Headers, Question, Send, Upstream, UpstreamFailed
from wholecall.repairing import RepairedBody, Repairer, RepairReport, answers, repair_body
from wholecall.repairing.pace import Pace
from wholecall.repairing.translation.answers import AnswerTranslator
from wholecall.repairing.translation.failures import translate_error, translate_models

_private = True

_HAS_AN_END: Final = "responses"  # here an error is an end; in other dialects the connection is cut
_OF_STREAMS: Final = frozenset({"live_arguments"})  # options
_COMMENT: Final = b": ping\n\n"
_MOST_WAITING: Final = 1024 * 1024  # bytes; a read that decodes to more is sent in several pieces
_BODILESS: Final = frozenset({204, 304})  # statuses: their length is about another answer
_MOST_BLANK: Final = 64 * 1024  # bytes in front of JSON
_JSON: Final = "application/json"
_PLAIN: Final = frozenset({"", "identity"})  # content codings


class Relay:
    """Relays one answer.

    Args:
        question: the request to the upstream.
        entry: the record of the exchange, which is filled here.
        send: ASGI's `send`.
        upstream: the upstream that is asked.
        watcher: observes the exchange.
        config: the timeouts, and when there are pings.
        clock: the event loop, or its replacement in a test.
        held: the exchange's share of the memory for all bodies.
        options: the options of the repairer; None if the answer passes in any case.
        translation: how the answer is translated; None if it is not.

    Attributes:
        has_begun: whether the client got a status.
    """

    def __init__(
        self,
        question: Question,
        entry: Entry,
        send: Send,
        *,
        upstream: Upstream,
        watcher: Watcher,
        config: Config,
        clock: Clock,
        held: Held,
        options: dict[str, Any] | None = None,
        translation: Translation | None = None,
    ) -> None:
        self.entry = entry
        self.has_begun = False
        self._question: Question | None = question
        self._send = send
        self._upstream = upstream
        self._watcher = watcher
        self._config = config
        self._clock = clock
        self._options = options
        self._translation = translation
        self._held = held
        self._started = clock.time()
        self._deadlines = Deadlines(
            self._started,
            ping=config.ping,
            ping_always=config.ping_always,
            first_byte=config.first_byte_timeout,
            idle=config.idle_timeout,
            write=None if config.write_timeout is None else 2 * config.write_timeout,
        )
        self._pace = Pace()
        self._head: tuple[int, Headers] | None = None  # of a stream that is not identified yet
        self._timer = Timer(clock, self._look)
        self._task: asyncio.Task[Any] | None = None
        self._answer: Answer | None = None
        self._repairer: Repairer | AnswerTranslator | None = None
        self._pinging: asyncio.Task[None] | None = None
        self._is_empty = False  # whether events were expected, and nothing but comments came
        self._cut: str | None = None  # why the exchange is to end
        self._held_since: float | None = None

    def __repr__(self) -> str:
        return f"<Relay {self.entry!r}>"

    async def run(self) -> None:
        """Ask the upstream and relay its answer.

        Raises:
            Refusal: nothing went out, and this error has to be answered.
            CutOff: something went out, and the connection has to be closed.
        """
        self._task = asyncio.current_task()
        try:
            if self._cut is not None:
                raise self._broken(self._cut)
            await self._run()
        except UpstreamFailed as failed:
            raise self._broken(self._cut or failed.code) from None
        except asyncio.CancelledError:
            if self._cut is None:
                raise  # the client left
            raise self._broken(self._cut) from None
        finally:
            await self._leave()

    def cut(self, code: str) -> None:
        """End the exchange with this error, if it is not over."""
        if self._cut is not None:
            return
        self._cut = code
        if self._answer is not None:
            self._answer.close()
        elif self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        self._timer.restart(self._deadlines.wait(self._started))
        question, self._question = self._question, None
        assert question is not None
        answer = self._answer = await self._upstream.ask(question)
        del question  # the body may be large, and the answer long
        self._held.give_all()
        now = self._clock.time()
        self._deadlines.begin(now)
        self._timer.restart(self._deadlines.wait(now))
        content_type = value_of(answer.headers, b"content-type")
        self.entry.content_type = content_type.partition(";")[0].strip().lower()[:128]
        kind = answers.kind_of(answer.status, content_type)
        reading = _Reading(answer, self.entry, self._deadlines, self._clock, self._started)
        if self._translation is not None:
            await self._translate(reading, self._translation, is_good=kind is not None)
        elif self._options is None or kind is None:
            await self._pass(reading)
        else:
            self.entry.is_decoded = reading.can_decode()
            await self._judge_or_repair(reading, kind, self._options)

    def _broken(self, code: str) -> Exception:
        """Return the exception for an exchange without a good end."""
        self.entry.error = code
        if self.has_begun:
            return CutOff(code)
        return refusal_of(code, self.entry.upstream)

    async def _leave(self) -> None:
        """Release everything."""
        self._timer.stop()
        if self._answer is not None:
            self._answer.close()
        if self._repairer is not None:
            self._repairer.abort("the client left")
            self._report(self._repairer.report)
        pinging, self._pinging = self._pinging, None
        if pinging is not None:
            pinging.cancel()
            await asyncio.wait({pinging})

    def _report(self, report: RepairReport) -> None:
        self.entry.report(report)
        self.entry.held = int
        self.entry.unrepaired = self._why_unread(report)

    def _why_unread(self, report: RepairReport) -> Unrepaired | None:
        if not report.unread and report.dialect is not None:
            return None
        return "dialect" if self.entry.is_decoded else "encoding"

    # Three ways to treat an answer.

    async def _pass(self, reading: _Reading) -> None:
        await self._begin(reading.answer.status, self._headers(reading.answer, is_read=False))
        while data := await reading.read():
            await self._emit(data)
        await self._emit(b"", more=False)

    async def _judge_or_repair(self, reading: _Reading, kind: str, options: dict[str, Any]) -> None:
        head: list[bytes] = []
        self._is_empty = kind == answers.EVENT_STREAM
        is_whole = None if kind != answers.EVENT_STREAM else False
        while is_whole is None and (data := await reading.read()):
            found = list(reading.pieces(data))
            head += found
            is_whole = next((said for said in map(answers.is_json, found) if said is not None), None)
            if is_whole is None and self.entry.bytes_in > _MOST_BLANK:
                break
        if is_whole:
            await self._judge(reading, head, options)
        else:
            await self._repair(reading, head, options)

    async def _judge(self, reading: _Reading, parts: list[bytes], options: dict[str, Any]) -> None:
        self.entry.handling = "judged"
        most = options["limits"].max_stream_bytes
        size = sum(map(len, parts))
        self._hold(size)
        for part in parts:
            self._watcher.chunk(self.entry, part)
        while data := await reading.read():
            for piece in reading.pieces(data):
                self._watcher.chunk(self.entry, piece)
                parts.append(piece)
                self._hold(len(piece))
                size += len(piece)
                if most is not None and size > most:
                    raise self._broken("stream_too_large")
        began = perf_counter()
        kept = {name: value for name, value in options.items() if name not in _OF_STREAMS}
        body = repair_body(b"".join(parts), on_dropped=self.entry.lose, **kept)
        self.entry.own_seconds += perf_counter() - began
        await self._give(reading.answer, body)

    def _hold(self, size: int) -> None:
        try:
            self._held.take(size)
        except NoMemoryError:
            raise self._broken("too_much_held") from None

    async def _give(self, answer: Answer, body: RepairedBody) -> None:
        self._report(body.report)
        headers, status = self._headers(answer, is_read=True), answer.status
        if body.report.error is not None:
            status, ours = (
                answers.ERROR_STATUS,
                [(name.encode(), value.encode()) for name, value in answers.ERROR_HEADERS],
            )
            names = {name for name, _ in ours}
            headers = [*((name, value) for name, value in headers if name not in names), *ours]
        headers.append((b"content-length", str(len(body.data)).encode()))
        await self._begin(status, headers)
        await self._emit(body.data, more=False)

    async def _repair(self, reading: _Reading, head: list[bytes], options: dict[str, Any]) -> None:
        entry = self.entry
        entry.handling = "repaired"
        repairer = self._repairer = Repairer(on_dropped=entry.lose, **options)
        entry.held = lambda: repairer.report.held
        self._head = reading.answer.status, self._headers(reading.answer, is_read=True)
        lost: str | None = None
        try:
            await self._feed(repairer, reading, head)
        except UpstreamFailed as failed:
            lost = self._cut or failed.code
        out = repairer.close() if lost is None else repairer.fail(lost, message_of(lost, entry.upstream))
        await self._finish(out, repairer.report, lost)

    async def _feed(
        self, repairer: Repairer | AnswerTranslator, reading: _Reading, head: list[bytes]
    ) -> None:
        """Feed all input to the repairer, until either ends."""
        if head:
            await self._take(repairer, head)
        while not repairer.ended and (data := await reading.read()):
            await self._take(repairer, reading.pieces(data))

    async def _take(self, repairer: Repairer | AnswerTranslator, pieces: Iterable[bytes]) -> None:
        """Send the output for one read, in one piece unless it decodes to a lot."""
        waiting: list[bytes] = []
        try:
            for piece in self._pace.slices(pieces):
                await self._pace.turn()  # an exchange ends here if its client left
                if out := self._fed(repairer, piece):
                    waiting.append(out)
                if repairer.ended:
                    break
                if sum(map(len, waiting)) > _MOST_WAITING:
                    await self._emit(b"".join(waiting))
                    waiting.clear()
        except UpstreamFailed:
            if out := b"".join(waiting):
                await self._emit(out)
            raise
        if self._is_refused(repairer):
            return
        if out := b"".join(waiting):
            await self._emit(out)
        else:
            is_known = repairer.report.dialect is not None and self._translation is None
            if self._head is not None and is_known:
                await self._begin_late()
            await self._wait_on(repairer)

    def _fed(self, repairer: Repairer | AnswerTranslator, piece: bytes) -> bytes:
        began = perf_counter()
        self._watcher.chunk(self.entry, piece)
        out = repairer.feed(piece)
        self.entry.own_seconds += perf_counter() - began
        self._is_empty = self._is_empty and b"data:" not in piece
        return out

    async def _wait_on(self, repairer: Repairer | AnswerTranslator) -> None:
        """Note that bytes came, and nothing went out."""
        now = self._deadlines.came
        self._deadlines.is_heard = True
        if self._held_since is None:
            self._held_since = now
        if self._deadlines.wants_ping(now) and (ping := self._ping(repairer)):
            await self._emit(ping)

    async def _finish(self, out: bytes, report: RepairReport, lost: str | None) -> None:
        """End the answer; an interrupted answer ends well only if its turn is over."""
        is_legible = self.entry.is_decoded or not self.entry.bytes_in
        if lost is None and report.dialect is None and self._is_empty and is_legible:
            lost = "upstream_incomplete"  # an empty body, or comments
        is_over = report.ended and report.dialect is not None
        is_whole = report.error is None and (lost is None or is_over)
        if is_whole or (report.error is not None and report.dialect == _HAS_AN_END):
            await self._emit(out, more=False)
            return
        if out:
            await self._emit(out)
        raise self._broken(report.error or lost or "upstream_lost")

    # Translation.

    async def _translate(self, reading: _Reading, how: Translation, *, is_good: bool) -> None:
        self.entry.is_decoded = reading.can_decode()
        if not self.entry.is_decoded:
            raise self._broken("upstream_unread")
        if not is_good or how.asks == "models":
            await self._translate_whole(reading, how)
            return
        entry, answer = self.entry, reading.answer
        entry.handling = "repaired"
        translator = self._repairer = how.translator(
            {**(self._options or {}), "on_dropped": entry.lose}, id=entry.id, created=entry.started
        )
        label = answers.EVENT_STREAM if how.stream else _JSON
        self._head = answer.status, self._headers(_labelled(answer, label), is_read=True)
        lost: str | None = None
        try:
            while not translator.ended and (data := await reading.read()):
                if not how.stream:
                    self._hold(len(data))
                await self._take(translator, reading.pieces(data))
        except UpstreamFailed as failed:
            lost = self._cut or failed.code
        out = translator.close() if lost is None else translator.fail(lost, message_of(lost, entry.upstream))
        await self._finish_translated(translator, out, how)

    async def _finish_translated(self, translator: AnswerTranslator, out: bytes, how: Translation) -> None:
        """End the answer; one that failed before anything of it went out becomes an error with a status."""
        code = translator.report.error
        if code is None or (self.has_begun and how.client == _HAS_AN_END):
            await self._emit(out, more=False)
            return
        if self.has_begun and out:
            await self._emit(out)
        raise self._broken(code)

    def _is_refused(self, repairer: Repairer | AnswerTranslator) -> bool:
        """Return whether a translated answer failed before anything of it went out."""
        return self._translation is not None and repairer.ended and not self.has_begun

    async def _translate_whole(self, reading: _Reading, how: Translation) -> None:
        """Translate an error, or a list of models."""
        parts: list[bytes] = []
        while data := await reading.read():
            for piece in reading.pieces(data):
                self._hold(len(piece))
                parts.append(piece)
        body, status = b"".join(parts), reading.answer.status
        said: bytes | None = body
        if status >= LEAST_ERROR:
            said = translate_error(body, status, how.client)
        elif how.asks == "models":
            said = translate_models(body, how.client)
        if said is None:
            raise self._broken("upstream_unread")
        headers = self._headers(_labelled(reading.answer, _JSON), is_read=True)
        await self._begin(status, [*headers, (b"content-length", str(len(said)).encode())])
        await self._emit(said, more=False)

    # Writing.

    def _headers(self, answer: Answer | _Labelled, *, is_read: bool) -> Headers:
        try:
            headers = to_client(answer.headers, is_read=is_read)
        except BadHeaderError:
            raise UpstreamFailed("upstream_invalid") from None
        if answer.status in _BODILESS:
            headers = [(name, value) for name, value in headers if name != b"content-length"]
        if is_read and not self.entry.is_decoded:
            headers += [pair for pair in answer.headers if pair[0].lower() == b"content-encoding"]
        if not is_read and self.entry.unrepaired is not None:
            headers.append((answers.UNREAD.encode(), self.entry.unrepaired.encode()))
        note = None if self._translation is None else self._translation.note
        headers += [] if note is None else [note]
        return [*headers, (answers.ID.encode(), self.entry.id.encode())]

    async def _begin(self, status: int, headers: Headers) -> None:
        self.entry.status = status
        self.has_begun = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _begin_late(self) -> None:
        """Send the head of a stream, once it is known whether the stream is read."""
        if self._head is None:
            return
        (status, headers), self._head = self._head, None
        report = None if self._repairer is None else self._repairer.report
        if report is not None and report.unread and (why := self._why_unread(report)) is not None:
            headers = [*headers, (answers.UNREAD.encode(), why.encode())]
        await self._begin(status, headers)

    async def _emit(self, data: bytes, *, more: bool = True) -> None:
        """Send a piece of the body, after its head, and after a ping that may still be on its way."""
        await self._begin_late()
        deadlines, entry = self._deadlines, self.entry
        deadlines.stage, deadlines.sending = "sending", self._clock.time()
        if self._pinging is not None:
            await asyncio.wait({self._pinging})
            self._pinging = None
        await self._send({"type": "http.response.body", "body": data, "more_body": more})
        entry.bytes_out += len(data)
        deadlines.sent = self._clock.time()
        deadlines.stage, deadlines.is_heard = "reading", False
        if self._held_since is not None:
            entry.held_seconds += deadlines.came - self._held_since
            self._held_since = None

    # Actions of the timer.

    def _look(self) -> float | None:
        """Do everything that is due, and return when to look again."""
        now = self._clock.time()
        due = self._deadlines.due(now)
        if due == "ping":
            self._start_ping(now)
        elif due == "client_stalled":
            self._cut = due
            assert self._task is not None
            self._task.cancel()
            return None
        elif due is not None:
            self.cut(due)
            if self._answer is None:
                return None
        return self._deadlines.wait(now)

    def _ping(self, repairer: Repairer | AnswerTranslator) -> bytes:
        """Return a ping, empty where a ping is not allowed."""
        ping = repairer.ping()
        self._deadlines.pinged = self._clock.time()
        if ping:
            self._deadlines.is_heard = False
            self.entry.pings += 1
        return _COMMENT if ping and self._config.ping_form == "comment" else ping

    def _start_ping(self, now: float) -> None:
        """Send a ping during a waiting read."""
        self._deadlines.pinged = now  # otherwise it would be due again at once
        if (
            self._repairer is None
            or self._head is not None
            or (self._pinging is not None and not self._pinging.done())
        ):
            return
        if ping := self._ping(self._repairer):
            self._pinging = asyncio.ensure_future(self._send_ping(ping))

    async def _send_ping(self, ping: bytes) -> None:
        with suppress(OSError):  # the client left, which is noticed elsewhere
            await self._send({"type": "http.response.body", "body": ping, "more_body": True})
            self.entry.bytes_out += len(ping)


class _Labelled(NamedTuple):
    """The head of an answer."""

    status: int
    headers: Headers


def _labelled(answer: Answer, content_type: str) -> _Labelled:
    """Return the head of an answer with another content type."""
    kept = [pair for pair in answer.headers if pair[0].lower() != b"content-type"]
    return _Labelled(answer.status, [*kept, (b"content-type", content_type.encode())])


class _Reading:
    """An answer as it is read: bytes counted, times noted, and content coding removed.

    Args:
        answer: the answer.
        entry: where bytes and times are noted.
        deadlines: are told when bytes arrive.
        clock: tells the time.
        began: when the exchange began, by that clock.
    """

    def __init__(
        self, answer: Answer, entry: Entry, deadlines: Deadlines, clock: Clock, began: float
    ) -> None:
        self.answer = answer
        self._entry = entry
        self._deadlines = deadlines
        self._clock = clock
        self._began = began
        self._decoder: Decoder | None = None

    def __repr__(self) -> str:
        return f"<Reading {self._entry!r}>"

    def can_decode(self) -> bool:
        """Return whether the coding is known; from then on it is removed. Words that name no coding say nothing."""
        coding = value_of(self.answer.headers, b"content-encoding").lower()
        if coding.strip() in _PLAIN:
            return True
        self._decoder = decoder_for(coding)
        return self._decoder is not None

    async def read(self) -> bytes:
        """Return the next bytes of the upstream, unchanged; empty at the end.

        Raises:
            UpstreamFailed: it broke off, or its coding did.
        """
        data = await self.answer.read()
        now = self._deadlines.came = self._clock.time()
        if data:
            entry = self._entry
            entry.bytes_in += len(data)
            entry.chunks += 1
            entry.seconds_last = now - self._began
            if entry.seconds_first is None:
                entry.seconds_first = entry.seconds_last
        elif self._decoder is not None:
            try:
                self._decoder.close()
            except UndecodableError:
                raise UpstreamFailed("upstream_lost") from None
        return data

    def pieces(self, data: bytes) -> Iterable[bytes]:
        """Return decoded bytes, in pieces of bounded size.

        Raises:
            UpstreamFailed: they cannot be decoded; the pieces yielded before are right.
        """
        return (data,) if self._decoder is None else self._decoded(self._decoder, data)

    def _decoded(self, decoder: Decoder, data: bytes) -> Iterable[bytes]:
        try:
            yield from decoder.feed(data)
        except UndecodableError:
            raise UpstreamFailed("upstream_lost") from None
