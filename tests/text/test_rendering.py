"""Formats that are found by chat templates, written here in the manner of published ones."""

# ruff: noqa: RUF001 - the bars of DeepSeek's tokens are full-width

from __future__ import annotations

import builtins
from typing import Any

import pytest

from wholecall import TextCalls, ToolCall, read_text, text_format_of
from wholecall.text.rendering import formats_of

_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}{% for c in m.tool_calls or [] %}%s"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_JSON = '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
_PAIRS = "{% for k, v in c.function.arguments.items() %}%s{% endfor %}"
_VALUE = "{{ v if v is string else v | tojson }}"
TEMPLATES = {
    "hermes": _CHATML.replace("%s", f"<tool_call>\n{_JSON}\n</tool_call>"),
    "qwen_xml": _CHATML.replace(
        "%s",
        "<tool_call>\n<function={{ c.function.name }}>\n"
        + _PAIRS.replace("%s", f"<parameter={{{{ k }}}}>\n{_VALUE}\n</parameter>\n")
        + "</function>\n</tool_call>",
    ),
    "glm": _CHATML.replace(
        "%s",
        "<tool_call>{{ c.function.name }}\n"
        + _PAIRS.replace("%s", f"<arg_key>{{{{ k }}}}</arg_key>\n<arg_value>{_VALUE}</arg_value>\n")
        + "</tool_call>",
    ),
    "llama3_json": (
        "{{ bos_token }}{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
        "{% if m.tool_calls %}{% if m.tool_calls | length != 1 %}{{ raise_exception('one call') }}{% endif %}"
        '{"name": "{{ m.tool_calls[0].function.name }}", '
        '"parameters": {{ m.tool_calls[0].function.arguments | tojson }}}'
        "{% else %}{{ m.content | trim }}{% endif %}<|eot_id|>{% endfor %}"
        "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
    ),
    "mistral": (
        "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }}[/INST]"
        "{% elif m.tool_calls %}[TOOL_CALLS] [{% for c in m.tool_calls %}"
        "{{ {'name': c.function.name, 'arguments': c.function.arguments, 'id': c.id} | tojson }}"
        "{% endfor %}]{{ eos_token }}{% endif %}{% endfor %}"
    ),
    # Arguments are pasted as they are, so they have to be text, and the prompt opens reasoning.
    "deepseek": (
        "{% for m in messages %}{% if m.role == 'user' %}<｜User｜>{{ m.content }}{% else %}<｜Assistant｜></think>"
        "{% for c in m.tool_calls %}<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{{ c.function.name }}<｜tool▁sep｜>"
        "{{ c.function.arguments }}<｜tool▁call▁end｜><｜tool▁calls▁end｜>{% endfor %}<｜end▁of▁sentence｜>"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}<｜Assistant｜><think>{% endif %}"
    ),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_is_among_those_that_read_it_back(name: str) -> None:
    """The format of a family reads what its template writes, and is returned for a model of the family."""
    model = {"qwen_xml": "qwen3-coder", "glm": "glm-4.6", "llama3_json": "llama-3.1-8b"}.get(name, name)

    assert name in formats_of(TEMPLATES[name])
    assert name == text_format_of(model, template=TEMPLATES[name])


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_format_without_a_name_reads_the_call(name: str) -> None:
    """The format that is found by the template alone reads what the template writes."""
    from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415 - as the package

    template = TEMPLATES[name]
    function: dict[str, Any] = {"name": "f", "arguments": '{"a": 1}' if name == "deepseek" else {"a": 1}}
    answer = {"role": "assistant", "content": "", "tool_calls": [{"id": "abcdef123", "function": function}]}
    environment = SandboxedEnvironment()
    environment.globals["raise_exception"] = ValueError
    prompt = environment.from_string(template).render(messages=[], add_generation_prompt=False)
    text = environment.from_string(template).render(messages=[answer]).removeprefix(prompt)
    text = text.removeprefix("<|start_header_id|>assistant<|end_header_id|>\n\n")
    tools = {"f": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    found = text_format_of(template=template)

    assert found is not None
    assert [ToolCall] == [type(one) for one in read_text(text, found, tools=tools).calls]
    assert [{"a": 1}] == [call.arguments for call in read_text(text, TextCalls(found), tools=tools).calls]


HARMONY = (
    "{% for m in messages %}{% if m.tool_calls %}{% for c in m.tool_calls %}<|start|>assistant to=functions."
    "{{ c.function.name }}<|channel|>commentary json<|message|>{{ c.function.arguments | tojson }}<|call|>"
    "{% endfor %}{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)


def test_a_prompt_may_open_the_message_of_the_call() -> None:
    """Harmony's prompt holds the beginning of the message, and the text that follows is a call only after it."""
    assert ["harmony", "beam", "muse"] == formats_of(HARMONY)
    assert "harmony" == text_format_of("gpt-oss-20b", template=HARMONY)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% if", "this is not a chat template"),
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "writes no calls"),
        ("{{ raise_exception('no') }}", "writes no calls"),
        ("{{ ''.__class__.__mro__ }}{{ messages }}", "writes no calls"),
        ("{{ 1 / 0 }}", "writes no calls"),
    ],
)
def test_other_templates_are_refused(template: str, message: str) -> None:
    """A template that is none, that writes no calls, or that leaves the sandbox, raises with the reason."""
    with pytest.raises(ValueError, match=message):
        text_format_of(template=template)


