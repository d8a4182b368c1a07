"""Classification of errors: the table of rules, bodies, ids, statuses, faults of a stream."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest

from tests.support.together import together
from wholecall.calls.output.events import StreamFault
from wholecall.errors import StreamFailed
from wholecall.history import ErrorClass, classify_error
from wholecall.history.errors import messages, requests
from wholecall.history.errors.classify import RULES
from wholecall.history.errors.rules import Rule
from wholecall.history.errors.text import (
    MAX_DEPTH,
    MAX_IDS,
    MAX_JSON_CHARS,
    MAX_STRING,
    expected_type,
    listen,
    named_ids,
)

UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A."
ORPHAN = "unexpected `tool_use_id` found in `tool_result` blocks: toolu_01A"
FILLER = "lorem ipsum "


def fault(kind: Any = "provider_error", detail: str = "", error: Any = None, raw: str = "") -> StreamFault:
    """Return a fatal fault at the beginning of a stream."""
    return StreamFault(0, 0, kind, detail, error, fatal=True, raw=raw)


def category(status: Any, body: Any = None, headers: Any = None) -> str:
    """Return only the category of an error."""
    return classify_error(status, body, headers).category


def kind(body: Any, status: int = 400) -> str | None:
    """Return only the kind of an error."""
    return classify_error(status, body).kind


# --- the table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", [messages, requests])
def test_every_group_is_in_the_table(module: ModuleType) -> None:
    """A group of rules from a module is asked, and each of its rules only once."""
    groups = [each for name, each in vars(module).items() if name.isupper() and not name.startswith("_")]
    offered = [rule for group in groups if isinstance(group, tuple) for rule in group]

    assert offered
    assert [1] * len(offered) == [RULES.rules.count(rule) for rule in offered]


@together("rule", RULES.rules, ids=[rule.says[:60] for rule in RULES.rules])
def test_each_rule_is_reached(rule: Rule) -> None:
    """The phrase of a rule is decided by that rule, not by one before it."""
    status = min(rule.statuses, default=400)
    found = RULES.first(listen(rule.says, None).text.lower(), status)

    assert found is not None
    assert rule == found.rule


@together("rule", RULES.rules, ids=[rule.says[:60] for rule in RULES.rules])
def test_quotes_and_case_do_not_matter(rule: Rule) -> None:
    """A phrase means the same with other quotation marks, in capitals, and broken over lines."""
    status = min(rule.statuses, default=400)
    expected = classify_error(status, rule.says)
    shapes = [rule.says.replace("`", mark).replace("'", mark) for mark in ('"', "\u2019", '\\"')]
    shapes += [rule.says.upper(), rule.says.replace(" ", "\n    ")]

    assert {(expected.category, expected.kind)} == {
        (found.category, found.kind) for found in (classify_error(status, shape) for shape in shapes)
    }


@together(
    ("first", "second", "expected"),
    [
        ("Unsupported parameter: 'max_tokens'", "maximum context length is 8192 tokens", "request"),
        ("prompt is too long: 9 tokens > 8 maximum", "rate limit exceeded", "context_overflow"),
        ("prompt is too long: 9 tokens > 8 maximum", "see your plan and billing details", "context_overflow"),
        ("credit balance is too low", "maximum request token limit exceeded", "billing"),
        ("input is too long on tokens per minute (TPM)", "please shorten the length of it", "rate_limit"),
        ("rate limit exceeded", "add 10 credits to unlock more", "rate_limit"),
        ("the engine is overloaded", "too many requests", "overloaded"),
        ("your input was flagged", "no credits were charged", "content_filter"),
        ("the model `x` does not exist", "or you have no api key for it", "request"),
        (UNANSWERED, "rate limit exceeded", "transcript"),
    ],
)
def test_what_counts_more(first: str, second: str, expected: str) -> None:
    """Where a text holds the words of two classes, the order of the table decides, not that of the words."""
    assert [expected] * 2 == [category(400, f"{first}. {second}"), category(400, f"{second}. {first}")]


@together("status", [400, 404, 422, 429, 500, 502, 503, 529, 200, None])
def test_a_format_error_is_one_with_any_status(status: int | None) -> None:
    """A transcript that the provider refuses is `transcript`, whatever status a gateway gives it."""
    expected = ErrorClass("transcript", "orphan_tool_result", ("toolu_01A",), "session", repairable=True)

    assert expected == classify_error(status, ORPHAN)


# --- statuses -------------------------------------------------------------------------------------------


@together(
    ("status", "expected"),
    [
        *[
            (400, "unknown"),
            (422, "unknown"),
            (401, "auth"),
            (402, "billing"),
            (403, "auth"),
            (404, "request"),
        ],
        *[
            (405, "request"),
            (407, "auth"),
            (408, "server_error"),
            (409, "request"),
            (413, "context_overflow"),
        ],
        *[
            (424, "server_error"),
            (429, "rate_limit"),
            (451, "auth"),
            (498, "content_filter"),
            (499, "unknown"),
        ],
        *[(500, "server_error"), (502, "server_error"), (503, "overloaded"), (504, "server_error")],
        *[(522, "server_error"), (529, "overloaded"), (200, "unknown"), (302, "unknown"), (None, "unknown")],
    ],
)
def test_a_status_alone(status: int | None, expected: str) -> None:
    """Without a body the status decides; a bare 400 decides nothing."""
    blanks: tuple[Any, ...] = (None, "", " \n", b"", {}, [], "{}", "null")

    assert {expected} == {category(status, body) for body in blanks}


@pytest.mark.parametrize("body", ["tide", {"error": {"message": "tide"}}, {"detail": "tide"}, ["tide"]])
def test_a_400_that_no_rule_knows(body: Any) -> None:
    """A 400 in unknown words is the request's, without a kind, and does not discredit a credential."""
    assert ErrorClass("request") == classify_error(400, body)


