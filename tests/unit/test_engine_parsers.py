"""Tool parsers for vLLM and SGLang: every text format, cut anywhere, against doubles of the engines' interfaces."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.hygiene.source_tree import PROJECT
from tests.support import engine_doubles
from tests.support.engine_doubles import FunctionCallParser, ToolParserManager, sglang_parser, vllm_choice
from tests.support.engine_parsers import (
    CALL,
    OBAN,
    TIDE,
    Given,
    cases,
    definitions,
    detected,
    detected_whole,
    is_clean,
    streamed,
    whole,
    wrong_in_sglang,
    wrong_in_vllm,
)
from tests.support.texts import in_pieces
from wholecall import text_formats
from wholecall.integrations import engine_text, sglang, vllm
from wholecall.integrations.engine_text import EngineText, Forced, known_tools, may_hold_calls

FORMATS = pytest.mark.parametrize("text_format", text_formats()[1:])
NAMED = SimpleNamespace(type="function", function=SimpleNamespace(name="get_tide"))


@pytest.fixture(autouse=True)
def _engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let doubles stand in for both engines, with wholecall's parsers in their tables."""
    engine_doubles.stand_in(monkeypatch)
    for name in text_formats():
        monkeypatch.delitem(vars(vllm), f"wholecall_{name}", raising=False)
    vllm.register()
    sglang.register()


def of(text_format: str) -> list[dict[str, Any]]:
    """Return the cases of a format."""
    return [case for case in cases() if case["format"] == text_format]


def read(text_format: str, tools: Any, text: str, *, clean: bool, forced: Forced | None = None) -> Given:
    """Return content and calls of a text in one piece."""
    reading = EngineText(text_format, tools, forced)
    content = reading.feed(text)
    rest = reading.close(clean=clean)
    return Given(content + rest.content, [(call.name, json.loads(call.arguments)) for call in rest.calls])


# Every format.


def test_every_format_has_its_name() -> None:
    """Both engines know each format, and `auto`, as `wholecall_` and its name."""
    names = [f"wholecall_{name}" for name in text_formats()]

    assert names == list(ToolParserManager.lazy_parsers)
    assert names == list(FunctionCallParser.ToolCallParserEnum)


@pytest.mark.sampled(35)
@FORMATS
def test_vllm_gets_the_calls_of_the_whole_text(text_format: str) -> None:
    """Law 136: in vLLM each text gives wholecall's calls, however it is cut, and no other text is lost."""
    assert of(text_format)
    assert [] == list(wrong_in_vllm(vllm_choice, of(text_format)))


@pytest.mark.sampled(23)
@FORMATS
def test_sglang_gets_the_calls_of_the_whole_text(text_format: str) -> None:
    """Law 136: in SGLang each text gives wholecall's calls, however it is cut, and no other text is lost."""
    assert [] == list(wrong_in_sglang(sglang_parser, of(text_format)))


# Prose or another call after a call without a marker makes it an example: at a cut before it, that is not known.
_EXAMPLES = {"granite_pythonic-prose-behind", "granite_pythonic-undeclared-second"}


@pytest.mark.sampled(7)
@FORMATS
def test_a_cut_text_has_no_further_call(text_format: str) -> None:
    """Law 136: a text that breaks off at any place gives no call that the whole one does not give."""
    bad = []
    for case in of(text_format):
        if case["case"] in _EXAMPLES:
            continue
        tools = known_tools(definitions(case))
        calls = read(case["format"], tools, case["text"], clean=is_clean(case)).calls
        for place in range(0, len(case["text"]), 29):
            given = read(case["format"], tools, case["text"][:place], clean=False).calls
            bad += [] if given == calls[: len(given)] else [(case["case"], place)]

    assert [] == bad


# Content.


