"""Requests of Chat Completions: read into the form of no wire, and written from it.

Theory of operation. Results are messages here, and hold text alone: pictures and documents of a result follow in a
message of the user's. Reasoning goes back as `reasoning_content`, as engines and DeepSeek read it. The older form
(`functions`), several choices, sound and probabilities exist in no other wire: a request with them is refused.
Sources: OpenAI API reference, "Create chat completion"; vLLM, "Reasoning outputs".
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

from wholecall.repairing.translation import places
from wholecall.repairing.translation.asked import (
    ROLES,
    SHARED,
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
from wholecall.repairing.translation.reading import Members, Untranslatable, shown

_private = True

# The types of parts that a message may have.
_SAID_BY: Final[dict[Role, frozenset[str]]] = {
    "system": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "file"}),
    "assistant": frozenset({"text", "refusal"}),
}
_SAID_BY_TOOLS: Final = frozenset({"text", "image_url"})
_MOST_USER: Final = 64  # characters
_MODES: Final = frozenset({"auto", "required", "none"})
_OLD: Final = "is the older form of tools; use tools"
_ONLY_HERE: Final = "exists in Chat Completions alone"
_REFUSED: Final = {
    "functions": _OLD,
    "function_call": _OLD,
    "n": _ONLY_HERE,
    "audio": _ONLY_HERE,
    "modalities": _ONLY_HERE,
    "logprobs": _ONLY_HERE,
    "top_logprobs": _ONLY_HERE,
    "web_search_options": "runs on OpenAI's servers, and nowhere else",
}
_USUAL: Final[dict[str, tuple[Any, ...]]] = {
    "n": (1,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "modalities": (["text"],),
    "frequency_penalty": (0, 0.0),
    "presence_penalty": (0, 0.0),
    "logit_bias": ({},),
    "function_call": ("auto", "none"),
}
_OF_MESSAGES: Final[dict[str, tuple[Any, ...]]] = {
    "annotations": ([],),
    "reasoning_details": ([],),
    "tool_calls": ([],),
}
PLACES: Final = MappingProxyType(
    {
        "thought": "messages[].reasoning_content",
        "stop": "stop",
        "effort": "reasoning_effort",
        "form": "response_format",
        "name of the form": "response_format.json_schema.name",
        "about the form": "response_format.json_schema.description",
        "user": "user",
        "custom tool": "tools[].type",
        "custom call": "messages[].tool_calls[].type",
        "detail": "messages[].content[].image_url.detail",
        "place of a system message": "messages[].role",
        "parallel": "parallel_tool_calls",
    }
)


# Reading.


def read(asked: Members) -> Asked:
    """Return a request."""
    options = asked.inner("stream_options")
    usage = options is not None and options.take("include_usage", bool) is True
    if options is not None:
        options.close({"include_obfuscation": (False,)})
    newer, older = asked.take("max_completion_tokens", int), asked.take("max_tokens", int)
    found = Asked(
        model=asked.need("model", str),
        said=tuple(map(_message, asked.each("messages"))),
        tools=tuple(map(_tool, asked.each("tools"))),
        choice=_choice(asked),
        parallel=asked.take("parallel_tool_calls", bool),
        max_tokens=newer if newer is not None else older,
        temperature=asked.number("temperature"),
        top_p=asked.number("top_p"),
        stop=_stop(asked),
        stream=asked.take("stream", bool) or False,
        wants_usage=usage,
        effort=asked.text("reasoning_effort"),
        form=_form(asked.inner("response_format")),
        user=asked.text("user"),
        verbosity=asked.text("verbosity"),
        shared={name: value for name in SHARED if (value := asked.any(name)) is not None},
    )
    asked.close(_USUAL, _REFUSED)
    return found


def _stop(asked: Members) -> tuple[str, ...]:
    value = asked.any("stop")
    words = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise Untranslatable(asked.at("stop"), "must be text, or a list of texts")
    return tuple(words)


def _message(message: Members) -> Said:
    name = message.need("role", str)
    if name == "tool":
        result = Result(message.need("tool_call_id", str), tuple(_content(message, _SAID_BY_TOOLS)))
        message.close()
        return Said("user", (result,))
    if name not in ROLES:
        raise Untranslatable(message.at("role"), "is unknown, or of the older form of tools")
    role = ROLES[name]
    parts: list[Part] = []
    if role == "assistant" and (thought := message.text("reasoning_content") or message.text("reasoning")):
        parts.append(Thought(thought))
    parts += _content(message, _SAID_BY[role])
    if role == "assistant":
        refusal = message.text("refusal")
        parts += [Text(refusal)] if refusal else []
        parts += map(_call, message.each("tool_calls"))
    message.close(_OF_MESSAGES, {"audio": _ONLY_HERE, "function_call": _OLD})
    return Said(role, tuple(parts))


def _content(message: Members, kinds: frozenset[str]) -> list[Medium]:
    value = message.any("content")
    if value is None or isinstance(value, str):
        return [Text(value)] if value else []
    if not isinstance(value, list):
        raise Untranslatable(message.at("content"), "must be text or a list")
    place = f"{message.at('content')}[]"
    return [_part(Members(one, place, message.notes), kinds) for one in value]


def _part(part: Members, kinds: frozenset[str]) -> Medium:
    kind = part.need("type", str)
    inner = part.inner(kind) if kind in ("image_url", "file") else None
    if kind not in kinds or (inner is None and kind not in ("text", "refusal")):
        raise Untranslatable(
            part.at("type"), f"a part of this type, in this place, has no equal: {shown(kind)}"
        )
    found: Medium
    if inner is None:
        found = Text(part.text(kind))
    elif kind == "image_url":
        found = places.image_of(inner.need("url", str), inner.at("url"), inner.text("detail"))
    else:
        found = places.file_of(inner.text("file_data"), inner.at("file_data"), inner.text("filename"))
    if inner is not None:
        inner.close()
    part.close()
    return found


def _call(call: Members) -> Call:
    kind = call.text("type") or "function"
    inner = call.inner(kind) if kind in ("function", "custom") else None
    if inner is None:
        raise Untranslatable(call.at("type"), "must be function or custom, with a member of this name")
    text = inner.text("input" if kind == "custom" else "arguments")
    found = Call(call.need("id", str), inner.need("name", str), text, kind == "custom")
    inner.close()
    call.any("index")
    call.close()
    return found


def _tool(tool: Members) -> Tool:
    kind = tool.need("type", str)
    inner = tool.inner(kind) if kind in ("function", "custom") else None
    if inner is None:
        raise Untranslatable(tool.at("type"), "must be function or custom, with a member of this name")
    found = Tool(
        inner.need("name", str),
        inner.take("description", str),
        inner.take("parameters", dict),
        inner.take("strict", bool),
        kind == "custom",
        _flat(inner.take("format", dict)),
    )
    inner.close()
    tool.close()
    return found


def _flat(form: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the format of a free-text tool with its grammar in the same object, as Responses has it."""
    inner = None if form is None else form.get("grammar")
    return {"type": "grammar", **inner} if isinstance(inner, dict) else form