@together(
    ("body", "expected"),
    [
        ({"error": {"message": "tide", "type": "invalid_request_error"}}, "request"),
        ({"error": {"message": "tide", "code": 429}}, "rate_limit"),
        ({"error": {"message": "tide", "code": "401"}}, "auth"),
        ({"error": {"message": "tide", "status": "UNAVAILABLE"}}, "overloaded"),
        ({"message": "tide", "originalStatusCode": 500}, "server_error"),
        ("Error code: 404 - {'detail': 'tide'}", "request"),
        ("503 tide", "overloaded"),
        ("tide at 429 fathoms", "unknown"),
        ({"code": 4294967296, "message": "tide"}, "unknown"),
    ],
)
@together("status", [None, 200])
def test_a_status_that_the_body_names(status: int | None, body: Any, expected: str) -> None:
    """Where HTTP gives no error status, the one in the body counts, in whatever member it is."""
    assert expected == category(status, body)


def test_the_status_of_http_counts_more() -> None:
    """A status in the body does not overrule the response's own."""
    assert category(503, {"error": {"code": 401, "message": "tide"}}) == "overloaded"


# --- bodies ---------------------------------------------------------------------------------------------


@together(
    "wrap",
    [
        lambda text: text,
        lambda text: text.encode(),
        lambda text: {"error": {"message": text, "type": "invalid_request_error"}},
        lambda text: {"type": "error", "error": {"type": "invalid_request_error", "message": text}},
        lambda text: {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}},
        lambda text: [{"error": {"code": 400, "message": text}}],
        lambda text: {"__type": "com.amazon#ValidationException", "message": text},
        lambda text: {"Message": text},
        lambda text: {"message": text},
        lambda text: {"object": "error", "message": text},
        lambda text: {"detail": [{"loc": ["body"], "msg": text}]},
        lambda text: {"detail": text},
        lambda text: {"error": text},
        lambda text: {"errors": [text]},
        lambda text: {"errors": [{"message": text, "code": 7000}], "success": False},
        lambda text: {"base_resp": {"status_code": 2013, "status_msg": text}},
        lambda text: {"error": {"message": "Provider returned error", "metadata": {"raw": json.dumps(text)}}},
        lambda text: {"error": {"message": json.dumps({"error": {"message": text}})}},
        lambda text: {
            "error": {"message": f"SomeError: {json.dumps({'error': {'message': text}})} (tried 3 times)"}
        },
        lambda text: json.dumps({"error": {"message": text}}, indent=2),
        lambda text: "\ufeff" + json.dumps({"error": text}),
        lambda text: f"event: error\ndata: {json.dumps({'error': {'message': text}})}\n\n",
        lambda text: f"Error code: 400 - { ({'error': {'message': text}})!r}",
        lambda text: f"<html><body><p>{text.replace('`', '&quot;')}</p></body></html>",
        lambda text: {"a": {"b": {"c": {"d": {"e": {"f": {"message": text}}}}}}},
    ],
)
def test_all_shapes_are_read_alike(wrap: Any) -> None:
    """A provider's message is found in every shape in which providers, gateways and SDKs wrap it."""
    expected = ErrorClass("transcript", "unanswered_tool_call", ("toolu_01A",), "session", repairable=True)

    assert expected == classify_error(400, wrap(UNANSWERED))