def test_content_streams_at_once_and_calls_at_the_end() -> None:
    """Text before a call is content of its own piece; the call comes with the last one, whole."""
    choice, request = vllm_choice("hermes", [TIDE])
    text = f"I look. {CALL}"
    deltas = [
        choice.parse_delta(piece, [7], request, [1], finished=number == len(text) - 1)
        for number, piece in enumerate(text)
    ]
    shown = [delta.content for delta in deltas if delta is not None and delta.content]
    called = [number for number, delta in enumerate(deltas) if delta is not None and delta.tool_calls]

    assert "I look. " == "".join(shown)
    assert 7 <= len(shown)
    assert [len(text) - 1] == called


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "get_tide", "arguments": {"port": "Ob',
        '<tool_call>{"arguments": {"port": "Oban"}}</tool_call>',
        '<tool_call>{"name": "get_tide", "arguments": {"port": 7}}</tool_call>',
        '<tool_call>{"name": "launch", "arguments": {}}</tool_call>',
        "<think>I could call it.</think>The tide is high.",
        f"<think>Shall I {CALL}? No.</think>It is high.",
        f"Write it so: `{CALL}`",
    ],
)
def test_what_is_no_call_is_content(text: str) -> None:
    """A cut, nameless, unfit or unknown call, reasoning with its markers, and a quoted call come as they were written."""
    choice, request = vllm_choice("hermes", [TIDE])
    parser = sglang_parser("hermes", [TIDE])

    assert Given(text, []) == streamed(choice, request, in_pieces(text, 3), clean=True)
    assert Given(text, []) == whole(*vllm_choice("hermes", [TIDE]), text)
    assert Given(text, []) == detected(parser, in_pieces(text, 3))


def test_dropped_calls_keep_their_place() -> None:
    """The text of an unreadable call stays between the texts round it, and the calls beside it count."""
    broken = '<tool_call>{"name": "get_tide", "arguments": {"port": "Oban"]}</tool_call>'
    parser = sglang_parser("hermes", [TIDE])

    assert Given(f"One {broken} two ", [OBAN]) == detected(parser, in_pieces(f"One {broken} two {CALL}", 7))


def test_a_text_without_openers_is_not_read() -> None:
    """SGLang is told that a plain answer holds no call; a format without a marker may begin one at a bracket."""
    assert not may_hold_calls("hermes", "The tide is high {today}.")
    assert may_hold_calls("llama3_json", '{"name": "get_tide"}')
    assert may_hold_calls("granite_pythonic", "get_tide(port='Oban')")


# Ends.


def test_the_last_token_shows_the_end() -> None:
    """A call that only a clean end makes whole counts if the text ended with a token that ends texts; else it is text."""
    text = "[TOOL_CALLS]ring_bell"
    tools = [{"type": "function", "function": {"name": "ring_bell"}}]

    assert Given("", [("ring_bell", {})]) == streamed(
        *vllm_choice("mistral", tools), in_pieces(text, 7), clean=True
    )
    assert Given(text, []) == streamed(*vllm_choice("mistral", tools), in_pieces(text, 7), clean=False)
    assert Given(text, []) == whole(*vllm_choice("mistral", tools), text)


def test_plain_text_of_an_action_needs_its_end() -> None:
    """An action's input that is no JSON is a call only if its end is known: it may have been cut."""
    text = "Action: get_tide\nAction Input: Ob"

    assert [("get_tide", {"port": "Ob"})] == read("react", known_tools([TIDE]), text, clean=True).calls
    assert Given(text, []) == read("react", known_tools([TIDE]), text, clean=False)


def test_stop_tokens_of_the_request_count() -> None:
    """A token that the request names as an end shows it as the tokenizer's own does."""
    choice, request = vllm_choice("mistral", [{"type": "function", "function": {"name": "ring_bell"}}])
    request.stop_token_ids = [7]

    assert [("ring_bell", {})] == streamed(choice, request, ["[TOOL_CALLS]ring_bell"], clean=False).calls


def test_an_unfinished_choice_has_no_end() -> None:
    """A parser that got no text has nothing to finish with, and none finishes twice."""
    parser = ToolParserManager.get_tool_parser("wholecall_hermes")(None, [TIDE])
    detector = FunctionCallParser.ToolCallParserEnum["wholecall_hermes"]()

    assert parser.finish_streaming() is None
    assert "" == detector.finish([TIDE]).normal_text


# The choice of tools.


@pytest.mark.parametrize(("tools", "tool_choice"), [([TIDE], "none"), ([], "auto"), (None, None)])
def test_without_tools_all_is_content(tools: Any, tool_choice: Any) -> None:
    """A request that declares no tools, or forbids calls, gets the text as it is, and its markers stay hidden."""
    choice, request = vllm_choice("hermes", tools, tool_choice)

    assert Given(CALL, []) == streamed(choice, request, in_pieces(CALL, 7), clean=True)
    assert Given(CALL, []) == whole(choice, request, CALL)
    assert request.skip_special_tokens


def test_the_text_keeps_its_markers() -> None:
    """A request with tools asks for special tokens, with nothing between them; forced calls keep the engine's grammar."""
    _, free = vllm_choice("hermes", [TIDE])
    _, forced = vllm_choice("hermes", [TIDE], "required")

    assert (False, False, None) == (
        free.skip_special_tokens,
        free.spaces_between_special_tokens,
        free.grammar,
    )
    assert "required" == forced.grammar
    assert not ToolParserManager.get_tool_parser("wholecall_hermes").supports_required_and_named


