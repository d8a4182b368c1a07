"""The resumable scan: completeness, possible starts of values, and nothing scanned twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.together import together
from wholecall.calls.arguments.lexical import Scan, begins_object, is_object

# text → complete, value_may_start, inside_string
STATES: dict[str, tuple[bool, bool, bool]] = {
    "": (False, True, False),
    " \n\t": (False, True, False),
    "{": (False, False, False),
    "{ ": (False, False, False),
    '{"': (False, False, True),
    '{"a': (False, False, True),
    '{"a"': (False, False, False),
    '{"a":': (False, True, False),
    '{"a": ': (False, True, False),
    '{"a":1': (False, False, False),
    '{"a":1,': (False, False, False),
    '{"a":tru': (False, False, False),
    '{"a":[': (False, True, False),
    '{"a":[1': (False, False, False),
    '{"a":[1,': (False, True, False),
    '{"a":[1,{': (False, False, False),
    '{"a":[1]': (False, False, False),
    '{"a":{}': (False, False, False),
    '{"a":{},': (False, False, False),
    '{"a":"}"': (False, False, False),
    '{"a":"\\"': (False, False, True),
    '{"a":"\\\\"': (False, False, False),
    '{"a":"\\': (False, False, True),
    '{"a":"{[': (False, False, True),
    "{}": (True, False, False),
    " {} ": (True, False, False),
    "[]": (True, False, False),
    '{"a":[1,{"b":"]}"}]}': (True, False, False),
    '{"a":1}{"b":': (True, False, False),
    '{"a":1} "x': (True, False, False),
    '"x"': (True, False, False),
    '"x': (False, False, True),
    "12": (False, False, False),
    "null": (False, False, False),
    ",": (False, False, False),
    "}": (False, False, False),
    "]{}": (True, False, False),
    "{]": (True, False, False),
}
_JSON_LIKE = st.text(alphabet='{}[]",:\\ \n1aé😀', max_size=40)


def scanned(*pieces: str) -> Scan:
    """Return a scan that was fed the pieces."""
    scan = Scan()
    for piece in pieces:
        scan.feed(piece)
    return scan


def state(scan: Scan) -> tuple[bool, bool, bool]:
    """Return a scan's answers."""
    return scan.complete, scan.value_may_start, scan.inside_string


def naive(text: str) -> tuple[bool, bool, bool]:
    """Read the text one character after the other, from its beginning."""
    stack: list[str] = []
    inside = escaped = False
    last = ""
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside, last = False, '"'
                if not stack:
                    return True, False, False
            continue
        if character.isspace():
            continue
        inside = character == '"'
        last = character
        if character in "{[":
            stack.append(character)
        elif character in "}]" and stack:
            stack.pop()
            if not stack:
                return True, False, False
    in_array = last == "," and bool(stack) and stack[-1] == "["
    return False, not inside and (last in {"", ":", "["} or in_array), inside