def _choice(asked: Members) -> Choice | None:
    value = asked.any("tool_choice")
    if value is None:
        return None
    if isinstance(value, str) and value in _MODES:
        mode: Any = value
        return Choice(mode)
    choice = Members(value, asked.at("tool_choice"), asked.notes)
    kind = choice.need("type", str)
    inner = choice.inner(kind) if kind in ("function", "custom") else None
    if inner is None:
        raise Untranslatable(choice.at("type"), "has no equal")
    name = inner.need("name", str)
    inner.close()
    choice.close()
    return Choice("named", name, kind == "custom")


def _form(form: Members | None) -> Form | None:
    if form is None:
        return None
    kind, inner = form.need("type", str), form.inner("json_schema")
    form.close()
    if kind == "text":
        return None
    if kind == "json_object":
        return Form()
    if kind != "json_schema" or inner is None:
        raise Untranslatable(form.at("type"), "has no equal")
    found = Form(
        inner.take("schema", dict) or {},
        inner.text("name"),
        inner.take("strict", bool),
        inner.text("description"),
    )
    inner.close()
    return found


# Writing.


def write(asked: Asked, out: places.Writing) -> dict[str, Any]:
    """Return the body of a request; a stream is asked for with its usage."""
    body: dict[str, Any] = {"model": asked.model, "messages": _messages(_placed(asked.said, out), out)}
    if asked.tools:
        body["tools"] = list(map(_said_tool, asked.tools))
    if asked.choice is not None:
        body["tool_choice"] = _said_choice(asked.choice)
    optional = {
        "parallel_tool_calls": asked.parallel,
        "max_tokens": asked.max_tokens,
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "stop": list(asked.stop) or None,
        "reasoning_effort": asked.effort or None,
        "response_format": None if asked.form is None else _said_form(asked.form),
        "user": out.user(asked.user, _MOST_USER),
        "verbosity": asked.verbosity or None,
        "stream": asked.stream or None,
        "stream_options": {"include_usage": True} if asked.stream else None,
        **{name: value for name, value in asked.shared.items() if value is not False},  # `store`
    }
    return body | {name: value for name, value in optional.items() if value is not None}


