"""The events of an agent of Google's Agent Development Kit (`/run_sse`, and `/run` as an array).

    {"content": {"role", "parts": [PART, …]}, "partial", "author", "branch", "invocationId", "longRunningToolIds",
     "finishReason", "usageMetadata", "modelVersion", "errorCode", "errorMessage", "actions", "id", "timestamp"}
    {"error": "…"}    the run failed

    PART is one of  text, with `thought` when it is reasoning
                    functionCall{id, name, args}    functionResponse{id, name, response}
                    executableCode{code, language}  codeExecutionResult, media

Agents that run on Vertex AI's Agent Engine write the same names with underscores.

The server executes its calls itself, except for those of long-running tools, whose ids the event lists: these are the
client's, who sends their results later. A call comes whole; one of the server is over when its result comes. Events that
are `partial` are pieces of the answer that a whole event repeats; calls count only in the whole one. The answers of one
agent follow each other, and those of several agents may come side by side, told apart by author and branch. An answer
is over when its whole event had a reason, or its calls have their results, or the agent's next one begins; nothing
marks the end of the run.

Covers: the events of Google's Agent Development Kit, as stream (`/run_sse`) and array (`/run`), in both spellings:
    calls that the server executes, calls of long-running tools (these are the client's); partial events, several agents.
Calls: told apart by call id; each ends with its result, those of the client with their event.
Source: google/adk-python, src/google/adk/events/event.py, models/llm_response.py, utils/streaming_utils.py and
cli/adk_web_server.py (2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, labels, reasons, remembered, report, say
from wholecall.dialects.agents.beside import Beside
from wholecall.types import Kind, TurnReason

_PART = (
    say.own("_said", at.value("text"), at.value("thought")),
    say.given(
        "functionCall|function_call", say.own("_call", at.id("id"), at.name("name"), at.json_text("args"))
    ),
    say.given("functionResponse|function_response", say.own("_over", at.id("id"))),
    say.given("executableCode|executable_code", say.own("_code", at.value("code"))),
)


class AdkTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "author": (
            say.own("_of", at.id("author"), at.id("branch"), at.value("partial")),
            say.own(
                "_in",
                *(at.id("invocationId|invocation_id"), at.name("modelVersion|model_version")),
                at.value("longRunningToolIds|long_running_tool_ids"),
            ),
            say.each("content.parts", *_PART),
            say.own("_failed", at.value("errorCode|error_code"), at.value("errorMessage|error_message")),
            say.own(
                "_ended", at.value("finishReason|finish_reason"), at.value("usageMetadata|usage_metadata")
            ),
        ),
    }

    _turns: Beside
    _writing: dict[tuple[str | None, str | None], Answer]
    _who: tuple[str | None, str | None]
    _partial: bool
    _run: tuple[str | None, str | None]
    _long: list[object]
    _known: set[str | None]

    def __init__(self) -> None:
        super().__init__()
        self._turns = Beside()
        self._writing = {}  # the open answer of each agent
        self._who = (None, None)  # the agent of the event
        self._partial = False  # the event is
        self._run = (None, None)  # the id of the run, and its model
        self._long = []  # the ids of the event's calls that the client answers
        self._known = set()  # the ids of all calls, and what came of those of the client

    def close(self) -> list[deltas.Delta]:
        """Report the end of the answers that are whole: nothing marks the end of the run."""
        done = [who for who, answer in self._writing.items() if answer.whole and not answer.calls]
        return [delta for who in done for delta in self._ends(who)]

    # Events and answers

    def _of(self, author: str | None, branch: str | None, partial: object) -> list[deltas.Delta]:
        """Note whose event it is; its first part may begin an answer."""
        self._who, self._partial = (branch, author), partial is True
        return []

    def _in(self, run: str | None, model: str | None, long: object) -> list[deltas.Delta]:
        self._run, self._long = (run, model), decode.listed(long)
        return []

    def _on(self) -> tuple[Answer, list[deltas.Delta]]:
        """Make the agent's answer the current one, or begin its next one."""
        answer = self._writing.get(self._who)
        if answer is not None and not answer.over:
            return answer, self._turns.switch(answer.key)
        told = self._ends(self._who)
        key, opened = self._turns.begin(*self._run)
        answer = self._writing[self._who] = Answer(key)
        return answer, told + opened

    def _failed(self, code: object, message: object) -> list[deltas.Delta]:
        """Report an error, unless the code is a reason for which the model stopped."""
        known = reasons.turn_reason(code)
        if known is None and message is None:
            return []
        answer, told = self._on()
        said = labels.text_label(message)
        if known is None or known[0] in {"unknown", "error"}:
            answer.reason = ("error", labels.text_label(code))
            return told + report.failure(fatal=False, code=code, message=said)
        answer.reason = known
        if known[0] == "malformed":
            detail = "the provider could not read the call that the model wrote"
            slot = answer.new_slot()
            told.append(deltas.CallRefused(0, slot, None, "unparseable", detail, said or ""))
        return told

    def _ended(self, reason: object, usage: object) -> list[deltas.Delta]:
        """Note that a whole event repeated all pieces; end the answer if nothing of it is to come."""
        answer = self._writing.get(self._who)
        if answer is None or self._partial:
            return []
        answer.whole, answer.sizes = True, {}
        answer.reason = answer.reason or reasons.turn_reason(reason)
        told = self._turns.switch(answer.key) + report.usage(usage)
        return told if answer.waits else told + self._ends(self._who)

    def _ends(self, who: tuple[str | None, str | None]) -> list[deltas.Delta]:
        answer = self._writing.pop(who, None)
        if answer is None:
            return []
        if not answer.whole:
            return self._turns.leave(answer.key)
        reason, raw = answer.reason or ("tool_calls" if answer.n_calls else "stop", None)
        finish = deltas.Finish(0, reason, raw, drops=reason == "error")
        return [*self._turns.switch(answer.key), finish, *self._turns.end(answer.key)]

    # Parts

    def _said(self, said: object, thought: object) -> list[deltas.Delta]:
        """Report a text, or what is new in one that repeats pieces."""
        if not isinstance(said, str) or not said or self._who[1] == "user":
            return []
        answer, told = self._on()
        thinks = thought is True
        size = answer.sizes.get(thinks, 0)
        answer.sizes[thinks] = size + len(said) if self._partial else max(size - len(said), 0)
        new = said if self._partial else said[size:]
        return told + (report.thought(new) if thinks and new else report.text(new))

    def _call(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call, of the client if its tool is a long-running one."""
        ours = id_ is not None and id_ in self._long
        known = f"{id_} {name} {remembered.checksum(text)}" if ours else id_
        if self._partial or known in self._known:
            return []
        answer, told = self._on()
        slot = answer.new_slot()
        self._known |= {id_, known} - {None}
        if not ours:
            answer.calls[id_] = slot
        kind: Kind = "function" if ours else "server"
        told.append(deltas.CallSeen(0, slot, None, id_, name, kind))
        if text:
            rank = deltas.ITEM_DONE if ours else deltas.OBJECT
            told.append(deltas.CallWhole(0, slot, None, id_, name, text, rank, kind))
        return told + report.closed(slot, final=False) if ours else told

    def _over(self, id_: str | None) -> list[deltas.Delta]:
        """Report that a call has its result; the agent's next part begins another answer."""
        for answer in self._writing.values():
            if id_ in answer.calls:
                answer.over = True
                return [*self._turns.switch(answer.key), *report.closed(answer.calls.pop(id_))]
        return []

    def _code(self, code: object) -> list[deltas.Delta]:
        """Report code that the model's provider executes."""
        if self._partial or not isinstance(code, str):
            return []
        answer, told = self._on()
        text = decode.dumped({"input": code})
        return told + report.whole_call(answer.new_slot(), None, "code_execution", text, "server")


class Answer:
    """An answer of one agent's model, and its calls.

    Attributes:
        key: of its turn.
        whole: a whole event of it came.
        over: a result of its calls came.
        reason: why it ended, in our word and the wire's.
        sizes: of the pieces of text (False) and of thoughts (True) that no whole event repeated yet.
        calls: the slots of calls that wait for a result, by their ids.
        n_calls: the number of all its calls.
    """

    key: str
    whole: bool
    over: bool
    reason: tuple[TurnReason, str | None] | None
    sizes: dict[bool, int]
    calls: dict[str | None, str]
    n_calls: int

    def __init__(self, key: str) -> None:
        self.key = key
        self.whole = self.over = False
        self.reason = None
        self.sizes = {}
        self.calls = {}
        self.n_calls = 0

    @property
    def waits(self) -> bool:
        """Whether more of it may come: its reason, or the results of its calls."""
        if self.reason is None:
            return bool(self.calls) or not self.over
        return bool(self.calls) and self.reason[0] in {"stop", "tool_calls"}

    def new_slot(self) -> str:
        """Return the slot of a call."""
        self.n_calls += 1
        return f"call {self.n_calls}"
