from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.proxying import DONE, call, frame
from wholecall import StreamClosed, UnknownDialect, collect
from wholecall.repairing.encoders.counts import counts_of
from wholecall.translation import (
    AnswerTranslator,
    Untranslatable,
    translate_error,
    translate_models,
    translate_request,
)

END = [frame({}, "tool_calls"), DONE]
MODEL = {"id": "m", "object": "model", "created": 86400, "owned_by": "o"}
THEIRS = {"type": "model", "id": "m", "display_name": "M", "created_at": "1970-01-02T00:00:00Z"}


def to_anthropic(pieces: list[bytes], **options: Any) -> tuple[list[bytes], AnswerTranslator]:
    """Return the output for each piece, and for the end, of a stream of chat completions."""
    translator = AnswerTranslator("chat", "anthropic", **options)
    return [*map(translator.feed, pieces), translator.close()], translator


def test_text_passes_at_once_and_a_call_when_it_is_whole() -> None:
    """Each piece of a text is sent with the piece that brought it; a call is not shown before its end."""
    pieces = [frame({"role": "assistant", "content": "I"}), frame({"content": " look"}), call('{"a":'), *END]
    out, _ = to_anthropic(pieces)

    assert [True, True, False] == [b'"text_delta"' in said for said in out[:3]]
    assert b"tool_use" not in out[2]


def test_calls_keep_their_order() -> None:
    """A call without arguments is known to be whole at the end only; later calls wait for it."""
    pieces = [call("", name="first", id="c1"), call("{}", name="second", id="c2", index=1), *END]
    out, _ = to_anthropic(pieces)

    assert ["first", "second"] == [one.name for one in collect(out, "anthropic").calls]


def test_a_sign_of_life_stands_between_start_and_end() -> None:
    """Before the first event and after the end there is none, and none in a body."""
    translator, body = (AnswerTranslator("chat", "anthropic", stream=stream) for stream in (True, False))
    pings = [translator.ping()]
    for piece in (call('{"a":'), *END):
        translator.feed(piece)
        body.feed(piece)
        pings.append(translator.ping())
    translator.close()

    assert [b"", b'event: ping\ndata: {"type":"ping"}\n\n'] == pings[:2]
    assert (b"", b"") == (translator.ping(), body.ping())


def test_an_id_and_a_model_stand_in() -> None:
    """They are those of the caller if the server gives none."""
    piece = b'data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n' + DONE
    out, _ = to_anthropic([piece], id="r1", model="qwen")
    turn = collect(out, "anthropic")

    assert ("r1", "qwen") == (turn.response_id, turn.model)


def test_calls_written_as_text_are_calls() -> None:
    """With `text`, a server that does not parse its model's calls can be served."""
    said = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    pieces = [frame({"role": "assistant", "content": said}), frame({}, "stop"), DONE]
    out, _ = to_anthropic(pieces, text="hermes")
    turn = collect(out, "anthropic")

    assert ([("f", {"a": 1})], "") == ([(one.name, one.arguments) for one in turn.calls], turn.text)


def test_a_call_of_an_unknown_tool_is_withheld() -> None:
    """The caller hears of it, and the client gets an error instead of a success."""
    dropped: list[str] = []
    tools = [{"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}]
    out, translator = to_anthropic(
        [call("{}"), *END], tools=tools, on_dropped=lambda drop: dropped.append(drop.reason)
    )

    assert (["unknown_tool"], "calls_withheld", 1) == (
        dropped,
        translator.report.error,
        translator.report.n_withheld,
    )
    assert b"event: error" in b"".join(out)


@pytest.mark.parametrize(("withheld", "reason"), [("auto", None), ("error", None), ("end", "stop")])
def test_the_caller_chooses_the_end_of_a_turn_without_calls(withheld: Any, reason: str | None) -> None:
    """By default it is an error; `end` makes it an end."""
    out, translator = to_anthropic([call("{]"), *END], withheld=withheld)
    turn = collect(out, "anthropic")

    assert (reason is None, reason) == (translator.ended, turn.reason if reason else None)


def test_nothing_follows_the_end() -> None:
    """A closed translator takes no bytes, and closes once; an ended one says no more."""
    translator = AnswerTranslator("chat", "responses")
    translator.close()

    assert b"" == translator.close()
    with pytest.raises(StreamClosed):
        translator.feed(b"data: x\n\n")
    failed = AnswerTranslator("chat", "responses")
    failed.feed(call("{}") + b'data: {"error": {"message": "slow down"}}\n\n')

    assert ("provider_error", b"", b"") == (failed.report.error, failed.feed(END[0]), failed.close())


@pytest.mark.parametrize("data", [b"", b"<html>no</html>", b'{"a": 1}', b"data: x\n\n"])
@pytest.mark.parametrize("client", ["anthropic", "responses"])
def test_an_answer_of_no_api_is_an_error(data: bytes, client: str) -> None:
    """No byte of it passes."""
    translator = AnswerTranslator("chat", client)
    out = translator.feed(data) + translator.close()

    assert (True, False) == (translator.ended, bool(data) and data in out)


def test_an_abort_drops_open_calls() -> None:
    """They are reported to the caller; nothing is written."""
    dropped: list[str] = []
    translator = AnswerTranslator("chat", "anthropic", on_dropped=lambda drop: dropped.append(drop.reason))
    translator.feed(call('{"a":'))
    translator.abort()

    assert (["aborted"], b"") == (dropped, translator.close())


@pytest.mark.parametrize("name", ["gemini", "bedrock-converse", "nothing"])
def test_other_wires_are_refused(name: str) -> None:
    """The message lists those that are translated."""
    for make in (
        lambda: AnswerTranslator(name, "anthropic"),
        lambda: translate_request(b"{}", "anthropic", name),
        lambda: translate_error(b"", 500, name),
        lambda: translate_models(b"", name),
    ):
        with pytest.raises(UnknownDialect, match="anthropic, chat-completions, responses"):
            make()


def test_a_refusal_names_the_member_and_holds_no_content() -> None:
    """Its message can be shown and logged."""
    request = {"model": "m", "messages": [{"role": "user", "content": [{"type": "secret", "x": "canary"}]}]}
    with pytest.raises(Untranslatable) as caught:
        translate_request(json.dumps(request).encode(), "anthropic", "chat")

    assert "messages[].content[].type" == caught.value.member
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("client", "kind", "named"),
    [
        ("responses", "namespace", "OpenAI defines has no equal: namespace"),
        ("anthropic", "web_search_20250305", "Anthropic defines has no equal: web_search_20250305"),
        ("responses", "odd\n\u00fc type", "OpenAI defines has no equal: odd???type"),
    ],
)
def test_a_refusal_of_a_tool_names_its_type(client: str, kind: str, named: str) -> None:
    """An agent offers a dozen tools; its user has to know which of them to switch off."""
    request = {"model": "m", "tools": [{"type": kind, "name": "canary"}]}
    with pytest.raises(Untranslatable) as caught:
        translate_request(json.dumps(request).encode(), client, "chat")

    assert f"tools[].type: a tool that {named}" == str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "a"}}', "a"),
        (b'{"type": "error", "error": {"type": "t", "message": "a"}}', "a"),
        (b'{"error": "a"}', "a"),
        (b'{"object": "error", "message": "a", "code": 400}', "a"),
        (b'{"detail": "a"}', "a"),
        (b'[{"error": {"message": "a"}}]', "a"),
        (b"a\n", "a"),
        (b"", "the server answered with the status 400"),
    ],
)
def test_an_error_has_its_message_in_the_clients_form(body: bytes, message: str) -> None:
    """It is found in all places where servers put it."""
    told = [json.loads(translate_error(body, 400, client)) for client in ("anthropic", "chat", "responses")]
    openai = {"message": message, "type": "invalid_request_error", "param": None, "code": None}

    assert {"type": "error", "error": {"type": "invalid_request_error", "message": message}} == told[0]
    assert [{"error": openai}] * 2 == told[1:]


