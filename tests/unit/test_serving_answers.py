from __future__ import annotations

from pathlib import Path
from threading import BoundedSemaphore

import pytest

from tests.support.together import together
from wholecall import BadRecording
from wholecall.recordings import Recorder, Recording
from wholecall.serving import Answer, Answers, IncomingRequest, RecordedAnswers, answer_of

ONE, TWO = Answer([b"1"]), Answer([b"2"])
ASKED = IncomingRequest("POST", "/v1/chat?key=secret", {}, b'{"model": "m"}')
FRAMES = [b'data: {"a": 1}\n\n', b": ping\n\n", b"data: [DONE]\n\n"]


def bodies(answers: Answers, n: int) -> list[bytes]:
    """Ask n times and return the bodies; those of errors are empty."""
    found = [answers.answer(ASKED) for _ in range(n)]
    return [b"".join(answer.pieces) if answer.status == 200 else b"" for answer in found]


def recording(*chunks: bytes, times: list[float] | None = None, **known: object) -> Recording:
    """Return a recording of some chunks."""
    return Recording(
        name="r", chunks=iter(list(zip(times or [None] * len(chunks), chunks, strict=True))), **known
    )


@pytest.mark.parametrize(
    ("repeat", "expected"),
    [(1, [b"1", b"2", b"", b""]), (2, [b"1", b"2", b"1", b"2"]), (True, [b"1", b"2", b"1", b"2"])],
)
def test_answers_come_in_order(repeat: int, expected: list[bytes]) -> None:
    """Answers are handed out in order, as often as they repeat, and then no more."""
    answers = Answers()
    answers.prepare([ONE, TWO], repeat=repeat)

    assert expected == bodies(answers, 4)


def test_what_is_prepared_later_comes_later() -> None:
    """Answers wait after those that were prepared before."""
    answers = Answers()
    answers.prepare([ONE])
    answers.prepare([])
    answers.prepare([TWO], repeat=True)

    assert [b"1", b"2", b"2", b"2"] == bodies(answers, 4)


def test_nothing_waits_behind_an_endless_answer() -> None:
    """An answer that could never be handed out is refused."""
    answers = Answers()
    answers.prepare([ONE], repeat=True)

    with pytest.raises(ValueError, match="repeat without end"):
        answers.prepare([TWO])


@pytest.mark.parametrize("repeat", [0, -1, False])
def test_a_repeat_is_at_least_one(repeat: int) -> None:
    """Answers that are never handed out are a mistake."""
    with pytest.raises(ValueError, match="from 1"):
        Answers().prepare([ONE], repeat=repeat)


def test_what_is_asked_beyond_is_an_error_and_is_kept() -> None:
    """A request without an answer gets status 500, a message, and advice to clients not to try again."""
    answers = Answers()
    answers.prepare([ONE])
    bodies(answers, 1)
    answer = answers.answer(ASKED)

    assert [ASKED] == answers.unanswered
    assert [ASKED, ASKED] == answers.requests
    assert (500, "application/json") == (answer.status, answer.content_type)
    assert (("x-should-retry", "false"),) == answer.headers
    assert b"no answer is left for POST /v1/chat, 1 were prepared" in answer.pieces[0]


def test_nothing_shows_what_was_said() -> None:
    """Reprs show neither bodies nor queries, which may hold a key."""
    shown = f"{ASKED!r} {ONE!r}"

    assert (
        "IncomingRequest('POST /v1/chat', body=<14>) Answer(200, 'text/event-stream', 1 pieces, 1 bytes)"
        == shown
    )


def test_a_request_decodes_its_body() -> None:
    """The request can be inspected."""
    assert {"model": "m"} == ASKED.json()


def test_a_gate_is_a_semaphore() -> None:
    """A value that is not a gate is refused where it is given."""
    assert Answer([], gate=BoundedSemaphore()).gate is not None
    with pytest.raises(TypeError, match="Semaphore"):
        Answer([], gate=3)


