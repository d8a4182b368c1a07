"""The text of one choice as a serving engine hands it over, turned into content and whole calls.

Theory of operation. A text engine reads the text as `TextParser` does, an assembler judges its calls. What is no call
is content, in its order and as the model wrote it: text, reasoning with its markers, and the text of a call that is
dropped. Only the markup of calls, the stop tokens and the wrappers of channels are left out. Calls come at the end.

Serving engines do not say whether the model or a limit ended a text. If the last token does not show it either, no
call counts that a clean end would make whole.
"""

from __future__ import annotations

import logging
import secrets
import string
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall import deltas
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.tools.tool import Tool, Tools
from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.repairing.encoders.base import argument_text
from wholecall.stream.assembling import assembler
from wholecall.text.engine import TextEngine
from wholecall.text.formats import text_formats
from wholecall.text.options import TextCalls
from wholecall.text.outputs import Markup, Output, Shown, Unread
from wholecall.text.rules import rules_of
from wholecall.text.tools import Declared

if TYPE_CHECKING:
    from wholecall.text.records import Format, Weak
    from wholecall.text.rules import Rules

_private = True

PREFIX: Final = "wholecall_"  # of the names under which engines know our formats
LOG: Final = logging.getLogger("wholecall.integrations")

_LIMITS: Final = Limits(
    max_calls=None, max_raw_bytes=None
)  # the engine limits the text, and nothing of it is lost
_ID_CHARACTERS: Final = string.ascii_letters + string.digits
_BARE: Final[frozenset[Weak]] = frozenset(
    {"json"}
)  # what an engine's grammar for forced calls lets the model write


def parser_names() -> dict[str, str]:
    """Return the text formats by the names under which engines know them."""
    return {f"{PREFIX}{name}": name for name in text_formats()}


def require_schemas() -> None:
    """Check that tools can be checked: engines hand them over with JSON Schemas.

    Raises:
        ImportError: the extra `schema` is not installed.
    """
    if find_spec("jsonschema_rs") is None:
        raise ImportError("wholecall's tool parsers need its extra: pip install 'wholecall[schema]'")


class WrittenCall(NamedTuple):
    """A whole call: its id, its name, and its arguments as JSON."""

    id: str
    name: str
    arguments: str


class Parsed(NamedTuple):
    """The content and the calls of a text."""

    content: str
    calls: list[WrittenCall]


class Forced(NamedTuple):
    """A choice of tools that forces calls; `name` is that of the only one, None for any."""

    name: str | None = None


# The tools.


def known_tools(defined: Iterable[Any]) -> Tools[Any] | None:
    """Return the tools of a request, None if it has none.

    A tool whose definition nobody can check counts by its name alone, an unnamed one does not count, and of two with
    one name the first does: a request that the engine accepted does not fail here.

    Args:
        defined: the definitions, as dicts or as models of pydantic.
    """
    found: dict[str, Tool[Any]] = {}
    for form in defined:
        for tool in _tools(_plain(form)):
            found.setdefault(tool.name, tool)
    return Tools[Any](list(found.values())) if found else None


def _plain(form: Any) -> Any:
    dump = getattr(form, "model_dump", None)
    return dump(mode="json", by_alias=True, exclude_none=True) if callable(dump) else form


def _tools(form: Any, space: str = "") -> list[Tool[Any]]:
    """Return the tools of a definition; those of a namespace are called by its name and their own."""
    if not isinstance(form, Mapping):
        return []
    if form.get("type") == "namespace":
        inner = form.get("tools")
        named = f"{form.get('name')}__"
        return [tool for each in (inner if isinstance(inner, list) else []) for tool in _tools(each, named)]
    body = form.get("function", form)
    name = body.get("name") if isinstance(body, Mapping) else None
    if not isinstance(name, str) or not name:
        return []
    schema = _FREE if form.get("type") == "custom" else body.get("parameters")
    try:
        return [Tool(schema if isinstance(schema, Mapping) else {}, space + name)]
    except (TypeError, ValueError) as error:
        LOG.warning("calls of the tool %.200r are not checked: %s", name, error)
        return [Tool({}, space + name)]


# A tool of free text is shown to the model as a function of one string.
_FREE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
}


# The text.


