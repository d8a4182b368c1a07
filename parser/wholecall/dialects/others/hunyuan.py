"""The native chat of Tencent Hunyuan (`ChatCompletions` of its cloud API): chunks like chat's, with capital letters.

    data: {"Id", "Note", "Choices": [{"Delta": {"Role", "Content", "ReasoningContent"}, "FinishReason": ""}], "Usage"}
    data: {"Choices": [{"Delta": {"ToolCalls": [{"Id", "Type", "Function": {"Name", "Arguments"}}]}, …}], …}
    data: {"Choices": [{"Delta": {"Content": ""}, "FinishReason": "tool_calls"}], …}
    data: {"ErrorMsg": {"Msg", "Code"}, …}
    {"Response": {"Choices": [{"Message": {"Content", "ToolCalls": […]}, "FinishReason": "stop"}], "Usage", "RequestId"}}
    {"Response": {"Error": {"Code", "Message"}, "RequestId"}}

Each piece of a call has its id, by which the provider has clients merge pieces; on later pieces the name is empty. A
piece without an id begins a call if it has a name, and is of the last such call if not. The text that announces a call may come after it. Only the reason ends a call, and it ends the answer. In a whole answer,
with the envelope `Response` or without, calls may have no ids.

Covers: the native ChatCompletions of Tencent Hunyuan, streamed and whole, in the envelope of Tencent's API or without.
Calls: told apart by their ids; each ends with the reason of the answer.
Source: TencentCloud/tencentcloud-cli, tccli/services/hunyuan/v20230901/examples.json and api.json;
    TencentCloud/tencentcloud-sdk-python, tencentcloud/hunyuan/v20230901/models.py (2026).
"""

from __future__ import annotations

from typing import ClassVar, Union

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.hidden_text import Pieces

_CALL = at.id("Id"), at.name("Function.Name"), at.json_text("Function.Arguments")


def _answer(of: str) -> say.Row:
    """Return the row of an answer, or of a piece of one, whose members are below a path."""
    return (
        say.given(
            f"{of}Error|{of}ErrorMsg",
            say.own(report.failure, code=at.value("Code"), message=at.value("Message|Msg")),
        ),
        say.each(
            f"{of}Choices",
            say.when(
                *(at.value("FinishReason"), (None, "")),
                say.opened(f"/{of}Id"),
                otherwise=(say.opened(f"/{of}Id", repeats=True),),
            ),
            say.thought("Delta.ReasoningContent|Message.ReasoningContent"),
            say.text("Delta.Content|Message.Content"),
            say.each("Delta.ToolCalls", say.own("_piece", *_CALL)),
            say.each("Message.ToolCalls", say.own("_whole", *_CALL)),
        ),
        say.usage(f"{of}Usage"),
        say.each(f"{of}Choices", say.own("_over", at.value("FinishReason"))),
    )


_SAID = tuple(f"{of}Choices.{what}" for of in ("", "Response.") for what in ("Delta", "Message"))


class HunyuanTranslator(compiled.TableTranslator):
    """Chunks of one answer to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "Choices": _answer(""),
        "ErrorMsg": _answer(""),
        "Response": _answer("Response."),
    }
    PIECES: ClassVar[Pieces] = {
        '"Function":': "|".join(f"{of}.ToolCalls.Function.Arguments" for of in _SAID),
        '"ToolCalls":': "|".join(f"{of}.ToolCalls:Function.Arguments" for of in _SAID),
    }
    EVENTLESS = True

    _names: dict[str, Union[str, None]]
    _n_calls: int

    def _clear(self) -> None:
        self._names = {}  # of calls, by their ids
        self._n_calls = 0

    def _piece(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report the start of a call, a piece of its text, or both; its id is its slot, or its number without one."""
        if id_ is None:
            self._n_calls += name is not None
            told = report.call_start(self._n_calls, None, name) if name is not None else []
            return told + report.piece(self._n_calls, text)
        told = []
        if id_ not in self._names:
            told += report.call_start(id_, id_, name)
        elif name is not None and name != self._names[id_]:
            told += report.seen(id_, id_, name)
        self._names[id_] = name or self._names.get(id_)
        return told + report.piece(id_, text)

    def _whole(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call of a whole answer."""
        self._n_calls += 1
        return report.whole_call(self._n_calls, id_, name, text, final=False)

    def _over(self, reason: object) -> list[deltas.Delta]:
        """Report why the answer ended, if the chunk says so."""
        told = report.finish(reason)
        return [*told, *self._end()] if told and self._open else []
