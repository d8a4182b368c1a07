"""Requests of OpenAI's Responses: read into the form of no wire, and written from it.

Theory of operation. State on OpenAI's servers (earlier responses, conversations, prompts, references to items) exists
nowhere else: a request that relies on it is refused, and a request that is written here asks for none to be kept.
Reasoning goes nowhere: without its id and its encrypted content OpenAI refuses it. Tools are written with `strict`
false unless the request says otherwise, because here the default is true. Source: OpenAI API reference, "Create a model
response".
"""

from __future__ import annotations

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

_MOST_USER: Final = 64  # characters
_MODES: Final = frozenset({"auto", "required", "none"})
_STATE: Final = "is state on OpenAI's servers, and nowhere else"
_REFUSED: Final = {
    "previous_response_id": _STATE,
    "conversation": _STATE,
    "prompt": _STATE,
    "background": _STATE,
    "background_options": _STATE,
}
_USUAL: Final[dict[str, tuple[Any, ...]]] = {
    "background": (False,),
    "include": ([],),
    "top_logprobs": (0,),
    "truncation": ("disabled",),
    "context_management": ([],),
}
_OF_ITEMS: Final[dict[str, tuple[Any, ...]]] = {
    "status": ("completed",),
    "annotations": ([],),
    "logprobs": ([],),
    "caller": ({"type": "direct"},),
}
# The types of parts that a message may have.
_SAID_BY: Final[dict[Role, frozenset[str]]] = {
    "system": frozenset({"input_text"}),
    "user": frozenset({"input_text", "input_image", "input_file"}),
    "assistant": frozenset({"output_text", "refusal", "input_text"}),
}
_TEXTS: Final = {"input_text": "text", "output_text": "text", "refusal": "refusal"}
PLACES: Final = MappingProxyType(
    {
        "thought": "input[].summary",
        "effort": "reasoning.effort",
        "form": "text.format",
        "name of the form": "text.format.name",
        "about the form": "text.format.description",
        "user": "user",
        "verbosity": "text.verbosity",
        "custom tool": "tools[].type",
        "custom call": "input[].type",
        "detail": "input[].content[].detail",
        "place of a system message": "input[].role",
        "url of a document": "input[].content[].file_url",
        "parallel": "parallel_tool_calls",
    }
)


# Reading.


def read(asked: Members) -> Asked:
    """Return a request."""
    text, reasoning = asked.inner("text"), asked.inner("reasoning")
    form = None if text is None else _form(text.inner("format"))
    verbosity = "" if text is None else text.text("verbosity")
    effort = "" if reasoning is None else reasoning.text("effort")
    for inner in (text, reasoning):
        if inner is not None:
            inner.close()
    instructions = asked.text("instructions")
    front = [Said("system", (Text(instructions),))] if instructions else []
    found = Asked(
        model=asked.need("model", str),
        said=(*front, *_input(asked)),
        tools=tuple(map(_tool, asked.each("tools"))),
        choice=_choice(asked),
        parallel=asked.take("parallel_tool_calls", bool),
        max_tokens=asked.take("max_output_tokens", int),
        temperature=asked.number("temperature"),
        top_p=asked.number("top_p"),
        stream=asked.take("stream", bool) or False,
        effort=effort,
        form=form,
        user=asked.text("user"),
        verbosity=verbosity,
        shared={name: value for name in SHARED if (value := asked.any(name)) is not None},
    )
    options = asked.inner("stream_options")
    if options is not None:
        options.close({"include_obfuscation": (False,)})
    asked.close(_USUAL, _REFUSED)
    return found


def _input(asked: Members) -> list[Said]:
    value = asked.any("input")
    if value is None or isinstance(value, str):
        return [Said("user", (Text(value),))] if value else []
    if not isinstance(value, list):
        raise Untranslatable("input", "must be text or a list")
    said: list[Said] = []
    for one in value:
        message = _item(Members(one, "input[]", asked.notes))
        if message is None:
            continue
        if said and said[-1].role == message.role == "assistant":  # a turn is several items
            said[-1] = Said("assistant", (*said[-1].parts, *message.parts))
        else:
            said.append(message)
    return said


