"""The probe over Gemini's generateContent: its requests, what it has no words for, and a run of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.loopback import serve
from wholecall.cli.main import main
from wholecall.grading.probe.asked import choice_in
from wholecall.grading.probe.asking import key_header, target_of
from wholecall.grading.probe.bodies import Habits, body_of, can_ask
from wholecall.grading.probe.exchange import Asked, Exchange
from wholecall.grading.probe.keys import Secret
from wholecall.grading.probe.oracle import asked_of
from wholecall.grading.probe.running import _answered
from wholecall.grading.probe.scenarios import SCENARIOS, Variant
from wholecall.grading.probe.selftest.server import SelfTestServer
from wholecall.serving import Answer

VARIANTS = {f"{one.id}/{each.name}": each for one in SCENARIOS for each in one.variants}
TWO = {"functionCall": {"name": "echo", "args": {"text": "red"}}, "thoughtSignature": "c2ln"}
OTHER = {"functionCall": {"name": "echo", "args": {"text": "blue"}}}


def body(name: str, **habits: Any) -> dict[str, Any]:
    """Return the body of a variant."""
    return body_of(VARIANTS[name], "gemini", "m", is_streamed=True, habits=Habits(**habits))


def answer(*parts: dict[str, Any]) -> bytes:
    """Return a whole answer."""
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return json.dumps({"candidates": [candidate], "responseId": "r1"}).encode()


def test_the_address_has_the_model_and_the_way() -> None:
    """A stream is another method, whose events come only with `alt=sse`; the query of the URL stays."""
    url = target_of("https://a/v1beta?x=1", "gemini", "m", is_streamed=True)

    assert "https://a/v1beta/models/m:streamGenerateContent?x=1&alt=sse" == url


def test_the_key_has_its_header() -> None:
    """The key is sent as Google's SDKs send it."""
    header = key_header("gemini", Secret("abcdefgh", "authorization"))

    assert ("x-goog-api-key", "abcdefgh") == (header.name, header.value)


def test_a_history_goes_back_as_parts() -> None:
    """A call has its arguments as an object and a signature, a result the name of its tool."""
    asked, model, user = body("turn/error")["contents"]

    assert ["user", "model", "user"] == [asked["role"], model["role"], user["role"]]
    assert {"text": "red"} == model["parts"][0]["functionCall"]["args"]
    assert all(part["thoughtSignature"] for part in model["parts"])
    assert [("echo", ["output"]), ("echo", ["error"])] == [
        (part["functionResponse"]["name"], list(part["functionResponse"]["response"]))
        for part in user["parts"]
    ]


@pytest.mark.parametrize(
    ("name", "choice"),
    [("required", ("required", "")), ("named", ("named", "echo")), ("none", ("none", ""))],
)
def test_a_choice_is_a_mode(name: str, choice: tuple[str, str]) -> None:
    """The modes ANY and NONE, and an allowed name, say what other wires say with `tool_choice`."""
    assert choice == choice_in(body(f"choice/{name}"))


def test_what_it_has_no_words_for_is_not_asked() -> None:
    """Serial calls, strict tools and results in another order are left out; the other wires are asked for them."""
    left_out = [name for name, variant in VARIANTS.items() if not can_ask(variant, "gemini")]

    assert ["choice/parallel-off", "choice/strict", "turn/reversed"] == left_out
    assert all(can_ask(variant, "anthropic") for variant in VARIANTS.values())


def test_members_of_the_configuration_are_joined() -> None:
    """What a user adds to the configuration is joined with ours, and a limit that is tested stays."""
    added = {"generationConfig": {"maxOutputTokens": 9, "topK": 1}, "labels": {}}
    plain, cut = body("one/", extra=added), body("cut/limit-40", extra=added, temperature=False)

    assert {"maxOutputTokens": 9, "temperature": 0, "topK": 1} == plain["generationConfig"]
    assert {"maxOutputTokens": 40, "topK": 1} == cut["generationConfig"]
    assert {} == plain["labels"]


def test_calls_go_back_as_they_came() -> None:
    """A call without an id goes back without one, and with its signature."""
    base = Exchange(
        scenario="two", wire="gemini", is_streamed=False, request={}, status=200, chunks=((0.0, answer(TWO, OTHER)),)
    )  # fmt: skip
    found = _answered(Variant(prompt="", asked=Asked(), follows="calls"), base)
    assert found is not None

    assert [("", "c2ln"), ("", "")] == [(call.id, call.signature) for call in found.calls]
    assert [("echo", "red"), ("echo", "blue")] == [(result.name, result.text) for result in found.results]


def test_a_run_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A good server has no fault, and what could not be asked is told."""
    report = tmp_path / "r.json"
    options = ["--model", "m", "--wire", "gemini", "--level", "standard", "--tries", "1", "--yes"]
    only = [part for name in ("one", "cut/last", "choice", "turn") for part in ("--only", name)]
    with SelfTestServer(asked_of) as server:
        code = main(["probe", server.url, *options, *only, "--json", str(report)])
    found = json.loads(report.read_text("utf-8"))

    assert 0 == code
    assert [] == [one["rule"] for one in found["findings"] if one["severity"] != "note"]
    assert {"the API has no words for it": 6} == found["unasked"]
    assert "gemini" in capsys.readouterr().out


def test_the_api_is_found(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that knows no path but Gemini's is asked there; the key is in its header, and in no output."""
    monkeypatch.setenv("PROBE_KEY", "canary-canary-78")
    missing, found = Answer([b"{}"], "application/json", 404), Answer([answer(TWO)], "application/json")
    options = ["--model", "m", "--only", "one", "--tries", "1", "--key-env", "PROBE_KEY"]
    with serve(missing, missing, missing, found) as served:
        main(["probe", served.url, *options, "--json", "-"])
        request = served.requests[-1]
    out = capsys.readouterr().out

    assert "gemini" == json.loads(out)["about"]["wire"]
    assert "/v1beta/models/m:" in request.path
    assert "canary-canary-78" == request.headers["x-goog-api-key"]
    assert "canary" not in out