class EngineText:
    """The text of one choice.

    Args:
        name: the name of its format.
        tools: the tools that the model was given.
        forced: whether the choice of tools forces calls: then they may also be the JSON that a grammar allows, a list
            of calls, or for one tool its arguments alone.
    """

    def __init__(self, name: str, tools: Tools[Any] | None, forced: Forced | None = None) -> None:
        self._rules = rules_for(name, tools, is_forced=forced is not None)
        self._engine = TextEngine(self._rules, Declared(tools), _LIMITS)
        self._judge = assembler(None, Policy(), _LIMITS, tools, pieces=False)
        self._named = None if forced is None else forced.name
        self._arguments = ""  # of the forced tool, while the text may be nothing else

    def feed(self, piece: str) -> str:
        """Take the next piece, cut anywhere, and return the content that is certain by it."""
        if self._named is not None:
            piece, self._arguments = self._arguments + piece, ""
            begun = piece.lstrip()
            if not begun or begun.startswith("{"):
                self._arguments = piece
                return ""
            self._named = None
        return self._content(self._engine.feed(piece))

    def close(self, *, clean: bool) -> Parsed:
        """End the text, and return the rest of its content, and its calls.

        Args:
            clean: whether it is known that the model ended it.
        """
        content = ""
        if self._arguments.strip():
            self._write(deltas.CallWritten(0, self._named, None, self._arguments.strip(), self._arguments))
        else:
            content = self._content(self._engine.close("clean" if clean else "over"))
        self._judge.advance([deltas.Finish(0, "stop", None)])
        self._judge.close("clean")
        dropped, calls = self._judged()
        return Parsed(content + dropped, calls)

    def _content(self, outputs: Iterable[Output]) -> str:
        return "".join(map(self._shown, outputs))

    def _shown(self, output: Output) -> str:
        """Return what is shown of an output; a call is passed to the judge, which refuses some at once."""
        if isinstance(output, Shown):
            return output.text
        if isinstance(output, Markup):
            return output.text if self._is_of_reasoning(output.text) else ""
        if isinstance(output, Unread):
            self._write(
                deltas.CallWritten(
                    0, output.name, output.id, "", output.source, reason=output.reason, detail=output.detail
                )
            )
        else:
            self._write(
                deltas.CallWritten(
                    0, output.name, output.id, output.arguments, output.source, output.edits, output.flags
                )
            )
        return self._judged()[0]

    def _is_of_reasoning(self, markup: str) -> bool:
        rules = self._rules
        return any(mark in markup for mark in (*rules.thinks, *rules.unthinks))

    def _write(self, call: deltas.CallWritten) -> None:
        self._judge.advance([call])

    def _judged(self) -> tuple[str, list[WrittenCall]]:
        """Return the text of the calls that were dropped since, and the calls."""
        dropped, calls = "", list[WrittenCall]()
        for event in self._judge.take():
            if isinstance(event, ToolCallDropped):
                LOG.warning("a call of the tool %.200r is withheld: %s", event.name, event.reason)
                dropped += event.raw_arguments
            elif isinstance(event, ToolCall):
                calls.append(WrittenCall(_lasting_id(event), event.name, argument_text(event)))
        return dropped, calls


def rules_for(name: str, tools: Tools[Any] | None, *, is_forced: bool = False) -> Rules:
    """Return the rules by which a text is read; shapes without a marker count only for declared tools."""
    wanted = TextCalls(name)
    form: Format = wanted.read_as()
    weak = wanted.weak_shapes() | (_BARE if is_forced else frozenset())
    return rules_of(form, weak if tools is not None else frozenset())


def may_hold_calls(name: str, text: str, *, is_forced: bool = False) -> bool:
    """Return whether a text holds anything that can begin a call in this format, whatever the tools."""
    wanted = TextCalls(name)
    rules = rules_of(wanted.read_as(), wanted.weak_shapes() | (_BARE if is_forced else frozenset()))
    if "calls" in rules.weak and "(" in text:
        return True
    return any(mark in text for mark in (*rules.openers, *rules.starts, *rules.weak_openers))


def _lasting_id(call: ToolCall[Any]) -> str:
    """Return the id that the model wrote; else a new one, in the only form that all chat templates take."""
    if "id_generated" not in call.flags:
        return call.id
    return "".join(secrets.choice(_ID_CHARACTERS) for _ in range(9))
