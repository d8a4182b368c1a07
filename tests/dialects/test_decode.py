"""The tolerant decode that every dialect shares."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest

from tests.support.together import together
from wholecall.deltas import WireFault
from wholecall.dialects.decode import (
    NO_TEXT,
    decode,
    dumped,
    is_blank,
    is_done,
    is_noise,
    listed,
    member,
    opened_chunk,
    payloads,
    plain,
    provider_error,
    raw_members,
    read,
    spoken,
    string_text,
    undecodable,
    value_text,
    wire_text,
)
from wholecall.framing.frame import Frame
from wholecall.limits import Limits


class Leaf(msgspec.Struct):
    """A nested view."""

    type: str | None = None
    raw: msgspec.Raw = NO_TEXT


class View(msgspec.Struct):
    """A view with a field of every kind that dialects use."""

    type: str | None = None
    any: Any = None
    leaf: Leaf | None = None
    leaves: list[Leaf] | None = None
    renamed: Any = msgspec.field(name="async", default=None)
    raw: msgspec.Raw = NO_TEXT


DECODER = msgspec.json.Decoder(View)
NAN = '"any":NaN'  # the typed decoder refuses it, wherever it is


def view(text: str) -> View:
    """Decode a text that must be readable."""
    found = decode(DECODER, text)
    assert found is not None
    return found


def test_typed_text_takes_the_fast_way() -> None:
    """A frame without oddities equals the typed decoder's result."""
    assert View(type="x", any=1) == view('{"type":"x","any":1,"more":[]}')


@together(
    ("text", "value"),
    [
        ('{"any":"\\ud83d"}', "\ud83d"),
        ('{"any":"\ud83d"}', "\ud83d"),
        ('{"any":"a\nb\x01"}', "a\nb\x01"),
        ('\ufeff{"any":1}', 1),
        (' \t\n{ "any" : 1 , "other" : [ 1 , {} ] } \x00', 1),
        ('{"any":-Infinity}', float("-inf")),
        ('{"any":1' + "0" * 5000 + "}", float("inf")),
        ('{"type":5,"any":7}', 7),
        ('{"type":5,"any":9223372036854775807}', 9223372036854775807),
        ('{"type":5,"any":18446744073709551615}', 1.8446744073709552e19),
    ],
)
def test_one_oddity_loses_nothing(text: str, value: object) -> None:
    """Lone surrogates, control characters, BOM, NaN and wrong types cost no frame (quirks 33 and 35)."""
    assert value == view(text).any


def test_a_field_of_a_wrong_type_is_absent() -> None:
    """A wrong type loses that field only, and lists keep their positions."""
    found = view('{"type":{"a":1},"leaf":"no","leaves":[1,{"type":"x"},{"type":2}],"async":true}')

    assert View(leaves=[Leaf(), Leaf(type="x"), Leaf()], renamed=True) == found


def test_a_null_struct_and_an_empty_list_survive_the_slow_way() -> None:
    """Null and empty containers mean the same in both ways."""
    assert View(any=msgspec.UNSET, leaves=[]) == msgspec.structs.replace(
        view('{"leaf":null,"leaves":[],"any":NaN}'), any=msgspec.UNSET
    )


@pytest.mark.parametrize("value", ['{"a": 1,"a":2.50}', '[1, {"b":NaN}]', '"te\\u0078t"', "1e999"])
def test_raw_fields_keep_the_wires_own_text(value: str) -> None:
    """The slow way slices a value out of the frame: duplicate keys and spellings survive."""
    found = view(f'{{{NAN},"leaf":{{"raw":{value}}},"raw": {value} }}')

    assert found.leaf is not None
    assert (value.encode(), value.encode()) == (bytes(found.raw), bytes(found.leaf.raw))


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '"text"', '{"any":1', '{"any":1}{"any":2}', "{]"])
def test_what_is_no_object_has_no_view(text: str) -> None:
    """Only one whole JSON object has a view."""
    assert decode(DECODER, text) is None


def test_deep_nesting_is_named() -> None:
    """A frame too deep to read is a separate kind of hole."""
    text = '{"any":' + "[" * 100_000

    assert decode(DECODER, text) is None
    fault = undecodable(text, Limits(max_raw_bytes=10))
    assert fault == WireFault(
        "nesting_too_deep", "a frame is nested too deeply to be read", raw=text[:10], hole=True
    )