def _placed(said: Iterable[Said], out: places.Writing) -> list[Said]:
    """Return the messages with none of the system's but the first: the chat templates of many models refuse others.

    Those in front of the others become one. A later one stays where it is, as words of the user's: moved to the front it
    would change what an engine has read already.
    """
    system: list[Part] = []
    placed: list[Said] = []
    for message in said:
        if message.role != "system":
            placed.append(message)
        elif not placed:
            system += message.parts
        else:
            out.leave("place of a system message")
            before = placed.pop().parts if placed[-1].role == "user" else ()
            placed.append(Said("user", (*before, *message.parts)))
    return [Said("system", tuple(system)), *placed] if system else placed


def _messages(said: Iterable[Said], out: places.Writing) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for message in said:
        if message.role == "system":
            messages.append({"role": "system", "content": places.joined(places.texts_of(message.parts))})
        elif message.role == "assistant":
            messages.append(_assistant(message.parts, out))
        else:
            messages += _user(message.parts, out)
    return messages


def _assistant(parts: Iterable[Part], out: places.Writing) -> dict[str, Any]:
    listed = list(parts)
    thoughts = [part for part in listed if isinstance(part, Thought)]
    calls = [_said_call(part) for part in listed if isinstance(part, Call)]
    if any(one.signature for one in thoughts):
        out.leave("signature")
    text = places.joined(places.texts_of(listed))
    message: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
    if thought := places.joined(one.text for one in thoughts):
        message["reasoning_content"] = thought
    return message | ({"tool_calls": calls} if calls else {})


def _user(parts: Iterable[Part], out: places.Writing) -> list[dict[str, Any]]:
    listed = list(parts)
    messages: list[dict[str, Any]] = []
    content: list[dict[str, Any]] = []
    for part in listed:
        if not isinstance(part, Result):
            continue
        if part.failed:
            out.leave("failed")
        messages.append({"role": "tool", "tool_call_id": part.id, "content": _said_result(part)})
        media = [one for one in part.parts if not isinstance(one, Text)]
        if media:
            content.append({"type": "text", "text": f"The result of the call {part.id}:"})
            content += [_said_part(one, out) for one in media]
    content += [_said_part(part, out) for part in listed if isinstance(part, (Text, Image, File))]
    if content or not messages:
        is_text = len(content) == 1 and content[0]["type"] == "text"
        messages.append({"role": "user", "content": content[0]["text"] if is_text else content})
    return messages


def _said_result(result: Result) -> str:
    text = places.joined(places.texts_of(result.parts))
    shown = any(not isinstance(one, Text) for one in result.parts)
    return text or ("The result follows." if shown else "The tool failed." if result.failed else "")


def _said_part(part: Medium, out: places.Writing) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        detail = {"detail": part.detail} if part.detail else {}
        return {"type": "image_url", "image_url": {"url": places.url_of(part), **detail}}
    if part.url:
        out.refuse("url of a document", "has documents as data alone")
    return {"type": "file", "file": {"filename": part.name or "document", "file_data": places.url_of(part)}}


def _said_call(call: Call) -> dict[str, Any]:
    kind, member = ("custom", "input") if call.is_custom else ("function", "arguments")
    return {"id": call.id, "type": kind, kind: {"name": call.name, member: call.arguments}}


def _said_tool(tool: Tool) -> dict[str, Any]:
    kind = "custom" if tool.is_custom else "function"
    members = {
        "description": tool.description,
        "parameters": tool.schema,
        "strict": tool.strict,
        "format": _nested(tool.grammar),
    }
    return {
        "type": kind,
        kind: {"name": tool.name, **{name: value for name, value in members.items() if value is not None}},
    }


def _nested(form: dict[str, Any] | None) -> dict[str, Any] | None:
    if form is None or form.get("type") != "grammar":
        return form
    return {"type": "grammar", "grammar": {name: value for name, value in form.items() if name != "type"}}


def _said_choice(choice: Choice) -> str | dict[str, Any]:
    if choice.mode != "named":
        return choice.mode
    kind = "custom" if choice.is_custom else "function"
    return {"type": kind, kind: {"name": choice.name}}


def _said_form(form: Form) -> dict[str, Any]:
    if form.schema is None:
        return {"type": "json_object"}
    strict = {} if form.strict is None else {"strict": form.strict}
    about = {"description": form.description} if form.description else {}
    schema = {"name": form.name or "answer", **about, "schema": form.schema, **strict}
    return {"type": "json_schema", "json_schema": schema}


CHAT: Final = places.Wire(read, write, PLACES, "/chat/completions")
