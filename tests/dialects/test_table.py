"""The table of dialects."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from tests.support import corpora, shown
from tests.support.detected import decided
from tests.support.together import together
from tests.support.told import Echo
from wholecall import WholecallError, detect
from wholecall.dialects import claims, table
from wholecall.dialects.claims import NARROWER
from wholecall.dialects.detect import ENTRIES
from wholecall.dialects.table import DIALECTS, Dialect, detect_dialect, named, register
from wholecall.errors import UnknownDialect
from wholecall.framing.frame import Frame

NAMES = [dialect.name for dialect in DIALECTS]


def test_the_order_of_the_table_is_the_order_of_detection() -> None:
    """A dialect that also takes frames of another is asked after it; chat, which most servers speak, among the first."""
    assert [*ENTRIES] == NAMES
    assert [] == [pair for pair in NARROWER if NAMES.index(pair[0]) > NAMES.index(pair[1])]
    assert NAMES.index("chat-completions") < 4


def test_few_dialects_recognise_frames_of_each_other() -> None:
    """Therefore the order of the others is independent of a stream's content, and may follow their frequency."""
    found = {
        pair
        for case in corpora.cases()
        for names in decided(corpora.recorded(case))
        for pair in combinations(names, 2)
    }

    assert NARROWER == found


def test_a_registered_detection_that_raises_breaks_no_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named in one warning, and the other dialects are found as ever."""

    def detect(payload: Mapping[str, Any], _event: str) -> bool:
        return bool(payload["a member that others do not have"])

    monkeypatch.setattr(table, "_registered", {"tram": Dialect("tram", ("sse",), detect, Echo)})
    monkeypatch.setattr(table, "_broken", set())
    with pytest.warns(RuntimeWarning, match="dialect 'tram' raised KeyError") as warned:
        found = [detect_dialect({"choices": [{"index": 0, "delta": {}}]}) for _ in range(3)]

    assert (["chat-completions"] * 3, 1) == ([dialect and dialect.name for dialect in found], len(warned))


def test_a_dialect_says_by_which_members_it_is_known() -> None:
    """Where one claims a frame, others that are known by its members are asked as well."""
    assert set(NAMES) == set(claims.KNOWN)


def test_every_claim_rests_on_a_member_that_is_named_or_on_the_event() -> None:
    """A claim by a member that the table lacks could not be contested."""
    assert [] == [
        name for name, payload in shown.decisive().items() if not claims.KNOWN[name].own & payload.keys()
    ]


@together("name", NAMES)
def test_a_dialect_is_found_by_its_name(name: str) -> None:
    """`named` returns the record itself."""
    assert name == named(name).name


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("", "use"),
        ("sunflower", "use"),
        ("chatt", "did you mean 'chat-completions'? Use"),
        ("opnai", "did you mean 'chat-completions'? Use"),
        ("Clade", "did you mean 'anthropic'? Use"),
        ("bedrock_convers", "did you mean 'bedrock-converse'? Use"),
        ("antropic", "did you mean 'anthropic'? Use"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(name: str, hint: str) -> None:
    """A wrong name is a caller's mistake: the message gives its likely meaning, and all names in order."""
    with pytest.raises(UnknownDialect) as caught:
        named(name)

    known = ", ".join(sorted(["auto", *NAMES]))
    assert f"there is no dialect {name!r}; {hint} one of: {known}" == str(caught.value)
    assert isinstance(caught.value, WholecallError)
    assert isinstance(caught.value, ValueError)


@together("name", NAMES)
def test_each_stream_has_its_own_translator(name: str) -> None:
    """A translator holds the state of one stream, and says nothing of nothing."""
    dialect = named(name)
    first, second = dialect.start(), dialect.start()

    assert first is not second
    assert ([], []) == (first.translate(Frame("message", "{}")), first.close())


def test_the_first_dialect_that_knows_the_frame_has_it() -> None:
    """Choices with a text field are legacy even though chat completions would take them."""
    payload = {"choices": [{"text": "x"}]}
    willing = [dialect.name for dialect in DIALECTS if dialect.detect(payload, "")]

    assert ["legacy-completions", "chat-completions"] == willing
    assert named("legacy-completions") is detect_dialect(payload)


def test_a_frame_that_is_not_decisive_has_no_dialect() -> None:
    """Detection waits instead of guessing."""
    assert detect_dialect({}) is None


def tram(name: str = "tram") -> Dialect:
    """Return a dialect of a third party."""
    return Dialect(name, ("jsonl",), lambda payload, event: "tram" in payload or event == "tram", Echo)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """No dialects of others, whatever was registered elsewhere."""
    monkeypatch.setattr(table, "_registered", {})


@pytest.mark.usefixtures("registry")
def test_a_registered_dialect_is_asked_first() -> None:
    """Who registers a dialect knows the stream better than we do; the latest one is asked before all."""
    payload = {"tram": 1, "choices": [{"delta": {}}]}
    register(tram())
    register(tram("tram-2"))

    assert tram("tram-2").name == getattr(detect_dialect(payload), "name", None)
    assert "chat-completions" == getattr(detect_dialect({"choices": [{"delta": {}}]}), "name", None)
    assert "tram" == named("tram").name
    with pytest.raises(UnknownDialect, match="snowflake-cortex, strands, tram, tram-2, vercel-data"):
        named("bus")


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("name", ["chat-completions", "tram"])
def test_a_name_is_given_once(name: str) -> None:
    """Two dialects of one name could not be told apart."""
    register(tram())

    with pytest.raises(ValueError, match=f"there is a dialect '{name}' already; give yours another name"):
        register(tram(name))


@pytest.mark.usefixtures("registry")
def test_detection_sees_the_name_of_the_event() -> None:
    """Some dialects are known by the event's name alone."""
    register(tram())

    assert "tram" == detect(b"event: tram\ndata: {}\n\n")
    assert detect(b"event: bus\ndata: {}\n\n") is None


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'data: {"choices":[{"index":0,"delta":{}}]}\n\n', "chat-completions"),
        (b': hi\n\ndata: {"type":"ping"}\n\ndata: {"type":"message_start"}', "anthropic"),
        (b'{\n "object": "response",\n "output": []\n}', "responses"),
        (b'[{"choices":[{"text":"x"}]}', "legacy-completions"),
        (b'data: {"choices":[{"ind', None),
        (b'data: {"choices":[]}\n\n', None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_dialect(data: bytes, name: str | None) -> None:
    """`detect` reads the beginning of a stream or a whole response in any framing; None: nothing is decisive yet."""
    assert name == detect(data)


def test_text_has_no_dialect() -> None:
    """Bytes are asked for, as everywhere."""
    with pytest.raises(TypeError, match=r"encode text with \.encode\(\)"):
        detect("data: {}")  # type: ignore[arg-type]
