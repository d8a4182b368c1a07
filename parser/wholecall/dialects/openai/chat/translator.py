"""OpenAI Chat Completions (`POST /v1/chat/completions`, `stream: true`) and all servers that claim to implement it.

    data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function",
           "function":{"name":"now","arguments":""}}]},"finish_reason":null}]}
    data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
    data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
    data: [DONE]

A call has no separate end: only the choice's finish reason and `[DONE]` end it. Labels are passed on as they are and
bound later, because each of them is wrong on some server. The common chunk is read by a narrow view; refused chunks are
read again by the wide one. A message in addition to or instead of the deltas restates calls (quirks 40, 90); a frame of
the Responses dialect inside the stream is translated as such (quirk 89). Source: OpenAI API reference, "Chat
streaming", and the SDK types and recorded streams of compatible servers.

Covers: OpenAI and all APIs that claim to be compatible: Azure, Groq, Mistral, DeepSeek, Qwen, OpenRouter, Gemini's
    compatible endpoint, watsonx, Oracle, vLLM, SGLang, llama.cpp, Ollama's `/v1`, TGI, GitHub Copilot …; legacy
    `function_call`, streamed custom tools.
Calls: told apart by index, id and name together; each ends with the finish reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wholecall import deltas
from wholecall.dialects import at, decode, labels, pieces, reasons, report, translator, unread
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat import chunks
from wholecall.dialects.openai.chat.answers import Answer, Opening
from wholecall.framing.forms import may_be_named
from wholecall.framing.frame import Frame, Like

if TYPE_CHECKING:
    from wholecall.dialects.openai.responses.translator import ResponsesTranslator

_narrow, _whole = chunks.NARROW.decode, chunks.WIDE.decode
_BESIDE = frozenset({deltas.BlockKept, deltas.UsageSeen})  # the deltas that may accompany a piece
THOUGHT = "reasoning"  # where the text of a call has its index
_Kind = Literal["", "call", "text", "thought"]
_PIECES: dict[_Kind, Callable[[str], chunks.PieceChunk[Any]] | None] = {
    "": None,
    "call": chunks.CALL_PIECE.decode,
    "text": chunks.TEXT_PIECE.decode,
    "thought": chunks.THOUGHT_PIECE.decode,
}


_WAYS = [(of, way) for of in ("delta", "message") for way in at.CHAT_PIECES]


class ChatTranslator(translator.TextTranslator):
    """Frames of one chat stream to deltas."""

    PIECES: ClassVar[Pieces] = {
        '"tool_calls":': "|".join(f"choices.{of}.tool_calls:{way}" for of, way in _WAYS),
        '"function":': "|".join(f"choices:{of}.tool_calls.{way}" for of, way in _WAYS),
        '"function_call":': "choices.delta.function_call:arguments|choices.message.function_call:arguments",
    }
    DERIVED = frozenset({"_runs"})
    _n_answers: int
    _answer: Answer
    _guest: ResponsesTranslator | None
    _kind: _Kind
    _seen: set[tuple[int, str]]
    _in_both: set[int]
    _executed: chunks.Executed

    def __init__(self) -> None:
        self._n_answers = 0
        self._answer = Answer()
        self._guest = None  # of the Responses dialect, once a frame of it has come
        self._kind = ""  # of the last frame, if that was a piece
        self._runs = pieces.Runs()
        self._seen = set()  # the texts that came in deltas: a message only repeats them
        self._in_both = set()  # the choices whose call comes in the list and in the older form (quirk 143)
        self._executed = chunks.Executed()

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame."""
        said = self.translate_texts([frame.data], frame)
        return [
            piece for delta in said for piece in (delta.pieces() if type(delta) is deltas.Run else (delta,))
        ]

    def told(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame, and its effect on the stream, which `translate` includes here."""
        return self.translate(frame)

    def translate_texts(self, texts: list[str], like: Like) -> list[deltas.Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        told: list[deltas.Delta] = []
        failed = may_be_named(like, "error")  # such a frame is not a piece, with any text
        kind = "" if failed else self._kind
        usual = _PIECES[kind]
        runs, known = self._runs, self._runs.known
        number, index = runs.key
        run: list[str] | None = None  # texts of the last run in `told`
        left = iter(texts)
        choice: Any = None
        delta: Any = None
        place: deltas.Index | None = None
        piece = ""
        for text in left:
            try:
                chunk = usual(text) if usual is not None else None
            except decode.UNREADABLE:
                chunk = None
            if chunk is not None:
                choice = chunk.choices[0]
                delta = choice.delta
                if kind == "call":
                    call = delta.tool_calls[0]
                    place, piece = call.index, call.function.arguments
                elif kind == "text":
                    place, piece = None, delta.content
                else:
                    place, piece = THOUGHT, delta.reasoning_content or delta.reasoning
            if chunk is None or not piece:
                said = self._no_piece(translator.frame_of(texts, left, like))
                kind = "" if failed else _kind_after(said)
                usual = _PIECES[kind]
                number, index = runs.stop()
                told += said
                continue
            if place != index or choice.index != number:
                number, index = key = choice.index, place
                of = known.get(key) or runs.learn(key, self.goes_on(*key))
                runs.key, runs.of, run = key, of, [piece]
                told.append(deltas.Run(of, run))
            elif run is None:
                run = [piece]
                told.append(deltas.Run(runs.of, run))
            else:
                run.append(piece)
            if chunk.usage or (kind == "thought" and delta.reasoning_details):
                self._beside(told, chunk, kind)
                run = None
        self._kind = kind
        return told

    def _no_piece(self, frame: Frame) -> list[deltas.Delta]:
        """Report a frame that is not a piece like the one before it, and what may be a call in it."""
        return unread.with_unread(self._any(frame), frame, pieces=self.PIECES)

    def _any(self, frame: Frame) -> list[deltas.Delta]:
        if self._n_answers and frame.event != "error":
            try:
                chunk = _narrow(frame.data)
            except decode.UNREADABLE:
                return report.ended_together(self._wide(frame))
            openings, id, model = self._answer.openings, chunk.id or None, chunk.model or None
            told: list[deltas.Delta] = []
            for choice in chunk.choices:
                known, delta = openings.get(choice.index), choice.delta
                if known is None or known.again:
                    return report.ended_together(self._wide(frame))
                same = id == known.id and model == known.model and (known.named or known.is_named())
                if not (same or id is model is None):
                    return report.ended_together(self._wide(frame))
                if delta is not None and delta.role is not None and chunks.only_opens(delta):
                    return report.ended_together(self._wide(frame))
                if same:
                    known.foreign = False
                else:
                    known.without_labels()
                self._narrow_choice(told, choice, known)
            if chunk.usage:
                told.append(deltas.UsageSeen(chunk.usage))
            if chunk.choices:
                return told
        return report.ended_together(self._wide(frame))

    def goes_on(self, choice: int, place: deltas.Index | None) -> deltas.Piecewise:
        """Return the common fields of a text's pieces, at its first; `place` is a call's index, `THOUGHT` or None."""
        if place is None:
            self._seen.add((choice, "text"))
            return deltas.TextFragment(choice, "")
        if place == THOUGHT:
            self._seen.add((choice, "reasoning"))
            return deltas.ReasoningFragment(choice, "")
        self._answer.goes_on(choice)
        return deltas.Fragment(choice, place, "")

    def _beside(self, told: list[deltas.Delta], chunk: chunks.PieceChunk[Any], kind: _Kind) -> None:
        """Report the members next to a piece: the details of reasoning, and counts."""
        choice = chunk.choices[0]
        if kind == "thought" and choice.delta.reasoning_details:
            self.keep(told, choice.index, choice.delta.reasoning_details)
        if chunk.usage:
            told.append(deltas.UsageSeen(chunk.usage))

    def keep(self, told: list[deltas.Delta], choice: int, details: list[dict[str, Any]]) -> None:
        """Report the details of reasoning that came in a separate field."""
        for delta in chunks.reasoning_details(choice, details):
            self._seen.add((choice, chunks.kind_of(delta)))
            told.append(delta)

    def _narrow_choice(self, told: list[deltas.Delta], choice: chunks.NarrowChoice, opening: Opening) -> None:
        delta = choice.delta
        if delta is not None:
            text = delta.content
            if (
                delta.reasoning_content
                or delta.reasoning
                or delta.reasoning_details
                or isinstance(text, list)
            ):
                self._speak(told, choice.index, delta)
            elif text:  # the same, for the most common speech
                self._seen.add((choice.index, "text"))
                told.append(deltas.TextFragment(choice.index, text))
            if delta.tool_calls:
                if delta.role is None:
                    opening.call_without_role()
                _narrow_calls(told, choice.index, delta.tool_calls, opening.heads)
        if choice.finish_reason:
            self._finish(told, choice.index, choice.finish_reason)

    # Any chunk.

    def _wide(self, frame: Frame) -> list[deltas.Delta]:
        if decode.is_done(frame.data):
            self._answer.finish()
            return [deltas.TurnEnded(of_transport=True)]
        try:
            chunk = _whole(frame.data)
        except decode.UNREADABLE:
            return self._odd(frame)
        told: list[deltas.Delta] = []
        self._chunk(told, chunk, frame)
        return told

    def _odd(self, frame: Frame) -> list[deltas.Delta]:
        """Report a frame that the typed decoder refuses."""
        if not frame.data:
            return []
        lines = decode.payloads(frame.data)
        if len(lines) > 1:  # of events without an end (quirk 55)
            return [delta for line in lines for delta in self._no_piece(Frame(frame.event, line))]
        views, texts, told = decode.read(chunks.WIDE, frame)
        for chunk, text in zip(views, texts, strict=True):
            self._chunk(told, chunk, Frame(frame.event, text))
        return told

    def _chunk(self, told: list[deltas.Delta], chunk: chunks.Chunk, frame: Frame) -> None:
        if chunk.choices is None and type(chunk.type) is str and chunk.type.startswith("response."):
            told += self._guest_of_responses().translate(frame)
            return
        fault = chunks.error_of(chunk, frame)
        if fault is not None:
            told.append(fault)
            return
        choices = chunk.choices or chunks.flat_choice(chunk)
        if self._answer.is_another(chunk, choices) or (choices and not self._n_answers):
            self._open(told, chunk)
        payload = decode.plain(frame.data) if any(map(chunks.has_calls, choices)) else None
        for position, choice in enumerate(choices):
            self._choice(told, choice, decode.member(payload, "choices", position))
            if self._answer.is_said_again(choice):
                told.append(deltas.SaidAgain(labels.choice_label(choice.index)))
        self._usages(told, chunk, choices)
        if chunk.object == "chat.completion" and choices and all(choice.delta is None for choice in choices):
            self._answer.finish()
            told.append(deltas.TurnEnded())  # some streams give chunks with deltas this object type

    def _guest_of_responses(self) -> ResponsesTranslator:
        if self._guest is None:
            # Few streams need it.
            from wholecall.dialects.openai.responses.translator import ResponsesTranslator  # noqa: PLC0415

            self._guest = ResponsesTranslator(guest=True)
        return self._guest

    def _open(self, told: list[deltas.Delta], chunk: chunks.Chunk) -> None:
        id_, again = labels.id_label(chunk.id), self._n_answers > 0
        if again:
            self._guest, self._seen, self._in_both = None, set(), set()
            self._executed = chunks.Executed()
        model = labels.text_label(chunk.model) or labels.text_label(chunk.model_id)
        key = f"{self._n_answers}" if again else None
        self._n_answers += 1
        told.append(deltas.TurnOpened(key, id_, model, restart=again))

    def _choice(self, told: list[deltas.Delta], choice: chunks.ChoiceView, payload: Any) -> None:
        number = labels.choice_label(choice.index)
        if choice.delta is not None:
            self._speak(told, number, choice.delta)
            self._calls(told, number, choice.delta, decode.member(payload, "delta"))
        if choice.message is not None and not chunks.mirrors(choice.message, choice.delta):
            self._message(told, number, choice.message, decode.member(payload, "message"))
        # Mistral's models on Bedrock send it there; vLLM puts the stop sequence there.
        self._finish(told, number, choice.finish_reason or choice.stop_reason)

    def _speak(self, told: list[deltas.Delta], choice: int, view: Any) -> None:
        """Report and remember a delta's content other than calls."""
        said = chunks.speech(choice, view)
        if said and chunks.own_thought(view) is None:
            said = self._without_repeats(choice, said)
        for delta in said:
            self._seen.add((choice, chunks.kind_of(delta)))
            told.append(delta)

    def _without_repeats(self, choice: int, said: list[deltas.Delta]) -> list[deltas.Delta]:
        """Leave out the text of details that a separate field brought before; without such a field, keep it."""
        thought, alone = (choice, "reasoning"), (choice, "details alone")
        if thought not in self._seen:
            if any(chunks.kind_of(delta) == "detail" for delta in said):
                self._seen.add(alone)
            return said
        return (
            said if alone in self._seen else [delta for delta in said if chunks.kind_of(delta) != "reasoning"]
        )

    def _calls(self, told: list[deltas.Delta], choice: int, delta: chunks.DeltaView, payload: Any) -> None:
        listed = [
            chunks.labelled(
                choice, call, chunks.unknown_fields(decode.member(payload, "tool_calls", position))
            )
            for position, call in enumerate(chunks.listed(delta))
        ]
        told += listed
        if delta.function_call is not None:
            self._older_form(told, chunks.older_form(choice, delta.function_call), listed)
        if delta.executed_tools:
            told += self._executed.report(choice, delta)

    def _older_form(
        self, told: list[deltas.Delta], older: deltas.Labelled, listed: list[deltas.Labelled]
    ) -> None:
        """Report a piece in the older form, unless the list beside it has the same piece (quirk 143).

        From then on its text is that of the call in the list: text without a twin there is lost text of that call.
        """
        if chunks.is_beside(older, listed):
            self._in_both.add(older.choice)
        elif older.choice not in self._in_both:
            told.append(older)
        elif older.text:
            detail = "the older form of a call has text that the call itself lacks"
            told.append(deltas.WireFault("undecodable_frame", detail, raw=older.text, hole=True))

    def _message(
        self, told: list[deltas.Delta], choice: int, message: chunks.DeltaView, payload: Any
    ) -> None:
        """Report a message's restatements: content that the deltas left out, and content that is new (quirk 40)."""
        told += [
            delta
            for delta in chunks.speech(choice, message)
            if (choice, chunks.kind_of(delta)) not in self._seen
        ]
        listed = [
            chunks.restated(
                choice,
                position,
                call,
                chunks.unknown_fields(decode.member(payload, "tool_calls", position)),
            )
            for position, call in enumerate(chunks.listed(message))
        ]
        told += report.restated_together([*listed])
        told += self._executed.report(choice, message)
        older = chunks.older_form(choice, message.function_call)
        if older.name and not chunks.is_beside(older, listed):
            told.append(
                deltas.CallWhole(choice, older.index, None, None, older.name, older.text, deltas.HYDRATION)
            )

    def _finish(self, told: list[deltas.Delta], choice: int, raw: object) -> None:
        known = reasons.turn_reason(raw)
        if known is None:
            return
        self._answer.finish(choice)
        if known[0] == "error":
            detail = f"the choice finished with {known[1]!r}"
            told.append(deltas.WireFault("provider_error", detail, fatal=True))
        else:
            opening = self._answer.openings.get(choice)
            told.append(deltas.Finish(choice, *known, foreign=opening is not None and opening.foreign))

    def _usages(
        self, told: list[deltas.Delta], chunk: chunks.Chunk, choices: list[chunks.ChoiceView]
    ) -> None:
        """Report the token counts, which are in odd places (quirk 88)."""
        usages = (chunk.usage, decode.member(chunk.x_groq, "usage"), *[choice.usage for choice in choices])
        told += [deltas.UsageSeen(usage) for usage in usages if usage and isinstance(usage, dict)]


def _narrow_calls(
    told: list[deltas.Delta], choice: int, calls: list[chunks.NarrowCall], heads: dict[deltas.Index, str]
) -> None:
    """Report calls with only an index and text as `Fragment`, all others with their labels."""
    for call in calls:
        function, index = call.function, call.index
        if index is not None and index < 0:
            index = deltas.INVALID_INDEX
        if function is None:
            told.append(deltas.Labelled(choice, index, labels.id_label(call.id), None))
        elif call.id or function.name or index is None or index < 0 or not function.arguments:
            name, text = labels.name_label(function.name), function.arguments or ""
            id = labels.id_label(call.id)
            told.append(deltas.Labelled(choice, index, id, name, text))
            if id is not None and name is not None and index is not None:
                heads[index] = id
        else:
            told.append(deltas.Fragment(choice, index, function.arguments))


def _kind_after(said: list[deltas.Delta]) -> _Kind:
    """Return the kind of the last piece, or of one after the head of a call: many like it will come."""
    if not said:
        return ""
    spoken = [delta for delta in said if type(delta) not in _BESIDE]
    last = spoken[-1] if spoken else said[-1]
    if isinstance(last, deltas.TextFragment):
        return "text"
    if isinstance(last, deltas.ReasoningFragment):
        return "thought"
    is_head = isinstance(last, deltas.Labelled) and last.name is not None and not last.text
    return "call" if is_head or isinstance(last, deltas.Fragment) else ""