@together(
    "echo",
    [
        "input",
        "messages",
        "content",
        "failed_generation",
        "flagged_input",
        "requestBodyValues",
        "choices",
        "ctx",
    ],
)
def test_echoes_do_not_decide(echo: str) -> None:
    """Repetitions of the request or of the model's output are not read: a user may write about rate limits."""
    text = f"rate limit exceeded, {ORPHAN}"
    bodies: list[Any] = [
        {"error": {"message": "tide", echo: echoed}} for echoed in (text, [text], {"text": text})
    ]
    bodies += [json.dumps(body) for body in bodies]

    assert {ErrorClass("request")} == {classify_error(400, body) for body in bodies}


def test_a_place_and_its_complaint_are_one_line() -> None:
    """The steps of a place are joined, and read together with the message about it."""
    place = ["body", "messages", 2, "tool_calls", 0, "function", "arguments"]
    body = {
        "detail": [
            {"type": "string_type", "loc": place, "msg": "Input should be a valid string", "input": {}}
        ]
    }

    assert "string" == classify_error(422, body).expects
    assert (
        kind({"detail": [{"loc": ["body", "tools", 0], "msg": "Input should be a valid string"}]})
        == "tool_definition"
    )


def test_objects_are_lines_of_their_own() -> None:
    """Words of two objects do not make one phrase."""
    assert category(400, [{"message": "prompt"}, {"message": "is too long"}]) == "request"


def test_far_too_long() -> None:
    """Of a long text both ends are read, and nothing in between."""
    long = FILLER * 900_000

    assert "transcript" == category(400, ORPHAN + long) == category(400, long + ORPHAN)
    assert category(400, long + ORPHAN + long) == "request"
    assert "transcript" == category(400, {"error": {"message": long + ORPHAN}})
    assert category(400, {"error": {"message": long + ORPHAN + long}}) == "request"


def test_a_long_body_is_read_alike() -> None:
    """Text and bytes of a body that is too long to be decoded give the same class."""
    body = json.dumps({"error": {"message": ORPHAN, "details": "x" * 3 * MAX_JSON_CHARS}})

    assert ("transcript", "transcript") == (category(400, body), category(400, body.encode()))


def test_many_and_deep() -> None:
    """A body of too many members or levels is read as far as the bounds go, and raises nothing."""
    deep: Any = ORPHAN
    for _ in range(MAX_DEPTH + 2):
        deep = {"error": deep}
    self_made: dict[str, Any] = {"message": "tide"}
    self_made["error"] = self_made

    assert category(400, deep) == "unknown"
    assert category(400, deep["error"]) == "transcript"
    assert category(400, [{}] * 100_000 + [ORPHAN]) == "unknown"
    assert category(400, "[" * 100_000) == category(400, "[" * 100_000 + "]" * 100_000) == "request"
    assert category(400, self_made) == "request"


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", "\ud800", {"\ud800": "\ud800"}, {1: 2, None: ("tide",)}, 7, object(), 1e400]
)
def test_odd_bodies(body: Any) -> None:
    """A body that is not JSON raises nothing."""
    assert category(400, body) in {"request", "unknown"}


def test_keeping_both_ends() -> None:
    """A string that is too long keeps its beginning and its end, and stays within the bound."""
    text = listen({"message": "a" * MAX_STRING + "b" * MAX_STRING}, None).text

    assert ("a", "b") == (text[0], text[-1])
    assert len(text) <= MAX_STRING + 3


# --- headers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("x-amzn-errortype", "ThrottlingException:http://internal.example/", "rate_limit"),
        ("X-Amzn-ErrorType", "com.example.service#ThrottlingException", "rate_limit"),
        ("X-AMZN-ERRORTYPE", "ServiceUnavailableException", "overloaded"),
        ("x-amzn-errortype", "AccessDeniedException", "auth"),
        ("x-amzn-errortype", "ValidationException", "request"),
    ],
)
def test_bedrock_names_the_error_in_a_header(name: str, value: str, expected: str) -> None:
    """The header that names an exception counts as a word, in any spelling."""
    assert expected == category(400, {"message": "tide"}, {name: value})


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        ("You exceeded your current quota", {}, "billing"),
        ("You exceeded your current quota", {"Retry-After": "20"}, "rate_limit"),
        ("You exceeded your current quota. Please retry in 23.4s.", {}, "rate_limit"),
        ({"type": "usage_limit_reached", "message": "tide"}, {}, "billing"),
        ({"type": "usage_limit_reached", "message": "tide", "resets_in_seconds": 60}, {}, "rate_limit"),
        ({"type": "usage_limit_reached", "message": "tide", "resets_at": None}, {}, "billing"),
        ("Your credit balance is too low", {"retry-after": "20"}, "billing"),
    ],
)
def test_who_says_when_to_come_back(body: Any, headers: dict[str, str], expected: str) -> None:
    """A quota that renews is a rate limit, one that does not is a bill; an empty account is always a bill."""
    assert expected == category(429, body, headers)


