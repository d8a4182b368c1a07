"""The judge of exchanges: three kinds of findings that are never mixed, words without content, storage."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholecall.errors import BadRecording
from wholecall.grading.probe.exchange import WIRES, Ending, Wire
from wholecall.grading.probe.rules.table import ALL, RULES
from wholecall.grading.probe.rules.words import EXPLAINED, RULE_OF_WORD
from wholecall.grading.probe.selftest.faults import FAULTS
from wholecall.grading.probe.selftest.scenes import exchanges
from wholecall.probe import Asked, AskedCall, Exchange, exchange_of, grade, judge, recording_of
from wholecall.recordings import Recorder, Recording, read, write

SECRET = "canary-5f1e9c"
CANARIES = (SECRET, SECRET.encode().hex())
ECHO = {"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}


def asked_for(text: str) -> Asked:
    """Return a request for one call with a text."""
    return Asked(outcome="calls", calls=(AskedCall("echo", {"text": text}),))


def first(
    wire: Wire = "chat-completions", *, fault: str | None = None, scene: str = "one", streamed: bool = True
) -> Exchange:
    """Return the first exchange of a scenario of the self-test."""
    found = exchanges(wire, fault=fault, only=(scene,))
    return next(each for each in found if each.is_streamed is streamed)


def changed(exchange: Exchange, **members: Any) -> Exchange:
    """Return an exchange with other members."""
    return msgspec.structs.replace(exchange, **members)


def kinds(exchange: Exchange) -> list[tuple[str, str]]:
    """Return kind and rule of the findings above notes of the wire."""
    found = grade(exchange)
    return [(each.kind, each.rule) for each in found if each.kind != "wire" or each.severity != "note"]


def test_what_the_model_did_not_do_is_the_models() -> None:
    """Sound answers without the call, with another one, with other arguments or an unwanted call are no fault of the wire."""
    sound = first()
    other = AskedCall("noargs", {})

    assert [("model", "model.no-call")] == kinds(changed(first(scene="none"), asked=sound.asked))
    assert [("model", "model.wrong-calls")] == kinds(
        changed(sound, asked=Asked(outcome="calls", calls=(other,)))
    )
    assert [("model", "model.arguments")] == kinds(
        changed(
            sound, asked=Asked(outcome="calls", calls=(AskedCall(sound.asked.calls[0].name, {"text": "x"}),))
        )
    )
    assert [("model", "model.unasked-call")] == kinds(changed(sound, asked=Asked(outcome="text")))


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"status": 429}, "open.rate-limited"),
        ({"status": 401}, "open.refused"),
        ({"status": 503}, "open.failed"),
        ({"status": None, "ended": "unreachable"}, "open.unreachable"),
        ({"ended": "timed_out"}, "open.timed-out"),
        ({"ended": "broken"}, "open.broken"),
    ],
)
def test_what_could_not_be_told_is_open(members: dict[str, Any], rule: str) -> None:
    """A refusal, a limit of rates, a timeout: neither the wire nor the model is at fault, whatever came before."""
    error = ((None, b'{"error": {"message": "no"}}'),)
    cut = changed(first(fault="id-missing"), **members)

    assert [("open", rule)] == kinds(changed(cut, chunks=error) if "ended" not in members else cut)


def test_an_answer_that_was_cut_early_is_open() -> None:
    """Where the token limit came before the call was whole, and the answer says so, the model cannot be judged."""
    cut = first(scene="cut")

    assert [("open", "open.cut")] == kinds(changed(cut, asked=Asked(outcome="calls", calls=cut.asked.calls)))


@pytest.mark.parametrize(
    ("fault", "scene"), [("fails", "bad"), ("refuses-history", "turn"), ("error-as-200", "none")]
)
def test_a_fault_that_leaves_no_answer_is_told(fault: str, scene: str) -> None:
    """Where the wire is at fault for there being no answer, that is the finding, and nothing is open."""
    assert [("wire", FAULTS[fault].rule)] == kinds(first(fault=fault, scene=scene, streamed=False))


def test_an_answer_that_was_hung_up_says_nothing() -> None:
    """An answer that the probe itself left is not judged."""
    assert [] == grade(changed(first(fault="id-missing"), ended="hung_up"))


@pytest.mark.sampled(15)
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_three_kinds_are_never_mixed(fault: str) -> None:
    """An exchange with something open has nothing of the model, and a note is all that either of them can be."""
    for exchange in exchanges(FAULTS[fault].wires[0], fault=fault, only=("one", "none", "choice")):
        found = grade(exchange)
        others = [each for each in found if each.kind != "wire"]

        assert len({each.kind for each in others}) <= 1
        assert all(each.severity == "note" and each.rule.startswith(f"{each.kind}.") for each in others)
        assert all(each.rule in ALL for each in found if each.kind == "wire")


def test_open_exchanges_count_for_no_rate() -> None:
    """A model that was asked ten times and limited eight times has a rate of two; its rules are not seen elsewhere."""
    answers = [changed(first(), attempt=each, name="") for each in (1, 2)]
    limited = [changed(first(), attempt=each, status=429) for each in range(3, 11)]
    verdict = judge([*answers, *limited])

    assert [("one", 2, 2)] == [(rate.task, rate.right, rate.of) for rate in verdict.models]
    assert [("open.rate-limited", 8, 10)] == [(each.rule, each.count, each.of) for each in verdict.open]
    assert "labels.id-missing" in verdict.held
    assert "labels.id-missing" in judge(limited).not_seen


def test_rules_are_counted_where_they_applied() -> None:
    """A rule fails by one counterexample; the counts say how often, of how many, and where."""
    good = [changed(first(), attempt=each) for each in (1, 2)]
    verdict = judge([*good, changed(first(fault="type-missing"), attempt=3)])
    (finding,) = [each for each in verdict.findings if each.rule == "labels.type-missing"]

    assert (1, 3, "major") == (finding.count, finding.of, finding.severity)
    assert ["one-stream-3.jsonl"] == [evidence.file for evidence in finding.evidence]
    assert set(ALL) == {*verdict.held, *verdict.failed, *verdict.not_seen}


def test_tokens_of_the_same_request_are_compared() -> None:
    """A request that also differs in more than how its answer comes, as in a conversation, may have another number."""
    plain, streamed = first(streamed=False), first()
    body = b"".join(data for _, data in plain.chunks)
    fewer = changed(plain, chunks=((None, re.sub(rb'"prompt_tokens": \d+', b'"prompt_tokens": 9', body)),))
    further = [*plain.request["messages"], {"role": "user", "content": "And again."}]
    later = changed(fewer, request={**plain.request, "messages": further})

    assert "same.prompt-tokens" in judge([plain, streamed]).held
    assert "same.prompt-tokens" in judge([fewer, streamed]).failed
    assert "same.prompt-tokens" in judge([later, streamed]).not_seen


@pytest.mark.sampled(13)
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_findings_hold_no_content(fault: str) -> None:
    """Whatever is wrong with an answer, neither words nor reprs of its findings hold text of it; evidence points at frames."""
    said = ""
    for each in exchanges(FAULTS[fault].wires[0], fault=fault, only=("one", "cut", "numbers")):
        asked = changed(each, asked=asked_for(SECRET))
        body = each.body.replace(b"line", SECRET.encode()).replace(b"text", SECRET.encode())
        secret = changed(asked, chunks=((None, body),))
        found = [*grade(secret), *judge([secret]).findings]
        said += repr(found) + repr(secret) + "".join(finding.says for finding in found)

    assert said
    assert [] == [canary for canary in CANARIES if canary in said]


def test_evidence_points_at_the_frame() -> None:
    """The number of the event that shows a fault, from 1; a body is 0."""
    streamed = grade(first(fault="type-missing"))[0].evidence
    plain = grade(first(fault="type-missing", streamed=False))[0].evidence

    assert b"tool_calls" in first(fault="type-missing").body.split(b"data:")[streamed[0].frame]
    assert [0] == [each.frame for each in plain]


@pytest.mark.parametrize("wire", WIRES)
def test_an_exchange_is_stored_as_a_recording(wire: Wire, tmp_path: Path) -> None:
    """Written with `write` and read with `read`, an exchange is the same one, and so are its findings."""
    for exchange in exchanges(
        wire, fault="blocks-id-missing" if wire != "chat-completions" else "id-missing"
    ):
        write(tmp_path / exchange.file, recording_of(exchange))
        (recording,) = read(tmp_path / exchange.file)
        again = exchange_of(recording)

        assert grade(exchange) == grade(again)
        assert (exchange.file, exchange.chunks, exchange.asked) == (again.file, again.chunks, again.asked)


def test_only_headers_that_matter_are_stored(tmp_path: Path) -> None:
    """A header that may hold a secret is left out."""
    headers = {"content-type": "text/event-stream", "set-cookie": SECRET, "x-request-id": SECRET}
    write(tmp_path / "one.jsonl", recording_of(changed(first(), headers=headers)))

    assert SECRET not in (tmp_path / "one.jsonl").read_text("utf-8")


def test_other_recordings_are_refused() -> None:
    """A recording that the probe did not write is an error that quotes nothing; a later version names itself."""
    plain = io.BytesIO()
    with Recorder(plain) as recorder:
        recorder.write(b"data: 1\n\n")
    later = recording_of(first())
    later.meta["probe"]["version"] = 2

    for recording, words in ((_read(plain), "no exchange"), (later, "version 2")):
        with pytest.raises(BadRecording, match=words):
            exchange_of(recording)


def _read(file: io.BytesIO) -> Recording:
    return Recording(name="plain.jsonl", chunks=iter([(None, file.getvalue())]))


@given(
    body=st.binary(max_size=300) | st.text('{}[]":,data \n\r', max_size=200).map(str.encode),
    wire=st.sampled_from(WIRES),
    streamed=st.booleans(),
    status=st.sampled_from([None, 200, 204, 400, 500]),
    ended=st.sampled_from(["closed", "broken", "timed_out"]),
)
def test_any_bytes_are_judged(
    body: bytes, wire: Wire, streamed: bool, status: int | None, ended: Ending
) -> None:
    """No bytes make the judge raise."""
    exchange = Exchange(
        scenario="any",
        wire=wire,
        is_streamed=streamed,
        request={"tools": [ECHO, None, 3], "messages": 7},
        status=status,
        chunks=((None, body),),
        ended=ended,
        asked=asked_for("x"),
    )

    assert isinstance(grade(exchange), list)


@pytest.mark.parametrize("wire", WIRES)
@given(data=st.data())
def test_any_members_are_judged(wire: Wire, data: st.DataObject) -> None:
    """No value in any member of a frame makes the judge raise."""
    lines = first(wire).body.replace(b"\r\n", b"\n").split(b"\n")
    at = data.draw(
        st.sampled_from([at for at, line in enumerate(lines) if line.startswith(b"data") and b"{" in line])
    )
    head, _, text = lines[at].partition(b":")
    frame = msgspec.json.decode(text)
    lines[at] = head + b": " + msgspec.json.encode(_damaged(frame, data))

    assert isinstance(grade(changed(first(wire), chunks=((None, b"\n".join(lines)),))), list)


def _damaged(value: Any, data: st.DataObject) -> Any:
    """Return a value with another value in one of its members, at any depth."""
    odd = st.sampled_from([None, "", "x", 3, -1, 0.5, True, [], [1], {}, {"q": [1]}])
    if not isinstance(value, (dict, list)) or not value or data.draw(st.integers(0, 3)) == 0:
        return data.draw(odd)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = data.draw(st.sampled_from(keys))
    copied: Any = value.copy()
    copied[key] = _damaged(value[key], data)
    return copied


def test_every_rule_says_where_it_comes_from() -> None:
    """Ids are unique, have a group and say what a breach is; each has a source with an address."""
    ids = [rule.id for rule in RULES]

    assert len(set(ids)) == len(ids)
    assert [] == [rule.id for rule in ALL.values() if not rule.source.url.startswith("https://")]
    assert [] == [rule.id for rule in ALL.values() if not rule.says.endswith(".") or "." not in rule.id]


def test_words_of_the_parser_name_rules() -> None:
    """Each word of the parser leads to a rule, and is explained by rules only."""
    named = {*RULE_OF_WORD.values(), *(rule for rules in EXPLAINED.values() for rule in rules)}

    assert named <= ALL.keys()
    assert EXPLAINED.keys() <= RULE_OF_WORD.keys()
