"""Requests of Anthropic Messages: read into the form of no wire, and written from it.

Theory of operation. Tools and blocks that Anthropic's servers run (searches, containers, MCP) exist nowhere else: a
request with them is refused. Thoughts go to Anthropic only with their signature. Messages of one role in a row are one
message there, and results come first in theirs. System messages amidst a conversation move to the front, with a note.
An answer without a bound gets 8,192 tokens: a bound is required. Source: Anthropic API reference, "Create a Message".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, Final

from wholecall.discreet import compact
from wholecall.history.ids import CallIds
from wholecall.repairing.translation.asked import (
    EFFORTS,
    Asked,
    Call,
    Choice,
    File,
    Form,
    Image,
    Medium,
    Part,
    Result,
    Role,
    Said,
    Text,
    Thought,
    Tool,
)
from wholecall.repairing.translation.places import Wire, Writing, arguments_of, joined, texts_of
from wholecall.repairing.translation.reading import Members, Untranslatable, shown

_private = True

_MOST_USER: Final = 256  # characters
_MOST_TOKENS: Final = 8192
_MOST_HEAT: Final = 1.0
_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}
_MODES: Final = {"auto": "auto", "any": "required", "none": "none", "tool": "named"}
_WORDS: Final = {mode: word for word, mode in _MODES.items()}
_SERVER: Final = "runs on Anthropic's servers, and nowhere else"
_REFUSED: Final = {"container": _SERVER, "mcp_servers": _SERVER, "fallbacks": _SERVER, "thread": _SERVER}
_USUAL: Final[dict[str, tuple[Any, ...]]] = {
    "mcp_servers": ([],),
    "thinking": ({"type": "disabled"},),
    "context_management": ({}, {"edits": []}),
    "service_tier": ("auto",),
}
_OF_BLOCKS: Final[dict[str, tuple[Any, ...]]] = {
    "citations": ([], {"enabled": False}),
    "caller": ({"type": "direct"},),
}
_OF_TOOLS: Final[dict[str, tuple[Any, ...]]] = {
    "defer_loading": (False,),
    "eager_input_streaming": (False,),
    "allowed_callers": (["direct"],),
}
PLACES: Final = MappingProxyType(
    {
        "thought": "messages[].content[].thinking",
        "signature": "messages[].content[].signature",
        "failed": "messages[].content[].is_error",
        "stop": "stop_sequences",
        "effort": "output_config.effort",
        "form": "output_config.format",
        "user": "metadata.user_id",
        "url of a document": "messages[].content[].source.url",
        "parallel": "tool_choice.disable_parallel_tool_use",
        "strict": "tools[].strict",
        "place of a system message": "messages[].role",
    }
)


# Reading.


def read(asked: Members) -> Asked:
    """Return a request."""
    system = _system(asked)
    messages = tuple(_message(one) for one in asked.each("messages"))
    choice, parallel = _choice(asked.inner("tool_choice"))
    effort, form = _output(asked.inner("output_config"))
    if (older := asked.inner("output_format")) is not None:
        form = form or _form(older)
    metadata = asked.inner("metadata")
    user = "" if metadata is None else metadata.text("user_id")
    if metadata is not None:
        metadata.close()
    found = Asked(
        model=asked.need("model", str),
        said=(*system, *messages),
        tools=tuple(map(_tool, asked.each("tools"))),
        choice=choice,
        parallel=parallel,
        max_tokens=asked.take("max_tokens", int),
        temperature=asked.number("temperature"),
        top_p=asked.number("top_p"),
        stop=_stop(asked),
        stream=asked.take("stream", bool) or False,
        effort=effort,
        form=form,
        user=user,
    )
    asked.close(_USUAL, _REFUSED)
    return found


def _stop(asked: Members) -> tuple[str, ...]:
    words = asked.take("stop_sequences", list) or []
    if not all(isinstance(word, str) for word in words):
        raise Untranslatable(asked.at("stop_sequences"), "must be texts")
    return tuple(words)


def _system(asked: Members) -> list[Said]:
    parts = _content(asked, "system", {"text": _text})
    return [Said("system", tuple(parts))] if parts else []


def _message(message: Members) -> Said:
    name = message.need("role", str)
    if name not in _ROLES:
        raise Untranslatable(message.at("role"), "must be user, assistant or system")
    parts = _content(message, "content", _BLOCKS[_ROLES[name]])
    message.close()
    return Said(_ROLES[name], tuple(parts))


def _content(holder: Members, name: str, readers: dict[str, Callable[[Members], Any]]) -> list[Any]:
    """Return the parts of a content: text, or blocks of the types that have a reader."""
    value = holder.any(name)
    if value is None or isinstance(value, str):
        return [Text(value)] if value else []
    if not isinstance(value, list):
        raise Untranslatable(holder.at(name), "must be text or a list")
    parts = []
    for one in value:
        block = Members(one, f"{holder.at(name)}[]", holder.notes)
        kind = block.need("type", str)
        if kind not in readers:
            raise Untranslatable(
                block.at("type"), f"a block of this type, in this place, has no equal: {shown(kind)}"
            )
        if (part := readers[kind](block)) is not None:
            parts.append(part)
        block.close(_OF_BLOCKS)
    return parts


def _text(block: Members) -> Text:
    return Text(block.text("text"))


def _image(block: Members) -> Image:
    data, media_type, url = _source(block)
    return Image(data=data, media_type=media_type, url=url)


def _document(block: Members) -> Medium:
    source = block.inner("source")
    if source is not None and "data" in source and source.any("type") == "text":
        source.any("media_type")
        text = Text(source.text("data"))
        source.close()
        return text
    if source is None:
        raise Untranslatable(block.at("source"), "is missing")
    data, media_type, url = _opened(source)
    return File(data=data, media_type=media_type, url=url, name=block.text("title"))


def _source(block: Members) -> tuple[str, str, str]:
    source = block.inner("source")
    if source is None:
        raise Untranslatable(block.at("source"), "is missing")
    return _opened(source)


def _opened(source: Members) -> tuple[str, str, str]:
    source.any("type")
    found = source.text("data"), source.text("media_type"), source.text("url")
    source.close(refused={"file_id": "a file is on Anthropic's servers", "content": "has no equal"})
    if not (found[0] or found[2]):
        raise Untranslatable(source.path, "has neither data nor a URL")
    return found


def _thinking(block: Members) -> Thought:
    return Thought(block.text("thinking"), block.text("signature"))


def _redacted(block: Members) -> None:
    block.leave("data")


def _tool_use(block: Members) -> Call:
    value = block.any("input")
    if not isinstance(value, dict):
        raise Untranslatable(block.at("input"), "must be an object")
    return Call(block.need("id", str), block.need("name", str), compact(value))


def _tool_result(block: Members) -> Result:
    parts = _content(block, "content", {"text": _text, "image": _image, "document": _document})
    return Result(block.need("tool_use_id", str), tuple(parts), block.take("is_error", bool) or False)


_BLOCKS: Final[dict[Role, dict[str, Callable[[Members], Any]]]] = {
    "system": {"text": _text},
    "user": {"text": _text, "image": _image, "document": _document, "tool_result": _tool_result},
    "assistant": {
        "text": _text,
        "thinking": _thinking,
        "redacted_thinking": _redacted,
        "tool_use": _tool_use,
    },
}


def _tool(tool: Members) -> Tool:
    kind = tool.text("type") or "custom"
    if kind != "custom":
        raise Untranslatable(tool.at("type"), f"a tool that Anthropic defines has no equal: {shown(kind)}")
    found = Tool(
        tool.need("name", str),
        tool.take("description", str),
        tool.take("input_schema", dict),
        tool.take("strict", bool),
    )
    tool.close(_OF_TOOLS)
    return found


def _choice(choice: Members | None) -> tuple[Choice | None, bool | None]:
    if choice is None:
        return None, None
    word = choice.need("type", str)
    if word not in _MODES:
        raise Untranslatable(choice.at("type"), "must be auto, any, tool or none")
    name = choice.need("name", str) if word == "tool" else ""
    alone = choice.take("disable_parallel_tool_use", bool)
    choice.close()
    mode: Any = _MODES[word]
    return Choice(mode, name), None if alone is None else not alone


def _output(config: Members | None) -> tuple[str, Form | None]:
    if config is None:
        return "", None
    effort, inner = config.text("effort"), config.inner("format")
    config.close()
    return effort, None if inner is None else _form(inner)


def _form(form: Members) -> Form:
    if form.any("type") != "json_schema":
        raise Untranslatable(form.at("type"), "must be json_schema")
    found = Form(form.take("schema", dict) or {})
    form.close()
    return found


# Writing.


def write(asked: Asked, out: Writing) -> dict[str, Any]:
    """Return the body of a request."""
    system, said = _front(asked.said, out)
    body: dict[str, Any] = {"model": asked.model, "max_tokens": asked.max_tokens or _MOST_TOKENS}
    if system:
        body["system"] = system
    body["messages"] = _messages(said, out)
    if asked.tools:
        body["tools"] = [_said_tool(tool, out) for tool in asked.tools]
    if (choice := _said_choice(asked, out)) is not None:
        body["tool_choice"] = choice
    if asked.temperature is not None:
        if asked.temperature > _MOST_HEAT:
            out.refuse("temperature", "has no temperature above 1")
        body["temperature"] = asked.temperature
    if asked.top_p is not None:
        body["top_p"] = asked.top_p
    if asked.stop:
        body["stop_sequences"] = list(asked.stop)
    if asked.stream:
        body["stream"] = True
    return body | _wishes(asked, out)


def _wishes(asked: Asked, out: Writing) -> dict[str, Any]:
    """Return the members for effort, form and user."""
    config: dict[str, Any] = {}
    if asked.effort in EFFORTS:
        config["effort"] = asked.effort
    elif asked.effort:
        out.leave("effort")
    if asked.form is not None:
        if asked.form.schema is None:
            out.refuse("form", "has no JSON without a schema")
        config["format"] = {"type": "json_schema", "schema": asked.form.schema}
        for part, value in (
            ("name of the form", asked.form.name),
            ("about the form", asked.form.description),
        ):
            if value:
                out.leave(part)
    for name, value in asked.shared.items():
        if value is not False:
            out.leave(name)
    if asked.verbosity:
        out.leave("verbosity")
    wishes = {"output_config": config} if config else {}
    user = out.user(asked.user, _MOST_USER)
    return wishes | ({} if user is None else {"metadata": {"user_id": user}})


def _front(said: Iterable[Said], out: Writing) -> tuple[str, list[Said]]:
    """Return the text of the system's messages, and the other messages."""
    system: list[str] = []
    rest: list[Said] = []
    for message in said:
        if message.role != "system":
            rest.append(message)
            continue
        if rest:
            out.leave("place of a system message")
        system += texts_of(message.parts)
    return joined(system), rest


