"""The table of dialects."""

from __future__ import annotations

import pytest

from wholecall import WholecallError
from wholecall.dialects.table import DIALECTS, detect_dialect, named
from wholecall.errors import UnknownDialect
from wholecall.framing.frame import Frame

NAMES = ["responses", "anthropic", "gemini", "legacy-completions", "chat-completions"]


def test_the_order_of_the_table_is_the_order_of_detection() -> None:
    """Chat completions accepts the most, so it is asked last; names are unique."""
    assert NAMES == [dialect.name for dialect in DIALECTS]


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_is_found_by_its_name(name: str) -> None:
    """`named` returns the record itself."""
    assert name == named(name).name


@pytest.mark.parametrize("name", ["", "auto", "CHAT-COMPLETIONS", "chat", "openai"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    """A wrong name is a caller's mistake, and the message helps."""
    with pytest.raises(UnknownDialect) as caught:
        named(name)

    assert f"there is no dialect {name!r}; use 'auto' or one of: {', '.join(NAMES)}" == str(caught.value)
    assert isinstance(caught.value, WholecallError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", NAMES)
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