def test_a_form_that_nobody_reads() -> None:
    """A template whose calls no format reads has no format, even if the model's name has one."""
    assert text_format_of("qwen3", template="{{ messages }}") is None


def test_parts_of_published_templates() -> None:
    """Loop controls, the tag `generation`, and the day's date are known."""
    template = TEMPLATES["hermes"].replace(
        "<|im_start|>{{ m.role }}", "{% if loop.index > 9 %}{% break %}{% endif %}<|im_start|>{{ m.role }}", 1
    )
    marked = template.replace(
        "{{ m.content or '' }}", "{% generation %}{{ m.content or '' }}{% endgeneration %}"
    )

    assert "hermes" == text_format_of(template="{{ strftime_now('%d %b %Y') }}" + marked)


_ADDS = (
    "{% set ids = [] %}{% for m in messages %}{% set _ = ids.append(m.role) %}{% endfor %}{{ ids | length }}"
)
_ENDLESS = "{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}"


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(_ADDS, id="Kimi K2's collects the ids of its calls in a list"),
        pytest.param(
            "{{ tools | map(attribute='function') | tojson }}", id="llama.cpp's writes what map gives"
        ),
        pytest.param("{{ functions + datetime }}", id="Firefunction's has names of its own"),
    ],
)
def test_the_means_of_published_templates(part: str) -> None:
    """A template that works where its model is served works here."""
    assert "hermes" == text_format_of(template=part + TEMPLATES["hermes"])


@pytest.mark.parametrize("part", [_ENDLESS, "{{ messages.pop() }}", "{{ messages[0].update(role='x') }}"])
def test_a_template_changes_nothing_and_ends(part: str) -> None:
    """A list has a bound of what is added to it, and nothing else is changed."""
    with pytest.raises(ValueError, match="writes no calls"):
        text_format_of(template=part + TEMPLATES["hermes"])


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Jinja the error says what to install."""
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("jinja2"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"wholecall\[templates\]"):
        text_format_of(template="")


@pytest.mark.parametrize("marker", ["<|im_start|>assistant\n", "[INST] And now? [/INST]", "<｜Assistant｜>"])
def test_a_turn_closes_what_the_prompt_left_open(marker: str) -> None:
    """A fence or reasoning that an earlier turn of the prompt left open is over where a turn begins."""
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    wanted = TextCalls("hermes", in_reasoning="ignore")
    opened = ("Look:\n```python\nx = 1\n", "<think>\nWell, ")
    found = [[one.name for one in read_text(call, wanted, prompt=left + marker).calls] for left in opened]

    assert [["f"], ["f"]] == found
    assert [] == [*read_text(call, wanted, prompt=marker + opened[1]).calls]