def test_limits_behind_a_gateway() -> None:
    """A limit of the provider behind a gateway is not the key's, unless the key there is the caller's own."""
    error = {
        "message": "Provider returned error",
        "metadata": {"raw": "Rate limit exceeded", "is_byok": False},
    }
    own = {"message": "Provider returned error", "metadata": {"raw": "Rate limit exceeded", "is_byok": True}}

    assert ErrorClass("rate_limit", "upstream", scope="provider") == classify_error(429, {"error": error})
    assert ErrorClass("rate_limit", scope="credential", cooldown=True) == classify_error(429, {"error": own})


# --- ids and types --------------------------------------------------------------------------------------


@together(
    ("text", "expected"),
    [
        ("blocks: toolu_01Dvx. Each", ["toolu_01Dvx"]),
        ("after: srvtoolu_1, mcptoolu_2, tooluse_3", ["srvtoolu_1", "mcptoolu_2", "tooluse_3"]),
        ("for function call call_abc.", ["call_abc"]),
        ("with call_id call_x1.", ["call_x1"]),
        ("the call_id, the call_ids and call_name of function_call_output", []),
        ("tool_call_id: chatcmpl-tool-1f functions.read:0", ["chatcmpl-tool-1f", "functions.read:0"]),
        ("functions.0.parameters", []),
        ("call-79c36204-767b is", ["call-79c36204-767b"]),
        (
            "The following tool_call_ids did not have response messages: Agent:0, Shell:58",
            ["Agent:0", "Shell:58"],
        ),
        ("ids were found without results: abcdefghi, jklmnopqr. Each", ["abcdefghi", "jklmnopqr"]),
        ("for the following Ids: ['a', 'b']", ["a", "b"]),
        ("tool_call_ids: Agent:0', 'type': 'invalid'", ["Agent:0"]),
        ("Tool call id was abcdefghi but must be", ["abcdefghi"]),
        ("tool id(x7f) not found", ["x7f"]),
        ("tool_call_id 'abc' is unknown", ["abc"]),
        ("tool_call_id is not found", []),
        ("tool_use.id: String should match pattern", []),
        ("Missing tool_call_id: messages.2", []),
        ("Value 'call|1.2' at 'messages.1.toolUse.toolUseId' failed", ["call|1.2"]),
        ("duplicate Ids: tooluse_A, tooluse_A", ["tooluse_A"]),
    ],
)
def test_ids_are_named(text: str, expected: list[str]) -> None:
    """The ids in a message are returned in its order, each once; words that only look like an id are not."""
    assert expected == list(named_ids(text))


def test_ids_are_bounded() -> None:
    """However many ids a message names, a bounded number is kept."""
    assert MAX_IDS == len(named_ids(" ".join(f"toolu_{n}" for n in range(10 * MAX_IDS))))


def test_ids_are_those_of_calls() -> None:
    """Errors of other classes name no calls, and ids keep their case."""
    assert ("toolu_01DvX",) == classify_error(400, ORPHAN.replace("01A", "01DvX")).ids
    assert () == classify_error(429, "Rate limit reached for call_1").ids


@together(
    ("text", "expected"),
    [
        ("cannot unmarshal object into go struct field arguments of type string", "string"),
        ("cannot unmarshal string into go struct field x of type api.toolcallfunctionarguments", "object"),
        ("cannot unmarshal string into go struct field x of type map[string]interface {}", "object"),
        ("input should be a valid dictionary", "object"),
        ("input should be a valid string", "string"),
        ("expected a string, but got an object instead", "string"),
        ("invalid type: map, expected a string at line 1", "string"),
        ("must be a json object", "object"),
        ("valid types: <class 'dict'>", "object"),
        ("(type.googleapis.com/google.protobuf.struct)", "object"),
        ("can only get item pairs from a mapping", "object"),
        ("it is wrong", None),
    ],
)
def test_the_type_that_is_due(text: str, expected: str | None) -> None:
    """For a complaint about a type the expected type is returned, not the received one."""
    assert expected == expected_type(text)