LISTED = '[{"name": "get_tide", "parameters": {"port": "Oban"}}]'


@pytest.mark.parametrize("text", [LISTED, CALL])
def test_required_calls_are_whole(text: str) -> None:
    """A required call may be the JSON of the grammar, or the model's own form; a cut one is content."""
    for size in (0, 1, 7):
        assert [OBAN] == streamed(
            *vllm_choice("hermes", [TIDE], "required"), in_pieces(text, size), clean=False
        ).calls
        assert [OBAN] == detected(sglang_parser("hermes", [TIDE], "required"), in_pieces(text, size)).calls
    assert Given("", [OBAN]) == whole(*vllm_choice("hermes", [TIDE], "required"), text)
    assert Given("", [OBAN]) == detected_whole(sglang_parser("hermes", [TIDE], "required"), text)

    cut = text[:-15]
    assert Given(cut, []) == streamed(
        *vllm_choice("hermes", [TIDE], "required"), in_pieces(cut, 7), clean=False
    )
    assert Given(cut, []) == detected(sglang_parser("hermes", [TIDE], "required"), in_pieces(cut, 7))


@pytest.mark.parametrize("text", ['{"port": "Oban"}', ' \n{"port": "Oban"}', CALL])
def test_a_named_call_is_its_arguments(text: str) -> None:
    """The arguments of the only tool are its call, once they are whole; its call in the model's own form counts, too."""
    for size in (0, 1, 7):
        assert [OBAN] == streamed(
            *vllm_choice("hermes", [TIDE], NAMED), in_pieces(text, size), clean=False
        ).calls
    assert [OBAN] == whole(*vllm_choice("hermes", [TIDE], NAMED), text).calls
    cut = text[: text.rindex('"')]
    assert Given(cut, []) == whole(*vllm_choice("hermes", [TIDE], NAMED), cut)


def test_sglang_owns_forced_calls_only() -> None:
    """A free choice has no detector for forced calls; that of a forced one takes SGLang's own schema."""
    forced = sglang_parser("hermes", [TIDE], NAMED)

    assert (False, False, True) == tuple(
        sglang_parser("hermes", [TIDE], choice).owns_tool_format() for choice in (None, "auto", "required")
    )
    assert [1, NAMED, False] == forced.detector.get_json_schema_constraint(
        [TIDE], NAMED, parallel_tool_calls=False
    )
    for refused in (forced.detector.structure_info, lambda: forced.detector.build_ebnf([TIDE])):
        with pytest.raises(TypeError, match="parsers of wholecall have no"):
            refused()


# Tools.


def test_tools_of_all_forms_are_known() -> None:
    """Definitions of both APIs, free text, and namespaces give tools by the names that the model is shown."""
    found = known_tools(
        [
            TIDE,
            {"type": "function", "name": "flat", "parameters": {"type": "object"}},
            {"type": "custom", "name": "script"},
            {"type": "namespace", "name": "sea", "tools": [{"type": "function", "name": "sail"}]},
            {"type": "web_search"},
            {"type": "function", "function": {"name": "get_tide"}},
            "no definition",
        ]
    )

    assert found is not None
    assert ["get_tide", "flat", "script", "sea__sail"] == list(found)
    assert {"sea__sail"} == found.unchecked.keys() | {"sea__sail"}
    assert known_tools([{"type": "web_search"}]) is None


def test_a_schema_that_nobody_can_check_fails_no_request() -> None:
    """A tool with an invalid schema is known by its name, and the log says so."""
    broken = {"type": "function", "function": {"name": "get_tide", "parameters": {"type": "no such type"}}}

    assert [OBAN] == detected(sglang_parser("hermes", [broken]), [CALL]).calls


def test_ids_are_the_model_s_or_new() -> None:
    """An id in the text is kept; else it is nine letters and digits, other ones for each call."""
    text = (
        '[TOOL_CALLS]get_tide[CALL_ID]a1b2c3d4e[ARGS]{"port": "Oban"}'
        + '[TOOL_CALLS]get_tide[ARGS]{"port": "Io"}' * 2
    )
    reading = EngineText("mistral", known_tools([TIDE]))
    reading.feed(text)
    ids = [call.id for call in reading.close(clean=True).calls]

    assert "a1b2c3d4e" == ids[0]
    assert 3 == len(set(ids))
    assert all(len(name) == 9 and name.isalnum() for name in ids)