@pytest.mark.parametrize("text", ['{"cut', "[1]"])
def test_an_undecodable_frame_is_a_hole(text: str) -> None:
    """It may have carried argument text, so it is not fatal but a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw=text, hole=True)

    assert fault == undecodable(text)


def test_lines_that_decode_alone_are_payloads() -> None:
    """A missing blank line glues events together: each line is one (quirk 55)."""
    assert ['{"any":1}', '{"any":2}'] == payloads('{"any":1}\n\n{"any":2}')
    assert ['{\n"any":1}'] == payloads('{\n"any":1}')
    assert ['{"any":1}\n{cut'] == payloads('{"any":1}\n{cut')
    assert ['{"any":1}', ": comment", "[DONE]"] == payloads('{"any":1}\n: comment\n[DONE]')
    assert ['{"any":1}', '{"any":2}'] == payloads('{"any":1}\n \t\n{"any":2}')


@together(
    "text",
    ["", "cut", '{"any":1}', '{"any":1}\n', "\n \n", '{"any":1}\n{cut', '{"any":1}\nrest {of', "a\n1]"],
)
def test_one_payload_stays_as_it_came(text: str) -> None:
    """Lines are taken apart only where there are several, and each can be a frame by itself (quirk 55)."""
    assert [text] == payloads(text)


def test_a_frame_reads_as_views_or_as_a_fault() -> None:
    """A refused frame gives the views it holds, nothing for noise, and a fault for the rest."""
    first, second = '{"any":1}', '{"any":2}'
    views = [View(any=1), View(any=2)]
    assert (views, [first, second], []) == read(DECODER, Frame("message", f"{first}\n{second}"))
    assert ([View(any=1)], [first], []) == read(DECODER, Frame("message", f"{first}\n[DONE]"))
    assert ([View(any=1)], [first], [undecodable("cut")]) == read(DECODER, Frame("error", f"{first}\ncut"))
    assert ([], [], []) == read(DECODER, Frame("ping", "soon"))
    assert ([], [], [undecodable("cut")]) == read(DECODER, Frame("message", "cut"))
    assert ([], [], [provider_error("Bad gateway")]) == read(DECODER, Frame("error", "Bad gateway"))


@pytest.mark.parametrize(
    ("frame", "noise"),
    [
        (Frame("ping", '{"any":1}'), True),
        (Frame("message", " "), True),
        (Frame("message", "{}"), True),
        (Frame("message", "null"), True),
        (Frame("message", "ping"), True),
        (Frame("message", "[]"), True),
        (Frame("message", '""'), True),
        (Frame("message", "0"), False),
        (Frame("message", "[1]"), False),
    ],
)
def test_pings_are_noise(frame: Frame, *, noise: bool) -> None:
    """Pings and blank data can hold nothing (quirk 53)."""
    assert noise == is_noise(frame)


def test_noise_in_a_row_is_left_out() -> None:
    """In a row of frames noise is left out, where no event names it (quirk 53)."""
    texts = ["", "{}", "null", "ping", "pong", "[]", '""', '{"any":1}']

    assert ["pong", '{"any":1}'] == spoken(texts, Frame("message", ""))
    assert texts == spoken(texts, Frame("delta", ""))
    assert texts == spoken(texts, [Frame("message", text) for text in texts])


@pytest.mark.parametrize(("text", "done"), [("[DONE]", True), (" [DONE] ", True), ('["DONE"]', False)])
def test_done_is_recognised(text: str, *, done: bool) -> None:
    """`[DONE]` ends any stream that a proxy touched."""
    assert done == is_done(text)


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded_error: Overloaded"),
        ({"code": 429, "type": "x", "message": None}, "429"),
        ("Bad gateway", "Bad gateway"),
        (None, "the provider reports an error"),
        ({}, "the provider reports an error"),
    ],
)
def test_a_providers_error_is_fatal(error: object, detail: str) -> None:
    """The provider's object stays untouched next to a sentence for people (quirk 52)."""
    assert WireFault("provider_error", detail, error=error, fatal=True) == provider_error(error)


@together(
    ("raw", "text"),
    [
        (b"", ""),
        (b"null", ""),
        (b'""', ""),
        (b'"{\\"a\\":1}"', '{"a":1}'),
        (b'{"a": 1}', '{"a": 1}'),
        (b"12", "12"),
        (b'"\\ud83d"', "\ud83d"),
        (b'"a\nb"', "a\nb"),
        ('"a\ud83d"'.encode("utf-8", "surrogatepass"), "a\ud83d"),
        ('{"a":"\ud83d"}'.encode("utf-8", "surrogatepass"), '{"a":"\ud83d"}'),
    ],
)
def test_text_is_a_strings_value_or_the_wires_own_text(raw: bytes, text: str) -> None:
    """A string gives its content, an object its text, null nothing (quirks 21 and 22)."""
    value = msgspec.Raw(raw)

    assert [text, text] == [wire_text(value), string_text(value)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", ("", False)),
        (b"null", ("", False)),
        (b'""', ("", False)),
        (b'"{}"', ("{}", False)),
        (b"{}", ("{}", True)),
        (b"12", ("12", True)),
    ],
)
def test_a_value_that_is_no_string_is_whole(raw: bytes, expected: tuple[str, bool]) -> None:
    """An object in place of argument text is all of it, a string may be a piece (quirk 21)."""
    assert expected == value_text(msgspec.Raw(raw))


