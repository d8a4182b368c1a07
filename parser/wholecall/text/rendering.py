"""Find a model's format by its chat template: calls that the template writes are read back.

Theory of operation. A chat template (Jinja, part of a model's files) writes a conversation as the model's prompt, its
earlier calls included, in the form in which the model was trained to write them. Here it writes an answer with known
calls. Each format reads the text of that answer, and those that find just these calls are the model's. Formats share
markers, so several may; the first in the order of the table counts.

Templates differ in how they want a call: arguments as an object or as JSON text, content empty or absent. Each way is
tried until one is read. The text of the answer follows the prompt that asks for it, or the question if that prompt opens
something else, such as reasoning. A prompt may open the call's own message, as Harmony's `<|start|>assistant` does: its
end counts where the text alone is no call. A template is a program: it runs in Jinja's sandbox, as in the libraries that
use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any, Final, NoReturn

from wholecall.calls.tools.tool import Tools
from wholecall.limits import Limits
from wholecall.text.engine import TextEngine
from wholecall.text.formats import FORMATS
from wholecall.text.outputs import Unread, Written
from wholecall.text.rules import rules_of
from wholecall.text.tools import Declared

_NAME: Final = "get_tide"
_PLAIN: Final = {"port": "Brest", "days": 3}
_RICH: Final = {
    "port": 'the "old" port\nof Brest',
    "days": 2,
    "units": {"height": ["m", "ft"], "exact": True},
}
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "port": {"type": "string", "description": "the name of a port"},
        "days": {"type": "integer", "description": "a number of days"},
        "units": {"type": "object", "description": "the units of heights"},
    },
    "required": ["port", "days"],
}
_TOOL: Final = {"name": _NAME, "description": "the tides of a port", "parameters": _SCHEMA}
_TOOLS: Final = [{"type": "function", "function": _TOOL}]
_ASKED: Final = [{"role": "user", "content": "When is the tide?"}]
_DAY: Final = "1 January 2026"
_CONTENTS: Final[tuple[Any, ...]] = ("", None)
_MOST_ADDED: Final = 1000  # elements of a list that a template adds to
_END: Final = 200  # characters of a prompt: enough for the beginning of a message
Render = Callable[..., "str | None"]
Answer = tuple[str, str]  # the prompt, and the text that follows it


def formats_of(template: str) -> list[str]:
    """Return the names of the formats that read back the calls that a chat template writes, in the table's order.

    Those that also read nested values and quoted text are preferred.

    Raises:
        ImportError: the extra `templates` is not installed.
        ValueError: it is not a template, or writes no calls.
    """
    render = _renderer(template)
    written = list(_written(render, _PLAIN))
    if not written:
        raise ValueError(
            "the chat template writes no calls: it raised for an answer with one, or left it out"
        )
    plain = _readers(FORMATS, written, _PLAIN)
    return _readers(plain, _written(render, _RICH), _RICH) or plain


def _readers(names: Iterable[str], written: Iterable[Answer], arguments: dict[str, Any]) -> list[str]:
    """Return the formats that read the call in the first of the texts, alone or behind its prompt, that any of them reads."""
    texts = ((begun, text) for prompt, text in written for begun in ("", prompt[-_END:]))
    found = ([name for name in names if _reads(name, *text, arguments)] for text in texts)
    return next(filter(None, found), [])


def _reads(name: str, prompt: str, text: str, arguments: dict[str, Any]) -> bool:
    """Return whether a format finds just this call in a text that goes on a prompt."""
    form = FORMATS[name]
    tools: Tools[Any] = Tools({_NAME: _SCHEMA})
    engine = TextEngine(rules_of(form, frozenset(form.weak)), Declared(tools), Limits(), prompt=prompt)
    outputs = engine.feed(text) + engine.close("clean")
    found = [one for one in outputs if isinstance(one, (Written, Unread))]
    return [(one.name, _value(one)) for one in found] == [(_NAME, arguments)]


def _value(one: Written | Unread) -> Any:
    """Return the value of a call's arguments, None if they have none."""
    try:
        return json.loads(one.arguments) if isinstance(one, Written) else None
    except ValueError:
        return None


def _written(render: Render, arguments: dict[str, Any]) -> Iterator[Answer]:
    """Yield an answer with one call, in each way in which the template writes it."""
    prompts = [render(_ASKED, prompt=prompt) or "" for prompt in (True, False)]
    for answer in _answers(arguments):
        whole = render([*_ASKED, answer], prompt=False) or ""
        before = next(filter(whole.startswith, prompts), "")
        if _NAME in whole[len(before) :]:
            yield before, whole[len(before) :]


def _answers(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an answer with one call, in each way in which templates want it."""
    for value in (arguments, json.dumps(arguments, ensure_ascii=False)):
        for content in _CONTENTS:
            call = {
                "id": "abcdef123",  # Mistral's templates want nine characters
                "type": "function",
                "function": {"name": _NAME, "arguments": value},
            }
            yield {"role": "assistant", "content": content, "tool_calls": [call]}


def _renderer(template: str) -> Render:
    """Return the function that renders messages, and returns None if the template does not take them."""
    environment, fault = _environment()
    try:
        compiled = environment.from_string(template)
    except fault as error:
        raise ValueError(f"this is not a chat template: {error}") from error
    refused = fault, ArithmeticError, AttributeError, LookupError, TypeError, ValueError

    def render(messages: list[dict[str, Any]], *, prompt: bool) -> str | None:
        given = deepcopy({"messages": messages, "tools": _TOOLS, "add_generation_prompt": prompt})
        given |= {"functions": json.dumps([_TOOL]), "datetime": _DAY}  # Firefunction's names
        try:
            return str(compiled.render(**given, bos_token="<s>", eos_token="</s>"))  # noqa: S106 - a token of a model
        except refused:
            return None

    return render


def _dumped(value: Any, indent: int | None = None, **_: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=_listed)


def _listed(value: object) -> list[Any]:
    """Return what a filter such as `map` gives as a list."""
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError("no JSON value")


def _environment() -> tuple[Any, type[Exception]]:
    """Return the environment in which libraries render chat templates, and what it raises."""
    try:
        from jinja2 import TemplateError, ext, nodes  # noqa: PLC0415 - an extra
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("a chat template needs the extra: pip install 'wholecall[templates]'") from error

    class Generation(ext.Extension):
        """The tag `generation`, which marks the text of answers for training."""

        tags = {"generation"}  # noqa: RUF012 - as in the base class

        def parse(self, parser: Any) -> Any:
            parser.stream.expect("name:generation")
            return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True))

    def refuse(message: str) -> NoReturn:
        raise TemplateError(message)

    class Sandbox(ImmutableSandboxedEnvironment):
        """The sandbox of other libraries, in which Kimi K2's template could not collect the ids of its calls."""

        def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
            is_addition = isinstance(obj, list) and attr == "append" and len(obj) < _MOST_ADDED
            return is_addition or super().is_safe_attribute(obj, attr, value)

    environment: Any = Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[ext.loopcontrols, Generation]
    )
    environment.filters["tojson"] = _dumped
    environment.globals.update(raise_exception=refuse, strftime_now=lambda _form: _DAY)
    return environment, TemplateError