def _messages(said: Iterable[Said], out: Writing) -> list[dict[str, Any]]:
    merged: list[tuple[Role, list[Part]]] = []
    for message in said:
        if merged and merged[-1][0] == message.role:
            merged[-1][1].extend(message.parts)
        else:
            merged.append((message.role, list(message.parts)))
    ids = _ids(merged)
    messages = []
    for role, parts in merged:
        first = [part for part in parts if isinstance(part, Result)]
        rest = [part for part in parts if not isinstance(part, Result)]
        blocks = [block for part in (*first, *rest) if (block := _block(part, ids, out)) is not None]
        if blocks:
            messages.append({"role": role, "content": _short(blocks)})
    return messages


def _ids(merged: Iterable[tuple[Role, list[Part]]]) -> dict[str, str]:
    """Return the ids that Anthropic accepts, by those of the calls; valid ones stay."""
    calls = {part.id: part.name for _, parts in merged for part in parts if isinstance(part, Call)}
    _, ids = CallIds("anthropic").assign(calls.items())
    return dict(zip(calls, ids, strict=True))


def _short(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return a content of one text as text."""
    is_text = len(blocks) == 1 and blocks[0]["type"] == "text"
    return blocks[0]["text"] if is_text else blocks


def _block(part: Part, ids: dict[str, str], out: Writing) -> dict[str, Any] | None:
    if isinstance(part, Call):
        if part.is_custom:
            out.refuse("custom call", "has no free-text calls")
        call = {"type": "tool_use", "id": ids[part.id], "name": part.name}
        return {**call, "input": arguments_of(part.arguments)}
    if isinstance(part, Result):
        content = [block for one in part.parts if (block := _block(one, ids, out)) is not None]
        result = {"type": "tool_result", "tool_use_id": ids.get(part.id, part.id), "content": _short(content)}
        return {**result, "is_error": True} if part.failed else result if content else _empty(result)
    if isinstance(part, Thought):
        if part.signature:
            return {"type": "thinking", "thinking": part.text, "signature": part.signature}
        out.leave("thought")
        return None
    if isinstance(part, Text):
        return {"type": "text", "text": part.text} if part.text else None
    return _medium(part, out)


def _empty(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without a content."""
    return {name: value for name, value in result.items() if name != "content"}


def _medium(part: Image | File, out: Writing) -> dict[str, Any]:
    if isinstance(part, Image):
        if part.detail not in ("", "auto"):
            out.leave("detail")
        return {"type": "image", "source": _said_source(part)}
    named = {"title": part.name} if part.name else {}
    return {"type": "document", "source": _said_source(part), **named}


def _said_source(part: Image | File) -> dict[str, str]:
    if part.url:
        return {"type": "url", "url": part.url}
    return {"type": "base64", "media_type": part.media_type, "data": part.data}


def _said_tool(tool: Tool, out: Writing) -> dict[str, Any]:
    if tool.is_custom:
        out.refuse("custom tool", "has no free-text tools")
    described = {} if tool.description is None else {"description": tool.description}
    strict = {"strict": True} if tool.strict else {}
    schema = {"type": "object", **(tool.schema or {})}  # the type is required
    return {"name": tool.name, **described, "input_schema": schema, **strict}


def _said_choice(asked: Asked, out: Writing) -> dict[str, Any] | None:
    choice = asked.choice
    if choice is None and (asked.parallel is not False or not asked.tools):
        return None
    if choice is not None and choice.is_custom:
        out.refuse("custom tool", "has no free-text tools")
    mode = "auto" if choice is None else choice.mode
    named = {"name": choice.name} if choice is not None and mode == "named" else {}
    alone = {"disable_parallel_tool_use": not asked.parallel} if asked.parallel is not None else {}
    return {"type": _WORDS[mode], **named, **(alone if mode != "none" else {})}


ANTHROPIC: Final = Wire(read, write, PLACES, "/messages")
