"""Writers: each format's own form of calls, from decoded arguments, and the limits of a raw value in it.

A raw value has no escaping, so it cannot hold its own end, nor a marker of its format that is a single token of the
model's vocabulary; all else it can.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wholecall.text.formats_shared import PREFIXED


class Call(NamedTuple):
    """A call: its tool's name, and its arguments."""

    name: str
    arguments: Mapping[str, Any]


class Writer(NamedTuple):
    """A format's way to write calls.

    Attributes:
        write: returns calls as text.
        never: text that no string in them may hold; no string of a raw value, if `raw`.
        raw: whether values are raw, so that a schema says their types.
        before: the text before the calls.
        behind: whether text may follow.
        most: how many calls there can be.
    """

    write: Callable[[Sequence[Call]], str]
    never: tuple[str, ...] = ()
    raw: bool = False
    before: str = "So be it. "
    behind: str = " Done."
    most: int = 3


PROSE: Final = ("So be it. ", " Done.")
_KINDS: Final[Mapping[type, str]] = {
    str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array",
    type(None): "null",
}  # fmt: skip


def kind_of(value: Any) -> str:
    """Return the kind of JSON that a value is."""
    return _KINDS[type(value)]


def schema_of(value: Any) -> dict[str, Any]:
    """Return a JSON Schema that a value fits, down to its leaves."""
    if isinstance(value, dict):
        return {"type": "object", "properties": {key: schema_of(item) for key, item in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": schema_of(value[0]) if value else {}}
    return {"type": "string"} if isinstance(value, str) else {"type": kind_of(value)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _raw(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


# --- JSON ----------------------------------------------------------------------------------------------------


def _objects(calls: Sequence[Call], key: str = "arguments") -> list[str]:
    return [_json({"name": call.name, key: call.arguments}) for call in calls]


def _each(opens: str, closes: str, key: str = "arguments") -> Writer:
    return Writer(lambda calls: "\n".join(f"{opens}{one}{closes}" for one in _objects(calls, key)))


def _list(opens: str, closes: str, key: str = "arguments", **more: Any) -> Writer:
    return Writer(lambda calls: f"{opens}[{', '.join(_objects(calls, key))}]{closes}", **more)


def _named(opens: str, each: str, closes: str, **more: Any) -> Writer:
    def write(calls: Sequence[Call]) -> str:
        texts = (
            each.replace("NAME", call.name)
            .replace("NUMBER", str(number))
            .replace("OBJECT", _json(call.arguments))
            for number, call in enumerate(calls)
        )
        return f"{opens}{''.join(texts)}{closes}"

    return Writer(write, **more)


# --- Tags ----------------------------------------------------------------------------------------------------


def _tagged(
    each: str,
    value: str,
    closes: str,
    *,
    opens: str = "",
    ends: str = "",
    never: tuple[str, ...],
    spell: Callable[[Any], str] = _raw,
    **more: Any,
) -> Writer:
    def one(call: Call) -> str:
        texts = (
            value.replace("KEY", key)
            .replace("KIND", kind_of(item))
            .replace("IS_TEXT", "true" if isinstance(item, str) else "false")
            .replace("VALUE", spell(item))
            for key, item in call.arguments.items()
        )
        return f"{each.replace('NAME', call.name)}{''.join(texts)}{closes}"

    def write(calls: Sequence[Call]) -> str:
        return f"{opens}{''.join(map(one, calls))}{ends}"

    return Writer(write, never, True, **more)


def _pairs(
    word: str, opens: str = "", ends: str = "", sep: str = "\n", key_word: str | None = None, **more: Any
) -> Writer:
    call, of = f"{word}tool_call>", word if key_word is None else key_word
    key, value = f"{of}arg_key>", f"{of}arg_value>"
    typed = f"<{word}arg_type>KIND</{word}arg_type>" if word == "ifm|" else ""
    return _tagged(
        f"<{call}NAME{sep}", f"<{key}KEY</{key}{typed}<{value}VALUE</{value}\n", f"</{call}", opens=opens, ends=ends,
        never=(
            *(f"<{key}", f"</{key}", f"<{value}", f"</{value}", f"</{call}", f"<end_of_{call}", "</content>"),
            *(("<ifm|", "</ifm|") if word == "ifm|" else ()),
        ),
        **more,
    )  # fmt: skip


def _attr(call: str, key: str, line: str = "\n", **more: Any) -> Writer:
    prefixed = (
        f"<{PREFIXED}{key} name=",
        f"</{PREFIXED}{key}>",
        f"</{PREFIXED}{call}>",
    )  # which end them as well
    return _tagged(
        f'<{call} name="NAME">\n', f'<{key} name="KEY">{line}VALUE{line}</{key}>\n', f"</{call}>\n",
        never=(f"<{key} name=", f"</{key}>", f"</{call}>", "</content>", *prefixed), **more,
    )  # fmt: skip


# --- Python, relaxed objects, elements -----------------------------------------------------------------------


def _python(calls: Sequence[Call]) -> str:
    written = (
        f"{c.name}({', '.join(f'{key}={value!r}' for key, value in c.arguments.items())})" for c in calls
    )
    return f"[{', '.join(written)}]"


def _relaxed(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key}:{_relaxed(item, quote)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(_relaxed(item, quote) for item in value)}]"
    return _json(value)


def _calling(opens: str, closes: str, quote: str) -> Writer:
    def write(calls: Sequence[Call]) -> str:
        return "".join(f"{opens}call:{c.name}{_relaxed(c.arguments, quote)}{closes}" for c in calls)

    return Writer(write, (quote,))


_M3: Final = "]<]minimax[>["


def _element(key: str, value: Any) -> str:
    if isinstance(value, dict):
        inner = "".join(_element(name, item) for name, item in value.items())
    elif isinstance(value, list):
        inner = "".join(_element("item", item) for item in value)
    else:
        inner = _raw(value)
    return f"{_M3}<{key}>{inner}{_M3}</{key}>"


def _elements(calls: Sequence[Call]) -> str:
    texts = (
        f'{_M3}<invoke name="{c.name}">{"".join(_element(k, v) for k, v in c.arguments.items())}{_M3}</invoke>'
        for c in calls
    )
    return f"{_M3}<tool_call>{''.join(texts)}{_M3}</tool_call>"


def _in_lines(calls: Sequence[Call]) -> str:
    return "\n".join(_python([call])[1:-1] for call in calls)


def _fenced(calls: Sequence[Call]) -> str:
    return "\n".join(f"**Tool Call:**\n```json\n{one}\n```" for one in _objects(calls))


def _react(calls: Sequence[Call]) -> str:
    return f"Action: {calls[0].name}\nAction Input: {_json(calls[0].arguments)}\nObservation: fine."


_FUNCTION: Final[dict[str, Any]] = {
    "each": "<function=NAME>\n",
    "value": "<parameter=KEY>\nVALUE\n</parameter>\n",
    "closes": "</function>\n",
}
_FUNCTION_NEVER: Final = ("<parameter=", "</parameter>", "</function>", "</content>")
_DSML: Final = "｜DSML｜"  # noqa: RUF001 - its bars are full-width
_GCML: Final = "｜GCML｜"  # noqa: RUF001
_PLAMO: Final = "<|plamo:{}:plamo|>"


def _plamo(*words: str) -> str:
    return "".join(word if word[0] in "<NO" else _PLAMO.format(word) for word in words)


_CALL_BEFORE: Final = "<|channel|>analysis<|message|>So.<|end|>"

WRITERS: Final[Mapping[str, Writer]] = {
    "hermes": _each("<tool_call>\n", "\n</tool_call>"),
    "qwen_xml": _tagged(
        "<tool_call>\n<function=NAME>\n", _FUNCTION["value"], "</function>\n</tool_call>\n",
        never=(*_FUNCTION_NEVER, "</tool_call>"),
    ),
    "seed_oss": _tagged(
        **_FUNCTION, opens="<seed:tool_call>\n", ends="</seed:tool_call>", never=(*_FUNCTION_NEVER, "</seed:tool_call>")
    ),
    "glm": _pairs(""),
    "hunyuan_v3": _pairs("", "<tool_calls>\n", "\n</tool_calls>", sep="<tool_sep>\n"),
    "hyperclovax": _pairs("", spell=_json),
    "iquest": _pairs("iquestcoder_", key_word=""),
    "deepseek": _named(
        "<｜tool▁calls▁begin｜>",  # noqa: RUF001
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nOBJECT\n```<｜tool▁call▁end｜>",  # noqa: RUF001
        "<｜tool▁calls▁end｜>",  # noqa: RUF001
    ),
    "dsml": _tagged(
        f'<{_DSML}invoke name="NAME">\n',
        f'<{_DSML}parameter name="KEY" string="IS_TEXT">VALUE</{_DSML}parameter>\n',
        f"</{_DSML}invoke>\n",
        opens=f"<{_DSML}tool_calls>\n",
        ends=f"</{_DSML}tool_calls>",
        never=("DSML",),
    ),
    "gigachat35": _tagged(
        f'<{_GCML}invoke name="NAME">\n',
        f'<{_GCML}parameter name="KEY" string="IS_TEXT">VALUE</{_GCML}parameter>\n',
        f"</{_GCML}invoke>\n",
        opens=f"<{_GCML}tool_calls>\n",
        ends=f"</{_GCML}tool_calls>",
        never=("GCML",),
    ),
    "kimi_k2": _named(
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>functions.NAME:NUMBER<|tool_call_argument_begin|>OBJECT<|tool_call_end|>",
        "<|tool_calls_section_end|>",
    ),
    "kimi_k3": _tagged(
        '<|open|>call tool="NAME"<|sep|>',
        '<|open|>argument key="KEY" type="KIND"<|sep|>VALUE<|close|>argument<|sep|>',
        "<|close|>call<|sep|>",
        opens="<|open|>tools<|sep|>",
        ends="<|close|>tools<|sep|>",
        never=("<|open|>", "<|close|>", "<|sep|>"),
    ),
    "mistral": _named("", "[TOOL_CALLS]NAME[ARGS]OBJECT", ""),
    "llama3_json": _each("<|python_tag|>", "", "parameters"),
    "llama_pythonic": Writer(lambda calls: f"<|python_start|>{_python(calls)}<|python_end|>"),
    "lfm2": Writer(lambda calls: f"<|tool_call_start|>{_python(calls)}<|tool_call_end|>"),
    "olmo3": Writer(lambda calls: f"<function_calls>{_python(calls)[1:-1]}</function_calls>"),
    "anthropic": _attr("invoke", "parameter", opens="<function_calls>\n", ends="</function_calls>"),
    "minimax_m2": _attr("invoke", "parameter", opens="<minimax:tool_call>\n", ends="</minimax:tool_call>"),
    "minimax_m3": Writer(_elements, (_M3,), True),
    "minimax_m1": _each("<tool_calls>\n", "\n</tool_calls>"),
    "jamba": _list("<tool_calls>", "</tool_calls>"),
    "apriel": _list("<tool_calls>", "</tool_calls>"),
    "gemma4": _calling("<|tool_call>", "<tool_call|>", '<|"|>'),
    "functiongemma": _calling("<start_function_call>", "<end_function_call>", "<escape>"),
    "harmony": _named(
        "", "<|start|>assistant to=functions.NAME<|channel|>commentary json<|message|>OBJECT<|call|>", "",
        before=_CALL_BEFORE, behind="",
    ),
    "beam": _tagged(
        "<|start|>assistant to=functions.NAME<|channel|>analysis <|constrain|>xml<|message|>",
        '<rfl:parameter name="KEY">\nVALUE\n</rfl:parameter>',
        "<|call|>",
        never=(
            *("<rfl:parameter name=", "</rfl:parameter>", "<|call|>", "<|end|>", "<|return|>", "</content>"),
            *("<|start|>", "<|channel|>", "<|message|>"),
        ),
        before=_CALL_BEFORE,
        behind="",
    ),
    "muse": _attr("atem:invoke", "atem:parameter", "", opens="<atem:function_calls>\n", ends="</atem:function_calls>"),
    "cohere": _list("<|START_ACTION|>", "<|END_ACTION|>", "parameters"),
    "granite": _list("<|tool_call|>", ""),
    "granite_pythonic": Writer(_in_lines, before="So be it.\n", behind=""),
    "functionary": _named("", "<|recipient|>NAME\n<|content|>OBJECT", ""),
    "functools": _list("functools", ""),
    "xlam": _list("[TOOL_CALLS]", ""),
    "nemotron_v2": _list("<TOOLCALL>", "</TOOLCALL>"),
    "internlm2": _each("<|action_start|><|plugin|>\n", "\n<|action_end|>", "parameters"),
    "ernie45": _each("<tool_call>\n", "\n</tool_call>\n"),
    "gigachat3": _each("<|function_call|>", ""),
    "step_audio2": _named("", "<tool_call>function\nNAME\nOBJECT</tool_call>", ""),
    "solar_open": _named(
        "<|tool_calls|>",
        "<|tool_call:begin|>call0NUMBER<|tool_call:name|>NAME<|tool_call:args|>OBJECT<|tool_call:end|>",
        "<|calls|>",
    ),
    "solar_open2": _tagged(
        "<|tool_call:start|>NAME\n",
        "<|tool_arg:start|>KEY<|tool_arg:value|>VALUE<|tool_arg:end|>\n",
        "<|tool_call:end|>\n",
        never=("<|tool_", "</content>"),
    ),
    "mirothinker": _named(
        "",
        "<use_mcp_tool>\n<server_name>default</server_name>\n<tool_name>NAME</tool_name>\n<arguments>\nOBJECT\n"
        "</arguments>\n</use_mcp_tool>\n",
        "",
    ),
    "cwm": _named("", "<tool: NAME>\nOBJECT\n</tool>\n", "", before="So be it.\n", behind=""),
    "rwkv": Writer(_fenced, before="So be it.\n", behind=""),
    "inkling": _each("<|content_invoke_tool_json|>", "<|end_message|>", "args"),
    "apertus": Writer(
        lambda calls: f"<|tools_prefix|>[{', '.join(_json({c.name: c.arguments}) for c in calls)}]<|tools_suffix|>"
    ),
    "longcat": _pairs("longcat_"),
    "step3": _tagged(
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">\n',  # noqa: RUF001
        '<steptml:parameter name="KEY">VALUE</steptml:parameter>\n',
        "</steptml:invoke><｜tool_call_end｜>\n",  # noqa: RUF001
        opens="<｜tool_calls_begin｜>\n",  # noqa: RUF001
        ends="<｜tool_calls_end｜>",  # noqa: RUF001
        never=("steptml", "<｜", "</content>"),  # noqa: RUF001
    ),
    "poolside": _pairs(""),
    "minicpm5": _tagged(
        '<function name="NAME">', '<param name="KEY"><![CDATA[VALUE]]></param>', "</function>", never=("]]>", "</content>")
    ),
    "dots": _attr("invoke", "parameter", opens="<dots_function_call>\n", ends="</dots_function_call>"),
    "k2_horizon": _pairs("ifm|", "<ifm|tool_calls>\n", "\n</ifm|tool_calls>"),
    "plamo3": _named(
        _plamo("begin_tool_requests"),
        _plamo(
            *("begin_tool_request", "begin_tool_name", "NAME", "end_tool_name", "begin_tool_arguments"),
            *("<|plamo:constrain|>json<|plamo:msg|>", "OBJECT", "end_tool_arguments", "end_tool_request"),
        ),
        _plamo("end_tool_requests"),
    ),
    "generic": _list("", "", before="So be it.\n", behind=""),
    "react": Writer(_react, before="Thought: so be it.\n", behind="", most=1),
}  # fmt: skip