def test_models_go_both_ways() -> None:
    """A list is a list, one model is one, and anything else is none."""
    ours, theirs = json.dumps({"data": [MODEL]}).encode(), json.dumps({"data": [THEIRS]}).encode()
    named = {**THEIRS, "display_name": "m"}

    assert {"data": [named], "has_more": False, "first_id": "m", "last_id": "m"} == json.loads(
        translate_models(ours, "anthropic") or b""
    )
    assert {"object": "list", "data": [{**MODEL, "owned_by": "the server"}]} == json.loads(
        translate_models(theirs, "chat") or b""
    )
    assert named == json.loads(translate_models(json.dumps(MODEL).encode(), "anthropic") or b"")
    assert [None] * 3 == [translate_models(body, "chat") for body in (b"[]", b"x", b"{}")]


@pytest.mark.parametrize(
    ("usage", "asked", "cached", "written", "reasoned"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, 9, 4, 0, 0),
        ({"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}}, 9, 4, 0, 0),
        ({"input_tokens": 3, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2}, 9, 4, 2, 0),
        ({"input_tokens": 9, "output_tokens_details": {"reasoning_tokens": 3}}, 9, 0, 0, 3),
        ({"input_tokens": 9, "input_tokens_details": {"cached_tokens": None}}, 9, 0, 0, 0),
    ],
)
def test_cached_tokens_are_counted_as_each_wire_does(
    usage: dict[str, Any], asked: int, cached: int, written: int, reasoned: int
) -> None:
    """OpenAI counts them within the prompt, and Anthropic apart; each way back gives the same counts."""
    counts = counts_of(usage)

    assert (asked, cached, written, reasoned) == (
        counts.asked,
        counts.cached,
        counts.written,
        counts.reasoned,
    )
    assert counts == counts_of(counts.as_responses())
    assert (asked, cached) == counts_of(counts.as_chat())[:2] == counts_of(counts.as_anthropic())[:2]


def _roles(client: str, messages: list[dict[str, str]]) -> tuple[list[tuple[str, object]], tuple[str, ...]]:
    """Return the messages of a request of a client as Chat Completions says them, and what was left out."""
    said = {"model": "m", "input" if client == "responses" else "messages": messages}
    told = translate_request(json.dumps(said).encode(), client, "chat")
    return [(one["role"], one["content"]) for one in json.loads(told.body)["messages"]], told.left_out


def test_only_the_first_message_is_the_systems() -> None:
    """Chat templates refuse a system message further on; agents send them there, and several in front."""
    front = [{"role": "developer", "content": text} for text in ("Be brief.", "Be kind.")]
    later = [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "It is noon."},
        {"role": "assistant", "content": "hello"},
        {"role": "system", "content": "It is one."},
    ]
    told = [
        ("user", [{"type": "text", "text": "hi"}, {"type": "text", "text": "It is noon."}]),
        ("assistant", "hello"),
        ("user", "It is one."),
    ]

    assert (told, ("messages[].role",)) == _roles("anthropic", later)
    assert ([("system", "Be brief.\n\nBe kind."), *told], ("input[].role",)) == _roles(
        "responses", front + later
    )
