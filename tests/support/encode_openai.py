"""Render abstract turns as OpenAI's Realtime and Assistants APIs send them.

Written from OpenAI's API reference; knows nothing of wholecall.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.encode import JSON, PADDING, Call, Pieces, Turn, json_lines, members, sse, whole

# Realtime


def realtime_usage(tokens: int) -> JSON:
    """Return the counts of a response."""
    cached = {"text_tokens": 0, "audio_tokens": 0, "image_tokens": 0}
    taken = {"text_tokens": 64, "audio_tokens": 0, "image_tokens": 0, "cached_tokens": 0}
    return {
        "total_tokens": 64 + tokens,
        "input_tokens": 64,
        "output_tokens": tokens,
        "input_token_details": taken | {"cached_tokens_details": cached},
        "output_token_details": {"text_tokens": tokens, "audio_tokens": 0},
    }


def call_item(call: Call, status: str = "completed", **changed: Any) -> JSON:
    """Return a function call as an item; its own id is derived from the call's."""
    item: JSON = {"id": f"item_{call.id}", "object": "realtime.item", "type": "function_call"}
    labels = {"status": status, "name": call.name, "call_id": call.id, "arguments": call.arguments}
    return members(**(item | labels | changed))


def spoken_item(id: str, text: str, *, audio: bool = False) -> JSON:
    """Return a finished message as an item; spoken content has only a transcript."""
    part = {"type": "output_audio", "transcript": text} if audio else {"type": "output_text", "text": text}
    item = {"id": id, "object": "realtime.item", "type": "message", "status": "completed"}
    return item | {"role": "assistant", "content": [part]}


def _response(id: str, status: str, output: Sequence[JSON], details: Any, usage: Any) -> JSON:
    return {
        "object": "realtime.response",
        "id": id,
        "status": status,
        "status_details": details,
        "output": list(output),
        "conversation_id": "conv_harbour",
        "output_modalities": ["text"],
        "max_output_tokens": "inf",
        "audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin"}},
        "usage": usage,
        "metadata": None,
    }


class RealtimeEvents:
    """Builds the events of one session and gives each its id."""

    def __init__(self, response_id: str = "resp_turn1", model: str = "model-1") -> None:
        self.response_id = response_id
        self.model = model
        self._n = 0

    def event(self, kind: str, **fields: Any) -> JSON:
        """Return any event."""
        self._n += 1
        return {"type": kind, "event_id": f"event_{self._n:04}"} | members(**fields)

    def session(self) -> list[JSON]:
        """Return the two events that open a session."""
        session = {
            "type": "realtime",
            "object": "realtime.session",
            "id": "sess_harbour",
            "model": self.model,
        }
        session |= {"output_modalities": ["text"], "instructions": "", "tools": [], "tool_choice": "auto"}
        return [self.event(f"session.{name}", session=session) for name in ("created", "updated")]

    def created(self) -> JSON:
        """Return `response.created`."""
        return self.event(
            "response.created", response=_response(self.response_id, "in_progress", [], None, None)
        )

    def of(self, kind: str, **fields: Any) -> JSON:
        """Return an event of the response."""
        return self.event(f"response.{kind}", **({"response_id": self.response_id} | fields))

    def item(self, state: str, index: Any, item: JSON) -> list[JSON]:
        """Return `output_item.added` or `.done`, and the same of the conversation."""
        told = self.event(f"conversation.item.{state}", previous_item_id=None, item=item)
        return [self.of(f"output_item.{state}", output_index=index, item=item), told]

    def piece(self, index: Any, call: Call, text: Any, **changed: Any) -> JSON:
        """Return a piece of a call's arguments."""
        where = {"item_id": f"item_{call.id}", "output_index": index, "call_id": call.id}
        padding = PADDING[: max(1, 16 - len(text))]
        return self.of(
            "function_call_arguments.delta", **(where | {"delta": text, "obfuscation": padding} | changed)
        )

    def arguments_done(self, index: Any, call: Call, **changed: Any) -> JSON:
        """Return the event with a call's whole arguments."""
        where = {"item_id": f"item_{call.id}", "output_index": index, "call_id": call.id}
        told = {"name": call.name, "arguments": call.arguments}
        return self.of("function_call_arguments.done", **(where | told | changed))

    def begun(self, index: Any, call: Call, pieces: Pieces = whole) -> list[JSON]:
        """Return the events of a call that is not over."""
        events = self.item("added", index, call_item(call, "in_progress", arguments=""))
        return events + [self.piece(index, call, text) for text in pieces(call.arguments)]

    def call(self, index: Any, call: Call, pieces: Pieces = whole) -> list[JSON]:
        """Return the whole life of a call."""
        events = [*self.begun(index, call, pieces), self.arguments_done(index, call)]
        return events + self.item("done", index, call_item(call))

    def message(self, index: Any, item: JSON, pieces: Pieces = whole) -> list[JSON]:
        """Return the whole life of a message."""
        part = item["content"][0]
        kind, member = (
            ("output_text", "text") if "text" in part else ("output_audio_transcript", "transcript")
        )
        where = {"item_id": item["id"], "output_index": index, "content_index": 0}
        events = self.item("added", index, item | {"status": "in_progress", "content": []})
        events.append(self.of("content_part.added", **where, part=part | {member: ""}))
        events += [self.of(f"{kind}.delta", **where, delta=text) for text in pieces(part[member])]
        if member == "transcript":
            events += [
                self.of("output_audio.delta", **where, delta="AgD6/wIA/v/6/w=="),
                self.of("output_audio.done", **where),
            ]
        events.append(self.of(f"{kind}.done", **where, **{member: part[member]}))
        events.append(self.of("content_part.done", **where, part=part))
        return events + self.item("done", index, item)

    def done(
        self, output: Sequence[JSON] = (), status: str = "completed", details: Any = None, tokens: int = 9
    ) -> JSON:
        """Return `response.done`."""
        response = _response(self.response_id, status, output, details, realtime_usage(tokens))
        return self.event("response.done", response=response)