@together(
    ("text", "members"),
    [
        ('{"a": {"b":1,"b":2.50} , "c":"x"}', {"a": '{"b":1,"b":2.50}', "c": '"x"'}),
        ('{"a":"\ud83d"}', {"a": '"\ud83d"'}),
        ("{}", {}),
        ("", {}),
        ("null", {}),
        ('[{"a":1}]', {}),
        ('{"a":' + "[" * 100_000 + "]" * 100_000 + "}", {}),
    ],
)
def test_members_keep_the_wires_own_text(text: str, members: dict[str, str]) -> None:
    """The members of an object have the wire's text; what is absent, no object or nested too deeply has none."""
    found = raw_members(msgspec.Raw(text.encode("utf-8", "surrogatepass")))

    assert members == {key: bytes(raw).decode("utf-8", "surrogatepass") for key, raw in found.items()}


@together(
    ("coded", "opened"),
    [
        ('{"a":1}', '{"a":1}'),
        (base64.b64encode('{"a":"é"}'.encode()).decode(), '{"a":"é"}'),
        (base64.b64encode(b"\x00\xff").decode(), b"\x00\xff"),
        ("eyJhIjox fQ==", None),
        ("eyJhIjoxfQ", None),
    ],
)
def test_an_event_in_base64(coded: str, opened: str | bytes | None) -> None:
    """An event that is coded is read, one that came as JSON stays; text with anything else than base64 holds none."""
    assert opened == opened_chunk(coded)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a":[1]}', {"a": [1]}),
        ('\ufeff{"a":1}', {"a": 1}),
        ('{"a":"x\n\\ud83d"}', {"a": "x\n\ud83d"}),
        ("Bad gateway", None),
        ('{"a":1}{"a":2}', None),
        ("[" * 100_000, None),
    ],
)
def test_text_without_a_view_is_read_as_tolerantly(text: str, value: object) -> None:
    """The builtins of a text survive whatever a view survives; text that is not JSON is None."""
    assert value == plain(text)


@together(
    ("value", "path", "found"),
    [
        ({"a": [{"b": 1}, {"b": 2}]}, ("a", 1, "b"), 2),
        ({"a": [{"b": 1}, {"b": 2}]}, ("a", 2, "b"), None),
        ({"a": {"b": 1}}, ("a", 0, "b"), 1),
        ({"a": {"b": 1}}, ("a", 1), None),
        ({"a": {"b": 1}}, ("c", "b"), None),
        ({"a": 5}, ("a", 0), None),
        ({"a": "text"}, ("a", 0), None),
        ([{"a": 1}], ("a",), None),
        (5, (), 5),
    ],
)
def test_a_path_leads_to_a_value_or_to_none(
    value: object, path: tuple[str | int, ...], found: object
) -> None:
    """A member that is missing on the way is None, never an error; one object may come for a list of one (quirk 39)."""
    assert found == member(value, *path)


def test_a_list_of_the_wire_is_a_list() -> None:
    """Anything else in its place is an empty one."""
    assert [[1, None], [], [], []] == [listed(value) for value in ([1, None], {"a": 1}, "text", None)]


def test_a_value_in_place_of_a_string_becomes_text() -> None:
    """Strings stay as they are; anything else is dumped compactly, non-ASCII kept."""
    value = {"a": ["é", None]}

    assert '{"a":["é",null]}' == dumped(value)
    assert "{ x" == dumped("{ x")
    assert '{"a":NaN}' == dumped({"a": float("nan")})
    assert value == json.loads(dumped(value))


@pytest.mark.parametrize(("text", "blank"), [("", True), (" { \n} ", True), ("[]", True), ('{"a":1}', False)])
def test_empty_values_are_blank(text: str, *, blank: bool) -> None:
    """An empty object, an empty array and nothing are placeholders (quirk 25)."""
    assert blank == is_blank(text)


@together(
    ("data", "noise", "hole"),
    [
        (": OPENROUTER PROCESSING", True, False),
        (":keep-alive 12", True, False),
        ("keepalive", False, False),
        ("upstream error: read ECONNRESET", False, False),
        ("12", False, True),
        (":", False, True),
        (': {"a":1', False, True),
        (': rest {"a":1', False, True),
        ("a}", False, True),
        ('tail"', False, True),
    ],
)
def test_words_hold_no_argument_text(data: str, noise: bool, hole: bool) -> None:
    """Comments written as data say nothing, other words are a fault without a hole (quirk 123)."""
    assert noise is is_noise(Frame("message", data))
    assert hole is undecodable(data).hole