def test_forced_calls_of_a_tool_are_checked() -> None:
    """Arguments that do not fit the only tool are content."""
    unfit = '{"port": 7}'

    assert Given(unfit, []) == read(
        "hermes", known_tools([TIDE]), unfit, clean=True, forced=Forced("get_tide")
    )


# Registration.


def test_engines_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that never tells a parser that a text ended gets an error that says so, when a parser is asked for."""
    monkeypatch.delattr(engine_doubles.ToolParser, "engine_based_streaming")
    monkeypatch.delattr(engine_doubles.BaseFormatDetector, "finish")

    with pytest.raises(ImportError, match="never tells a tool parser that a text ended"):
        ToolParserManager.get_tool_parser("wholecall_hermes")
    with pytest.raises(ImportError, match="never tells a tool-call parser that a text ended"):
        sglang.register()
    with pytest.raises(AttributeError, match="no attribute 'wholecall_no_such'"):
        vllm.wholecall_no_such  # noqa: B018 - refused


def test_an_engine_starts_without_our_parsers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A vLLM too old to have a place for tool parsers starts, and its log says what is missing."""
    monkeypatch.setitem(sys.modules, "vllm.tool_parsers.abstract_tool_parser", None)
    vllm.register()

    assert ["this vLLM has no parsers of wholecall"] == [text.partition(":")[0] for text in caplog.messages]


def test_a_parser_names_the_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what checks JSON Schemas a parser of wholecall is refused when it is asked for."""
    monkeypatch.setattr(engine_text, "find_spec", {}.get)

    with pytest.raises(ImportError, match=r"pip install 'wholecall\[schema\]'"):
        ToolParserManager.get_tool_parser("wholecall_hermes")
    with pytest.raises(ImportError, match=r"pip install 'wholecall\[schema\]'"):
        sglang.register()


def test_registering_twice_changes_nothing() -> None:
    """The engines register in each of their processes, and some twice."""
    before = dict(ToolParserManager.lazy_parsers), list(FunctionCallParser.ToolCallParserEnum)
    vllm.register()
    sglang.register()

    assert before == (dict(ToolParserManager.lazy_parsers), list(FunctionCallParser.ToolCallParserEnum))


def test_the_plugin_file_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module for `--tool-parser-plugin` registers when it is loaded."""
    monkeypatch.setattr(ToolParserManager, "lazy_parsers", {})
    monkeypatch.delitem(sys.modules, "wholecall.integrations.tool_parser_plugin", raising=False)
    importlib.import_module("wholecall.integrations.tool_parser_plugin")

    assert len(text_formats()) == len(ToolParserManager.lazy_parsers)


@pytest.mark.parametrize(
    ("group", "point"),
    [
        ("vllm.general_plugins", "wholecall.integrations.vllm:register"),
        ("sglang.srt.plugins", "wholecall.integrations.sglang:register"),
    ],
)
def test_the_entry_points_are_there(group: str, point: str) -> None:
    """The package declares its entry points, and they name functions."""
    module, _, name = point.partition(":")

    assert f'[project.entry-points."{group}"]\nwholecall = "{point}"\n' in (
        PROJECT / "pyproject.toml"
    ).read_text("utf-8")
    assert callable(getattr(importlib.import_module(module), name))


def test_importing_the_modules_needs_no_engine() -> None:
    """The modules of the entry points import nothing of an engine, nor what only texts need."""
    program = (
        "import sys, json, wholecall.integrations.vllm, wholecall.integrations.sglang;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} & {'vllm', 'sglang', 'torch', 'jsonschema_rs'})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)  # noqa: S603 - ours

    assert [] == json.loads(done.stdout)


# The example.


@pytest.mark.slow
def test_the_example_finds_the_format(tmp_path: Path) -> None:
    """`choose_parser.py` prints the parser of the text's format first, and fails where none finds a call."""
    (tmp_path / "one.txt").write_text('<|tool_call>call:get_tide{port:<|"|>Oban<|"|>}<tool_call|>')
    (tmp_path / "none.txt").write_text("The tide is high.")
    program = [sys.executable, str(PROJECT / "examples" / "choose_parser.py")]
    found, none = (
        subprocess.run([*program, str(tmp_path / name)], capture_output=True, text=True, check=False)  # noqa: S603
        for name in ("one.txt", "none.txt")
    )

    assert "wholecall_gemma4" in found.stdout.splitlines()[0] + found.stdout.splitlines()[1]
    assert (0, 1, "") == (found.returncode, none.returncode, none.stdout)