def _output(turn: Turn) -> list[JSON]:
    said = [spoken_item(f"item_{turn.id}", turn.text)] if turn.text else []
    return said + [call_item(call) for call in turn.calls]


def realtime_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a session with one response."""
    wire = RealtimeEvents(f"resp_{turn.id}", turn.model)
    events = [*wire.session(), wire.created()]
    if turn.text:
        events += wire.message(0, spoken_item(f"item_{turn.id}", turn.text), pieces)
    for index, call in enumerate(turn.calls, int(bool(turn.text))):
        events += wire.call(index, call, pieces)
    events += [
        wire.event("rate_limits.updated", rate_limits=[]),
        wire.done(_output(turn), tokens=turn.tokens),
    ]
    return events


def render_realtime(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as the messages of a session."""
    return json_lines(realtime_payloads(turn, pieces))


# Assistants


class RunEvents:
    """Builds the events of one run: the objects as the API gives them, under the names of their events."""

    def __init__(self, id: str = "run_turn1", model: str = "model-1") -> None:
        self.id = id
        self.model = model

    def run(self, status: str, **changed: Any) -> bytes:
        """Return the event of a run in this state; `created` has no separate state."""
        return sse(
            self.run_object("queued" if status == "created" else status, **changed), f"thread.run.{status}"
        )

    def run_object(self, status: str, **changed: Any) -> JSON:
        """Return a run."""
        run: JSON = {"id": self.id, "object": "thread.run", "created_at": 1_760_000_000}
        run |= {"assistant_id": "asst_harbour", "thread_id": "thread_harbour", "status": status}
        run |= {"required_action": None, "last_error": None, "incomplete_details": None, "usage": None}
        return run | {"model": self.model, "instructions": None, "tools": [], "metadata": {}} | changed

    def begun(self) -> bytes:
        """Return the three events that begin a run."""
        return b"".join(self.run(status) for status in ("created", "queued", "in_progress"))

    def step(self, state: str, id: str, calls: Sequence[JSON] | None, **changed: Any) -> bytes:
        """Return the event of a step in this state: one of calls, or one that writes a message."""
        kind = "message_creation" if calls is None else "tool_calls"
        detail: Any = {"message_id": f"msg_{id}"} if calls is None else list(calls)
        step: JSON = {"id": id, "object": "thread.run.step", "created_at": 1_760_000_001, "run_id": self.id}
        step |= {"type": kind, "status": "in_progress" if state == "created" else state, "last_error": None}
        step |= {"step_details": {"type": kind, kind: detail}, "usage": None}
        return sse(step | changed, f"thread.run.step.{state}")

    def opened(self, id: str, *, writes: bool = False) -> bytes:
        """Return the two events that begin a step."""
        calls: list[JSON] | None = None if writes else []
        return self.step("created", id, calls) + self.step("in_progress", id, calls)

    def piece(self, id: str, *calls: JSON) -> bytes:
        """Return a delta of a step of calls."""
        details = {"type": "tool_calls", "tool_calls": list(calls)}
        delta = {"id": id, "object": "thread.run.step.delta", "delta": {"step_details": details}}
        return sse(delta, "thread.run.step.delta")

    def call(self, id: str, index: Any, call: Call, pieces: Pieces = whole) -> bytes:
        """Return the deltas of a call: its labels first, then its arguments."""
        head = {"name": call.name, "arguments": "", "output": None}
        data = self.piece(id, {"index": index, "id": call.id, "type": "function", "function": head})
        for text in pieces(call.arguments):
            data += self.piece(id, {"index": index, "type": "function", "function": {"arguments": text}})
        return data

    def code(self, id: str, index: int, call_id: str, code: str, pieces: Pieces = whole) -> bytes:
        """Return the deltas of code that the provider runs."""
        kind = "code_interpreter"
        head = {"index": index, "id": call_id, "type": kind, kind: {"input": "", "outputs": []}}
        data = self.piece(id, head)
        for text in pieces(code):
            data += self.piece(id, {"index": index, "type": kind, kind: {"input": text}})
        return data

    def message(
        self, id: str, text: str, pieces: Pieces = whole, *, state: str = "completed", **changed: Any
    ) -> bytes:
        """Return the whole life of a message, within its step."""
        head: JSON = {"id": f"msg_{id}", "object": "thread.message", "created_at": 1_760_000_001}
        head |= {"run_id": self.id, "role": "assistant", "incomplete_details": None}
        opened = head | {"status": "in_progress", "content": []}
        data = sse(opened, "thread.message.created") + sse(opened, "thread.message.in_progress")
        for piece in pieces(text):
            part = {"index": 0, "type": "text", "text": {"value": piece, "annotations": []}}
            delta = {"id": f"msg_{id}", "object": "thread.message.delta", "delta": {"content": [part]}}
            data += sse(delta, "thread.message.delta")
        content = [{"type": "text", "text": {"value": text, "annotations": []}}]
        return data + sse(head | {"status": state, "content": content} | changed, f"thread.message.{state}")

    def asked(self, calls: Sequence[Call]) -> JSON:
        """Return the requirements of a run that waits for the outputs of calls."""
        entries = [asked_call(call) for call in calls]
        return {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": entries}}


def asked_call(call: Call, **more: Any) -> JSON:
    """Return a call as a whole."""
    function = {"name": call.name, "arguments": call.arguments} | more
    return {"id": call.id, "type": "function", "function": function}


def run_usage(tokens: int) -> JSON:
    """Return the counts of a step or a run."""
    return {"prompt_tokens": 64, "completion_tokens": tokens, "total_tokens": 64 + tokens}


def run_done() -> bytes:
    """Return the event that ends every stream."""
    return sse("[DONE]", "done")


def render_assistants(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as the stream of a run: a step with its text, a step with its calls."""
    wire = RunEvents(f"run_{turn.id}", turn.model)
    data = wire.begun()
    if turn.text:
        usage = run_usage(turn.tokens)
        said = wire.opened("step_said", writes=True) + wire.message("said", turn.text, pieces)
        data += said + wire.step("completed", "step_said", None, usage=usage)
    if not turn.calls:
        return data + wire.run("completed") + run_done()
    data += wire.opened("step_calls")
    for index, call in enumerate(turn.calls):
        data += wire.call("step_calls", index, call, pieces)
    return data + wire.run("requires_action", required_action=wire.asked(turn.calls)) + run_done()