def test_pieces_are_due_as_recorded() -> None:
    """The wait before a piece is the time left until it is due; a late or timeless piece waits for nothing."""
    clock = iter([100.0, 100.0, 100.5, 103.0])
    answer = Answer([b"a", b"b", b"", b"c", b"d"], times=[0.25, 1.5, 9.0, 2.0, None])

    assert [(0.25, b"a"), (1.0, b"b"), (0.0, b"c"), (0.0, b"d")] == list(answer.paced(lambda: next(clock)))


def test_without_times_no_clock_is_read() -> None:
    """An answer that sends all at once never asks for the time."""
    assert [(0.0, b"a"), (0.0, b"b")] == list(Answer([b"a", b"b"]).paced(lambda: 1 // 0))


@together(
    ("body", "content_type", "pieces"),
    [
        (b"".join(FRAMES), "text/event-stream", FRAMES),
        (b"data: 1\r\n\r\ndata: 2\r\n\r\n", "text/event-stream", [b"data: 1\r\n\r\n", b"data: 2\r\n\r\n"]),
        (b"data: 1\r\rdata: 2", "text/event-stream", [b"data: 1\r\r", b"data: 2"]),
        (b'{"a":1}\n{"b":2}\n', "application/x-ndjson", [b'{"a":1}\n', b'{"b":2}\n']),
        (b'{"a": [1,\n 2]}', "application/json", [b'{"a": [1,\n', b" 2]}"]),
        (b'[{"a":1}\n,{"b":2}]', "application/json", [b'[{"a":1}\n', b',{"b":2}]']),
        (b'0:"a"\n0:"b"\n', "text/plain; charset=utf-8", [b'0:"a"\n', b'0:"b"\n']),
        (b"", "text/event-stream", []),
    ],
    ids=["sse", "crlf", "cr", "ndjson", "json", "array", "vercel", "empty"],
)
def test_an_unknown_cut_is_by_event(body: bytes, content_type: str, pieces: list[bytes]) -> None:
    """Where the chunks are unknown each event is one, and the bytes give the content type."""
    answer = answer_of(recording(body))

    assert (content_type, pieces) == (answer.content_type, answer.pieces)


def test_binary_events_are_cut_by_their_length(corpora_dir: Path) -> None:
    """Each message of an event stream is a piece; a last one that is cut is too."""
    body = (corpora_dir / "recordings/bedrock-converse/single-call.bin").read_bytes()
    answer = answer_of(recording(body[:-3]))
    lengths = [int.from_bytes(piece[:4], "big") for piece in answer.pieces]

    assert answer.content_type == "application/vnd.amazon.eventstream"
    assert len(lengths) > 3
    assert [*lengths[:-1], lengths[-1] - 3] == [len(piece) for piece in answer.pieces]


def test_lengths_that_cannot_be_are_not_believed(corpora_dir: Path) -> None:
    """Bytes after the messages of an event stream that are not a message are one piece."""
    body = (corpora_dir / "recordings/bedrock-converse/single-call.bin").read_bytes()
    first = body[: int.from_bytes(body[:4], "big")]

    assert [first, b"\0" * 32] == answer_of(recording(first + b"\0" * 32)).pieces


def test_recorded_chunks_stay() -> None:
    """Chunks with times came over the wire: they are kept, and their times if asked for."""
    chunks = [b"data: 1\n", b"\nda", b"ta: 2\n\n"]
    timed = answer_of(recording(*chunks, times=[0.1, 0.2, 0.3]), timing=True)

    assert (chunks, [0.1, 0.2, 0.3]) == (timed.pieces, timed.times)
    assert answer_of(recording(*chunks, times=[0.1, 0.2, 0.3])).times is None


def test_a_recording_knows_its_status_and_type() -> None:
    """The recording's statements outrank the look of the bytes."""
    answer = answer_of(recording(b'{"error": {}}', status=429, content_type="application/problem+json"))

    assert (429, "application/problem+json") == (answer.status, answer.content_type)


def test_a_cut_closes_the_connection() -> None:
    """An answer with a cut has so many pieces and no clean end; the recording keeps all."""
    whole = recording(*FRAMES, times=[0.0, 1.0, 2.0])
    answer = answer_of(whole, cut=2, timing=True)

    assert (FRAMES[:2], "cut", [0.0, 1.0]) == (answer.pieces, answer.ending, answer.times)
    assert FRAMES == [data for _, data in whole.chunks]


def test_a_seed_draws_the_cuts() -> None:
    """A seed cuts the same bytes always in the same way, another one in another; times are lost."""
    body = b"".join(FRAMES) * 50
    one, again, other = (
        answer_of(recording(body, times=[1.0]), seed=seed, timing=True) for seed in ("1", "1", "2")
    )

    assert (one.pieces, None) == (again.pieces, again.times)
    assert body == b"".join(one.pieces) == b"".join(other.pieces)
    assert 1 < len(one.pieces)
    assert one.pieces != other.pieces


def test_files_are_found_from_the_folder(tmp_path: Path) -> None:
    """Paths and globs are relative to the folder, whose own name may look like a glob."""
    folder = tmp_path / "a[1]"
    folder.mkdir()
    for name in ("b.sse", "a.sse", "a.sse.golden.jsonl", "notes.txt"):
        (folder / name).write_bytes(f"data: {name}\n\n".encode())
    answers = RecordedAnswers(folder)
    answers.serve("b.sse", "*")

    assert [b"data: b.sse\n\n", b"data: a.sse\n\n", b"data: b.sse\n\n", b""] == bodies(answers, 4)
    assert ["b.sse", "a.sse", "b.sse"] == [file.name for file in answers.files]


def test_a_file_may_hold_several(tmp_path: Path) -> None:
    """Each recording of a file is a separate answer, in its own chunks."""
    path = tmp_path / "two.jsonl"
    for status, chunks in ((200, [b"data: 1\n\n", b"data: 2\n\n"]), (429, [b"{}"])):
        with Recorder(path, append=True, status=status, clock=lambda: 0.0) as recorder:
            assert chunks == list(recorder.through(chunks))
    answers = RecordedAnswers()
    answers.serve(path)
    found = [answers.answer(ASKED) for _ in range(2)]

    assert [(200, 2), (429, 1)] == [(answer.status, len(answer.pieces)) for answer in found]
    assert [str(path), f"{path}#2"] == [one.name for one in answers.recordings]


def test_bytes_recordings_and_answers_are_served() -> None:
    """A source that is not a file is served as well; an answer is unchanged, whatever the seed."""
    answers = RecordedAnswers(seed="1")
    answers.serve(b"data: 1\n\n", recording(b"data: 2\n\n"), ONE)

    assert [b"data: 1\n\n", b"data: 2\n\n", b"1"] == bodies(answers, 3)
    assert ["bytes", "r"] == [one.name for one in answers.recordings]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("missing.sse", None, "No such file"),
        ("empty.har", b'{"log": {"entries": []}}', "no recording in it$"),
        (
            "other.json",
            b'{"interactions": [{"request": {}, "response": {}}]}',
            "no recording in it .skipped: 1 no_body",
        ),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, name: str, data: bytes | None, message: str) -> None:
    """A file that cannot be read, or holds no recording, is refused when it is served, by its name."""
    if data is not None:
        (tmp_path / name).write_bytes(data)

    with pytest.raises(BadRecording, match=f"{name}: .*{message}"):
        RecordedAnswers(tmp_path).serve(name)


def test_a_cut_is_at_least_nothing() -> None:
    """A negative cut is a mistake, not a slice."""
    with pytest.raises(ValueError, match="from 0"):
        RecordedAnswers().serve(b"data: 1\n\n", cut=-1)
