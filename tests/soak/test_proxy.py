"""The soak of the proxy, short: no faults are found, and faults would be reported."""

from __future__ import annotations

import pytest

from tests.soak import floods
from tests.soak.proxy import STREAMS, Planned, complaint, main, unchunked

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
TWO = next(at for at, stream in enumerate(STREAMS) if len(stream.expected) > 1)
NONE = next(
    at for at, stream in enumerate(STREAMS) if not stream.expected and stream.dialect == STREAMS[TWO].dialect
)


def answered(number: int) -> bytes:
    """Return a stream as it comes over the wire."""
    return (
        HEAD
        + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in STREAMS[number].pieces)
        + b"0\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("number", "upstream", "client", "answer", "expected"),
    [
        (TWO, "well", "reads", answered(TWO), None),
        (TWO, "well", "reads", answered(NONE), "a call was lost"),
        (TWO, "reset", "reads", answered(NONE), None),
        (TWO, "well", "leaves late", answered(TWO)[:200], None),
        (NONE, "reset", "leaves late", answered(TWO), "a call that nobody sent"),
        (TWO, "well", "slow", b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "no answer"),
        (TWO, "refused", "slow", b"HTTP/1.1 429 Too Many\r\n\r\n", None),
    ],
)
def test_what_is_wrong_is_told(
    number: int, upstream: str, client: str, answer: bytes, expected: str | None
) -> None:
    """A call may be missing only where the exchange was damaged, and no unsent call may appear."""
    assert expected == complaint(Planned(number, upstream, client, 0), answer)


def test_chunks_are_put_together() -> None:
    """A body in chunks is read as far as it came."""
    assert [b"", b"abc", b"abcd", b"abcde"] == [
        unchunked(HEAD + came)
        for came in (b"", b"3\r\nabc", b"3\r\nabc\r\n4\r\nd", b"3\r\nabc\r\n2\r\nde\r\n0\r\n")
    ]


@pytest.mark.slow
def test_a_short_run_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    """Some hundred exchanges with every fault: right calls or none, no open connection or file, no growth."""
    assert (0, True) == (
        main(["--minutes", "0.05", "--streams", "20"]),
        "all is well" in capsys.readouterr().out,
    )


@pytest.mark.slow
def test_healthy_requests_get_their_calls_beside_floods(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to answers that decode to megabytes of nothing a healthy answer comes, with its call, at any speed."""
    monkeypatch.setattr(floods, "_MOST", 600.0)

    assert (0, True) == (
        floods.main(["--seconds", "2", "--floods", "2"]),
        "nothing is wrong" in capsys.readouterr().out,
    )