def _item(item: Members) -> Said | None:
    kind = item.text("type") or "message"
    said: Said
    if kind == "message":
        name = item.need("role", str)
        if name not in ROLES:
            raise Untranslatable(item.at("role"), "must be user, assistant, system or developer")
        said = Said(ROLES[name], tuple(_content(item, "content", _SAID_BY[ROLES[name]])))
    elif kind in _CALLS:
        text = item.text(_CALLS[kind])
        call = Call(item.need("call_id", str), item.need("name", str), text, kind == "custom_tool_call")
        said = Said("assistant", (call,))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        parts = tuple(_content(item, "output", _SAID_BY["user"]))
        result = Result(item.need("call_id", str), parts, is_custom=kind.startswith("custom"))
        said = Said("user", (result,))
    elif kind == "reasoning":
        return _reasoning(item)
    else:
        raise Untranslatable(item.at("type"), f"an item of this type has no equal: {shown(kind)}")
    item.any("id")
    item.close(_OF_ITEMS, {"namespace": "has no equal"})
    return said


_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}


def _reasoning(item: Members) -> Said | None:
    parts = [part for name in ("summary", "content") for part in item.each(name)]
    texts = [part.text("text") for part in parts]
    for part in parts:
        part.any("type")
        part.close()
    item.any("id")
    item.close(_OF_ITEMS)
    text = places.joined(texts)
    return Said("assistant", (Thought(text),)) if text else None


def _content(item: Members, name: str, kinds: frozenset[str]) -> list[Medium]:
    value = item.any(name)
    if value is None or isinstance(value, str):
        return [Text(value)] if value else []
    if not isinstance(value, list):
        raise Untranslatable(item.at(name), "must be text or a list")
    return [_part(Members(one, f"{item.at(name)}[]", item.notes), kinds) for one in value]


def _part(part: Members, kinds: frozenset[str]) -> Medium:
    kind = part.need("type", str)
    if kind not in kinds:
        raise Untranslatable(
            part.at("type"), f"a part of this type, in this place, has no equal: {shown(kind)}"
        )
    found: Medium
    if kind in _TEXTS:
        found = Text(part.text(_TEXTS[kind]))
    elif kind == "input_image":
        found = places.image_of(part.text("image_url"), part.at("image_url"), part.text("detail"))
    else:
        url = part.text("file_url") or part.text("file_data")
        found = places.file_of(url, part.at("file_data"), part.text("filename"))
    part.close(_OF_ITEMS, {"file_id": _STATE})
    return found


def _tool(tool: Members) -> Tool:
    kind = tool.need("type", str)
    if kind not in ("function", "custom"):
        raise Untranslatable(tool.at("type"), f"a tool that OpenAI defines has no equal: {shown(kind)}")
    found = Tool(
        tool.need("name", str),
        tool.take("description", str),
        tool.take("parameters", dict),
        tool.take("strict", bool),
        kind == "custom",
        tool.take("format", dict),
    )
    tool.close({"defer_loading": (False,), "allowed_callers": (["direct"],)})
    return found


def _choice(asked: Members) -> Choice | None:
    value = asked.any("tool_choice")
    if value is None:
        return None
    if isinstance(value, str) and value in _MODES:
        mode: Any = value
        return Choice(mode)
    choice = Members(value, asked.at("tool_choice"), asked.notes)
    kind = choice.need("type", str)
    if kind not in ("function", "custom"):
        raise Untranslatable(choice.at("type"), "has no equal")
    name = choice.need("name", str)
    choice.close()
    return Choice("named", name, kind == "custom")


def _form(form: Members | None) -> Form | None:
    if form is None:
        return None
    kind = form.need("type", str)
    found: Form | None = None
    if kind == "json_schema":
        schema, name = form.take("schema", dict) or {}, form.text("name")
        found = Form(schema, name, form.take("strict", bool), form.text("description"))
    elif kind == "json_object":
        found = Form()
    elif kind != "text":
        raise Untranslatable(form.at("type"), "has no equal")
    form.close()
    return found


# Writing.


