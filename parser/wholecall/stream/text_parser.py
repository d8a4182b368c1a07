"""Calls in a text without a wire: completions of a local model, logs, transcripts.

Theory of operation. The text is one choice of one turn, and is handled like every text: the layer reads it, the
assembler binds and judges its calls. Therefore the events and the turn are those of a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic

from msgspec.structs import replace

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.tools.tool import AnyTools, Tools
from wholecall.deltas import Finish, TextFragment
from wholecall.errors import StreamClosed, Uncopyable
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.stream.assembling import assembler
from wholecall.text.options import TextCalls, text_calls

if TYPE_CHECKING:
    from wholecall.calls.output.events import Event
    from wholecall.calls.output.turns import Turn
    from wholecall.text.records import Format
    from wholecall.text.source import Ended

_DIALECT = "text"  # the dialect name of its turns


class TextParser(Uncopyable, Generic[ArgsT]):
    """A parser that turns one text, cut anywhere, into whole tool calls and the text round them.

    ::

        parser = TextParser("qwen_xml", tools=tools)
        for piece in pieces:
            for event in parser.feed(piece):
                ...
        for event in parser.close():
            ...

    Args:
        text: a format's name, `"auto"`, a `Format` of your own, or `TextCalls`.
        tools: the tools that the model was given, as for `ToolCallParser`. They also define the types of values
            of tagged formats.
        policy: how calls are judged.
        limits: bounds on a text.

    Raises:
        UnknownDialect: there is no format of this name.
        TypeError, ValueError, ImportError: `tools` does not describe tools; see `Tools`.
    """

    INSTEAD = "feed the same text to a new one"
    DERIVED: ClassVar = frozenset({"_assembler", "_closed"})  # no snapshot holds one

    def __init__(
        self,
        text: str | Format | TextCalls = "auto",
        *,
        tools: Any = None,
        policy: Policy = Policy(),  # noqa: B008 - frozen
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        known: Tools[Any] | None = tools if tools is None or isinstance(tools, Tools) else Tools(tools)
        self._assembler = assembler(text_calls(text), policy, limits, known)
        self._assembler.dialect = _DIALECT
        self._closed = False

    def __repr__(self) -> str:
        return f"<TextParser {'closed' if self._closed else 'open'}>"

    @property
    def turn(self) -> Turn[ArgsT]:
        """The content of the text so far: its calls, its drops, and the text without them."""
        return self._assembler.snapshot()

    def feed(self, text: str) -> list[Event[ArgsT]]:
        """Take the next piece of the text, cut anywhere, and return the events it causes.

        Raises:
            StreamClosed: the parser was closed or aborted.
            TypeError: `text` is not a str.
        """
        if self._closed:
            raise StreamClosed("the text is closed; use a new parser for another one")
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise TypeError(f"text is a str, not {type(text).__name__}")
        if text:
            self._assembler.advance([TextFragment(0, text)])
        return self._assembler.take()

    def close(self, ended: Ended = "clean") -> list[Event[ArgsT]]:
        """End the text and return the last events; calling it again returns none.

        Args:
            ended: how it ended: `"clean"` at the model's own end, `"length"` if it was cut, `"open"` if neither is
                known.
        """
        if self._closed:
            return []
        self._closed = True
        if ended != "open":
            self._assembler.advance([Finish(0, "stop" if ended == "clean" else "length", None)])
        self._assembler.close("open" if ended == "open" else "clean")
        return self._assembler.take()

    def abort(self, reason: str = "aborted by the caller") -> list[Event[ArgsT]]:
        """Drop every open call, end the text and return the last events; calling it again returns none."""
        if self._closed:
            return []
        self._closed = True
        self._assembler.close("aborted", reason)
        return self._assembler.take()


def read_text(
    text: str,
    format: str | Format | TextCalls = "auto",
    *,
    tools: AnyTools | None = None,
    prompt: str | None = None,
    ended: Ended = "clean",
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Turn[Any]:
    """Return the content of a whole text, as a turn.

    Args:
        text: all of it.
        format: a format's name, `"auto"`, a `Format` of your own, or `TextCalls`.
        tools: the tools that the model was given, as for `TextParser`.
        prompt: the end of the prompt that the model continues; see `TextCalls`.
        ended: how the text ended; see `TextParser.close`.
        policy: how calls are judged.
        limits: bounds on a text.

    Raises:
        UnknownDialect, TypeError, ValueError, ImportError: as for `TextParser`.
    """
    wanted = text_calls(format) or TextCalls()
    if prompt is not None:
        wanted = replace(wanted, prompt=prompt)
    parser: TextParser[Any] = TextParser(wanted, tools=tools, policy=policy, limits=limits)
    parser.feed(text)
    parser.close(ended)
    return parser.turn