# --- faults of a stream ---------------------------------------------------------------------------------


def test_a_fault_is_read_like_a_response() -> None:
    """The provider's error inside a stream gets the class that it gets as a response."""
    error = {"type": "overloaded_error", "message": "Overloaded"}

    assert ErrorClass("overloaded", scope="provider") == classify_error(fault(error=error))
    assert classify_error(529, {"type": "error", "error": error}) == classify_error(fault(error=error))


@pytest.mark.parametrize(
    ("kind", "detail", "raw", "expected"),
    [
        ("provider_error", "the choice finished with 'network_error'", "", "server_error"),
        ("provider_error", "the choice finished with 'error'", "", "server_error"),
        ("unknown_dialect", "no frame of a known dialect came", '{"detail":"Unauthorized"}', "auth"),
        ("not_sse", "bytes came but no event", "503 Service Unavailable", "overloaded"),
        ("undecodable_frame", "a frame holds no JSON object", "rate limit exceeded", "unknown"),
        ("bad_crc", "a checksum is wrong", "", "unknown"),
        ("line_too_long", "a line is too long", "rate limit exceeded", "unknown"),
    ],
)
def test_faults_without_an_error(kind: str, detail: str, raw: str, expected: str) -> None:
    """A fault without the provider's error is judged by its bytes, but not where the model wrote them."""
    assert expected == classify_error(fault(kind, detail, raw=raw)).category


def test_a_body_beside_a_fault_counts_more() -> None:
    """A body that is given is read instead of the fault's own error."""
    assert category(fault(error={"message": "tide"}), ORPHAN) == "transcript"


@pytest.mark.parametrize("status", ["429", 4.29, b"", {}])
def test_a_status_that_is_none(status: Any) -> None:
    """A value that is neither a status nor a fault is the caller's mistake."""
    with pytest.raises(TypeError, match="status must be an HTTP status, an exception, a StreamFault or None"):
        classify_error(status, "tide")


# --- exceptions -----------------------------------------------------------------------------------------


class Raised(Exception):
    """An exception with the given members."""

    def __init__(self, message: str = "", **members: Any) -> None:
        super().__init__(message)
        vars(self).update(members)


LONG = {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}}
THROTTLED = {"X-Amzn-ErrorType": "ThrottlingException:http://internal.example/"}
BOTO = {"Error": {"Code": "ThrottlingException", "Message": "Too many requests"}}


@together(
    ("error", "expected"),
    [
        (Raised(status_code=400, body=LONG), ("context_overflow", "session")),
        (Raised(code=400, details=LONG), ("context_overflow", "session")),
        (Raised(status=401), ("auth", "credential")),
        (Raised(status_code=400, headers=THROTTLED), ("rate_limit", "credential")),
        (Raised(response=Raised(status_code=400, headers=THROTTLED)), ("rate_limit", "credential")),
        (
            Raised(response={"ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": THROTTLED}}),
            ("rate_limit", "credential"),
        ),
        (
            Raised(response=Raised(status_code=400, content=json.dumps(LONG).encode())),
            ("context_overflow", "session"),
        ),
        (
            Raised(response={**BOTO, "ResponseMetadata": {"HTTPStatusCode": 429}}),
            ("rate_limit", "credential"),
        ),
        (Raised(response=BOTO), ("rate_limit", "credential")),
        (Raised(code="invalid_api_key", status_code=401), ("auth", "credential")),
        (Raised("Connection error."), ("server_error", "provider")),
        (KeyError("tide"), ("unknown", "request")),
        (StreamFailed("provider_error", "", LONG), ("context_overflow", "session")),
        (StreamFailed("provider_error", "Overloaded"), ("overloaded", "provider")),
    ],
)
def test_exceptions_hold_the_answer(error: BaseException, expected: tuple[str, str]) -> None:
    """Status, body and headers are found under the names that SDKs give them; else the exception's words count."""
    found = classify_error(error)

    assert expected == (found.category, found.scope)


def test_what_is_given_goes_before_what_an_exception_holds() -> None:
    """The body or headers that a caller passes outrank those of the exception."""
    error = Raised("Error code: 400", status_code=400, headers={"x": "y"})

    assert "context_overflow" == classify_error(error, LONG).category
    assert classify_error(429, "", {"retry-after": "1"}) == classify_error(
        Raised(status_code=429), "", {"retry-after": "1"}
    )