def write(asked: Asked, out: places.Writing) -> dict[str, Any]:
    """Return the body of a request, of which OpenAI keeps nothing."""
    front, said = _front(asked.said)
    body: dict[str, Any] = {"model": asked.model}
    if front:
        body["instructions"] = front
    calls = (part for message in said for part in message.parts if isinstance(part, Call))
    custom = {call.id for call in calls if call.is_custom}
    body["input"] = [item for message in said for item in _items(message, custom, out)]
    if asked.tools:
        body["tools"] = list(map(_said_tool, asked.tools))
    if asked.choice is not None:
        body["tool_choice"] = _said_choice(asked.choice)
    if asked.stop:
        out.leave("stop")
    text = {
        "format": None if asked.form is None else _said_form(asked.form),
        "verbosity": asked.verbosity or None,
    }
    optional = {
        "parallel_tool_calls": asked.parallel,
        "max_output_tokens": asked.max_tokens,
        "temperature": asked.temperature,
        "top_p": asked.top_p,
        "reasoning": {"effort": asked.effort} if asked.effort else None,
        "text": {name: value for name, value in text.items() if value is not None} or None,
        "user": out.user(asked.user, _MOST_USER),
        "stream": asked.stream or None,
        "store": False,
        **asked.shared,
    }
    return body | {name: value for name, value in optional.items() if value is not None}


def _front(said: tuple[Said, ...]) -> tuple[str, tuple[Said, ...]]:
    """Return the text of the first message if it is the system's, and the others."""
    if said and said[0].role == "system":
        return places.joined(places.texts_of(said[0].parts)), said[1:]
    return "", said


def _items(message: Said, custom: set[str], out: places.Writing) -> list[dict[str, Any]]:
    """Return the items of a message: its results and calls are items of their own, its other parts a message."""
    first: list[dict[str, Any]] = []
    last: list[dict[str, Any]] = []
    content: list[dict[str, Any]] = []
    for part in message.parts:
        if isinstance(part, Result):
            if part.failed:
                out.leave("failed")
            first.append(_said_result(part, is_custom=part.is_custom or part.id in custom))
        elif isinstance(part, Call):
            last.append(_said_call(part))
        elif isinstance(part, Thought):
            out.leave("thought")
        else:
            content.append(_said_part(part, message.role))
    if not content:
        return [*first, *last]
    is_text = len(content) == 1 and "text" in content[0]
    whole = {"role": message.role, "content": content[0]["text"] if is_text else content}
    return [*first, whole, *last]


def _said_result(result: Result, *, is_custom: bool) -> dict[str, Any]:
    kind = "custom_tool_call_output" if is_custom else "function_call_output"
    is_text = all(isinstance(part, Text) for part in result.parts)
    parts = [_said_part(part, "user") for part in result.parts]
    output = places.joined(places.texts_of(result.parts)) if is_text else parts
    return {"type": kind, "call_id": result.id, "output": output}


def _said_call(call: Call) -> dict[str, Any]:
    kind = "custom_tool_call" if call.is_custom else "function_call"
    return {"type": kind, "call_id": call.id, "name": call.name, _CALLS[kind]: call.arguments}


def _said_part(part: Part, role: Role) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "output_text" if role == "assistant" else "input_text", "text": part.text}
    if isinstance(part, Image):
        return {"type": "input_image", "image_url": places.url_of(part), "detail": part.detail or "auto"}
    assert isinstance(part, File)
    if part.url:
        return {"type": "input_file", "file_url": part.url}
    return {"type": "input_file", "filename": part.name or "document", "file_data": places.url_of(part)}


def _said_tool(tool: Tool) -> dict[str, Any]:
    described = {} if tool.description is None else {"description": tool.description}
    if tool.is_custom:
        form = {} if tool.grammar is None else {"format": tool.grammar}
        return {"type": "custom", "name": tool.name, **described, **form}
    schema = {"type": "object", "properties": {}} if tool.schema is None else tool.schema
    strict = tool.strict is True
    return {"type": "function", "name": tool.name, **described, "parameters": schema, "strict": strict}


def _said_choice(choice: Choice) -> str | dict[str, Any]:
    if choice.mode != "named":
        return choice.mode
    return {"type": "custom" if choice.is_custom else "function", "name": choice.name}


def _said_form(form: Form) -> dict[str, Any]:
    if form.schema is None:
        return {"type": "json_object"}
    strict = {} if form.strict is None else {"strict": form.strict}
    about = {"description": form.description} if form.description else {}
    return {"type": "json_schema", "name": form.name or "answer", **about, "schema": form.schema, **strict}


RESPONSES: Final = places.Wire(read, write, PLACES, "/responses")