class Watched(Scan):
    """A scan that records which stretch of the piece each step scans."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple[int, int]] = []

    def _in_string(self, text: str, position: int) -> int:
        end = super()._in_string(text, position)
        self.steps.append((position, end))
        return end

    def _outside(self, text: str, position: int) -> int:
        end = super()._outside(text, position)
        self.steps.append((position, end))
        return end


@together("text", STATES)
def test_states(text: str) -> None:
    """A scan knows whether the text is one whole value, whether a value may start, and open strings."""
    assert STATES[text] == state(scanned(text))


@together("text", STATES)
def test_states_for_every_character(text: str) -> None:
    """One character at a time gives the same answers as the whole text."""
    assert STATES[text] == state(scanned(*text))


@together("text", STATES)
def test_states_of_the_naive_reader(text: str) -> None:
    """The reader that the scan is compared with agrees with the table."""
    assert STATES[text] == naive(text)


@given(st.lists(_JSON_LIKE, max_size=8))
def test_every_partition_is_one_text(pieces: list[str]) -> None:
    """Whatever the pieces are, empty ones included, the scan answers as for the whole text."""
    text = "".join(pieces)

    assert state(scanned(text)) == state(scanned(*pieces))
    assert naive(text) == state(scanned(*pieces))


@given(_JSON_LIKE, _JSON_LIKE)
def test_complete_never_flips_back(text: str, more: str) -> None:
    """Text after a complete value changes no answer."""
    before = scanned(text)
    if before.complete:
        assert (True, False, False) == state(scanned(text, more))


@given(st.lists(_JSON_LIKE, max_size=8))
def test_what_follows_a_whole_value(pieces: list[str]) -> None:
    """A text is overfull as soon as more than white space follows its one value, for every partition."""
    text = "".join(pieces)
    ends = (place for place in range(len(text) + 1) if naive(text[:place])[0])
    end = next(ends, len(text))

    assert bool(text[end:].strip()) == scanned(*pieces).overfull
    assert bool(text[end:].strip()) == scanned(text).overfull


@given(st.lists(_JSON_LIKE, max_size=6))
def test_each_character_is_looked_at_once(pieces: list[str]) -> None:
    """Each step begins where the previous one ended, and a piece is left only at its end or when complete."""
    scan = Watched()
    for piece in pieces:
        scan.steps.clear()
        scan.feed(piece)
        begins = [begin for begin, _ in scan.steps]
        ends = [end for _, end in scan.steps]

        assert begins == [0, *ends][: len(begins)]
        assert all(begin < end for begin, end in scan.steps)
        assert scan.complete or len(piece) == (ends or [0])[-1]


def test_a_string_is_one_step() -> None:
    """A long string with escapes is one step, not one per character."""
    scan = Watched()
    scan.feed('"' + 'ab\\"c' * 1000)

    assert [(0, 1), (1, 5001)] == scan.steps


def test_nothing_is_read_after_the_end() -> None:
    """A complete scan reads no more."""
    scan = Watched()
    scan.feed("{}")
    scan.steps.clear()
    scan.feed('{"a":1}')

    assert [] == scan.steps


@together(
    ("parts", "begins"),
    [
        (["{"], True),
        ([" ", '\n{"a"'], True),
        ([" " * 1024, " ", "", "x{"], False),
        (["[1]"], False),
        ([], False),
        ([" "], False),
        (['"{'], False),
        (["}", "{"], False),
    ],
)
def test_what_begins_an_object(parts: list[str], begins: bool) -> None:
    """Only a brace begins an object, white space aside, of which no text has a thousand characters."""
    assert begins == begins_object(parts)


@together(
    ("text", "expected"),
    [
        ("{}", True),
        (' \n{"a": [1, {"b": null}]} \t', True),
        ('{"a":"é😀"}', True),
        ('{"a":"\\ud83d"}', False),
        ('{"a":"\ud83d"}', False),
        ("", False),
        (" ", False),
        ("[]", False),
        ("[{}]", False),
        ('"{}"', False),
        ("1", False),
        ("null", False),
        ("{", False),
        ('{"a":1', False),
        ('{"a":1,}', False),
        ('{"a":é}', False),
        ("{}{}", False),
        ("{} x", False),
        ('{"a":' * 100_000, False),
    ],
)
def test_whole_objects(text: str, expected: bool) -> None:
    """A text is an object if it is JSON, and the value is an object."""
    assert expected is is_object(text)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([" " * 1023 + "{"], True),
        ([" " * 1024 + "{"], False),
        ([" " * 1024, "{"], True),
        ([" " * 1024, " ", "{"], True),
        ([" " * 1025, " ", "{"], False),
        ([" " * 1024, " ", " ", "{"], False),
        ([" "] * 1026 + ["{"], False),
    ],
)
def test_a_brace_behind_many_blanks(parts: list[str], expected: bool) -> None:
    """Behind about a thousand blanks no more is looked for."""
    assert expected is begins_object(parts)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["{}"], False),
        (["{}", " "], False),
        (["{} "], False),
        (["{} x"], True),
        (["{}", "x"], True),
        (["{}", "x", " "], True),
        (["{}", " ", "{"], True),
    ],
)
def test_text_behind_a_value(pieces: list[str], expected: bool) -> None:
    """More than white space behind a value is seen, and not forgotten."""
    assert expected is scanned(*pieces).overfull


def test_an_escaped_character_in_the_next_piece() -> None:
    """Behind a backslash at the end of a piece one character is escaped, and no more."""
    assert scanned('{"a":"\\', '""}').complete
    assert not scanned('{"a":"\\', '"}').complete
    assert scanned('{"a":"\\', '\\"}').complete
