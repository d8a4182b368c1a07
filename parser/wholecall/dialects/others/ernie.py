"""The chat of ERNIE before Qianfan's second version (`/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/…`).

    {"id", "object": "chat.completion", "created", "sentence_id", "is_end", "is_truncated", "result",
     "need_clear_history", "function_call": {"name", "thoughts", "arguments"}, "finish_reason", "usage"}

A whole body has no `sentence_id` and no `is_end`; a frame of a stream holds the next piece of the text in `result`, and
the last one is the end. A frame holds at most one call, all of it; calls have no ids. The `thoughts` of a call go back
with it. Older answers have no `finish_reason`, and only say whether they were cut.

Covers: the chat of ERNIE before Qianfan's second version, streamed and whole; errors by number.
Calls: told apart by order; each ends with its own frame.
Source: baidubce/bce-qianfan-sdk, go/qianfan/base_model.go (`ModelResponse`) and its mock server, python/qianfan/tests/
    utils/mock_server.py; Baidu AI Cloud, "WENXINWORKSHOP", ERNIE-3.5-8K (2025).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final
from zlib import adler32, crc32

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.framing.frame import Frame

_MOST_FRAMES: Final = 4096  # of one answer, that are known if they come again
_ANSWER = (
    say.opened("id"),
    say.text("result"),
    say.given(
        "function_call", say.own("_call", at.name("name"), at.json_text("arguments"), at.value("thoughts"))
    ),
    say.usage("usage"),
    say.own(
        "_over",
        at.value("finish_reason"),
        cut=at.value("is_truncated"),
        last=at.value("is_end"),
        number=at.value("sentence_id"),
    ),
)


class ErnieTranslator(compiled.TableTranslator):
    """Frames of one answer to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "result": _ANSWER,
        "function_call": _ANSWER,
        "error_code": (say.own(report.failure, code=at.value("error_code"), message=at.value("error_msg")),),
    }

    _n_calls: int
    _told: set[int]

    def _clear(self) -> None:
        self._n_calls = 0
        self._told = set()  # checksums of the answer's numbered frames

    def _other(self, view: Any, frame: Frame, kind: str) -> list[deltas.Delta]:
        """Return the deltas of a frame; none if it comes again, with its number: its call is the same one."""
        if type(view.sentence_id) is not int:
            return super()._other(view, frame, kind)
        data = frame.data.encode("utf-8", "surrogatepass")
        checksum = crc32(data) << 32 | adler32(data)  # two: one alone is the same for 1 in 500 long answers
        if self._open and checksum in self._told:
            return []
        told = super()._other(view, frame, kind)
        if len(self._told) < _MOST_FRAMES:
            self._told.add(checksum)
        return told

    def _call(self, name: str | None, text: str, thoughts: object) -> list[deltas.Delta]:
        """Report a call; one without a name could continue the last one, which shows that this one is not whole."""
        if name is None and self._n_calls:
            return report.piece(self._n_calls, text)
        self._n_calls += 1
        seen = deltas.CallSeen(0, self._n_calls, None, None, name, extra=report.extra(thoughts=thoughts))
        return [seen, *report.whole_call(self._n_calls, None, None, text, final=False)[1:]]

    def _over(self, reason: object, *, cut: object, last: object, number: object) -> list[deltas.Delta]:
        """Report the end of the answer, with its reason or without."""
        told = report.finish(reason)
        if not told and cut is True:
            told.append(deltas.Finish(0, "length", "is_truncated"))
        is_whole = last is number is None
        return [*told, *self._end()] if last is True or is_whole else told
