from __future__ import annotations

import base64
import importlib
import json
import re
import string
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest

from tests.support import corpora
from wholecall import BadRecording, ServerToolCall, ToolCall
from wholecall.cli import main
from wholecall.recordings import Recording, Request, read
from wholecall.recordings.model import Chunk
from wholecall.recordings.redacting.letters import Alphabets, Letters
from wholecall.recordings.redacting.rules import is_key_word, is_word
from wholecall.redacting import Redaction, redact
from wholecall.replay import replay

if TYPE_CHECKING:
    from pathlib import Path

ALPHABETS = Alphabets("seed")
LETTERS, NAMES = ALPHABETS.of("text"), ALPHABETS.of("name")
MIXED = 'Paris été 東京 Жук ß Ωmega 😀\U0001d504 "x" 2024-01 \t\\n'


def recorded(data: bytes, **known: Any) -> Recording:
    """Return a recording of one chunk."""
    chunks: list[Chunk] = [(None, data)]
    return Recording(name="made", chunks=iter(chunks), **known)


def redacted(data: bytes, **options: Any) -> bytes:
    """Return the bytes of a stream, redacted."""
    return b"".join(chunk for _, chunk in redact(recorded(data), Redaction("seed", **options)).chunks)


def chunk(**delta: Any) -> dict[str, Any]:
    """Return a chunk of a chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {
        "id": "chatcmpl-Marigold77",
        "object": "chat.completion.chunk",
        "model": "beam-2",
        "choices": [choice],
    }


def sse(*payloads: Any, ascii: bool = False) -> bytes:  # noqa: A002
    """Return payloads as a stream of server-sent events."""
    lines = [f"data: {json.dumps(one, ensure_ascii=ascii)}\n\n" for one in payloads]
    return "".join((*lines, "data: [DONE]\n\n")).encode("utf-8", "surrogatepass")


def call(*fragments: str, ascii: bool = False) -> bytes:  # noqa: A002
    """Return a stream with one call whose arguments come in these fragments."""
    first = {"index": 0, "id": "call_Zanzibar", "type": "function", "function": {"name": "book_ferry"}}
    said = [{"index": 0, "function": {"arguments": text}} for text in fragments]
    ended = chunk()
    ended["choices"][0]["finish_reason"] = "tool_calls"
    return sse(*(chunk(tool_calls=[one]) for one in (first, *said)), ended, ascii=ascii)


def arguments(data: bytes) -> ToolCall:
    """Return the one call of a stream."""
    (found,) = [event for event in replay(recorded(data)) if isinstance(event, ToolCall)]
    return found


class TestLetters:
    """The substitution of characters."""

    def test_every_letter_and_digit_is_another_one_of_its_kind(self) -> None:
        """At one place no letter of ASCII, no digit stays, and none is lost."""
        for kind in (string.ascii_letters, string.digits):
            others = [LETTERS.other(f"Paris {one}")[-1] for one in kind]
            assert sorted(kind) == sorted(others)
            assert not [one for one, other in zip(kind, others, strict=True) if one == other]

    def test_sizes_stay(self) -> None:
        """A character has as many bytes as before in UTF-8 and UTF-16."""
        others = LETTERS.plain(MIXED)

        assert [len(char.encode()) for char in MIXED] == [len(char.encode()) for char in others]
        assert [len(char.encode("utf-16")) for char in MIXED] == [
            len(char.encode("utf-16")) for char in others
        ]
        assert all(one != other for one, other in zip(MIXED, others, strict=True) if one.isalnum())

    @pytest.mark.parametrize("size", range(len(MIXED)))
    def test_a_beginning_is_the_beginning(self, size: int) -> None:
        """The substitute of a beginning is the beginning of the substitute, so that snapshots grow as before."""
        assert LETTERS.plain(MIXED)[:size] == LETTERS.plain(MIXED[:size])

    def test_what_differs_has_nothing_in_common_behind(self) -> None:
        """After the first place at which two texts differ the same letters have others."""
        one, other = LETTERS.plain("a" + MIXED * 9), LETTERS.plain("b" + MIXED * 9)
        same = [first == second for first, second in zip(one[1:], other[1:], strict=True) if first.isalnum()]

        assert sum(same) < len(same) / 5

    def test_halves_of_a_pair_add_up(self) -> None:
        """A character beyond the BMP that comes in two halves is the one that comes whole."""
        halves = LETTERS.plain("a\ud83d\ude00b")

        assert 4 == len(halves)
        assert LETTERS.plain("a\U0001f600b") == halves.encode("utf-16", "surrogatepass").decode("utf-16")

    def test_different_characters_stay_different(self) -> None:
        """No two characters of the BMP have one substitute."""
        every = [chr(code) for code in range(0x10000)]

        assert len(every) == len({LETTERS.plain(f"-{char}") for char in every})

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ('{"a": true, "b": [null, 1.5e-7, -20]}', '{"#": true, "#": [null, 1.5e-7, -20]}'),
            ("{'a': True, 'b': None}", "{'#': True, '#': None}"),
            ('{"true": "null 12"}', '{"####": "#### ##"}'),
            (r'{"a\n\"b": "\d\u00e9"}', r'{"#\n\"#": "\d\u####"}'),
            ('{"a": tru', '{"#": tru'),
            ('{"a": "tru', '{"#": "###'),
            (r'"{\"a\": true, \"b\": \"true\"}"', r'"{\"#\": true, \"#\": \"####\"}"'),
            ('{"a": 1}<|im_end|>', '{"#": 1}<|im_end|>'),
            ("null", "null"),
        ],
    )
    def test_argument_text_stays_json(self, text: str, kept: str) -> None:
        """Outside strings numbers, literals and special tokens stay, inside them escapes; all else goes."""
        found = LETTERS.arguments(text)
        shown = re.escape(kept).replace(r"\#", "[A-Za-z0-9]")

        assert re.fullmatch(shown, found), found
        assert "#" not in kept or text != found

    def test_seeds_give_other_letters(self) -> None:
        """A seed decides the substitution, and nothing else does."""
        assert Letters("a").plain(MIXED) == Letters("a").plain(MIXED) != Letters("b").plain(MIXED)


class TestStreams:
    """The result for streams."""

    def test_secrets_are_gone(self) -> None:
        """No word of texts, ids, arguments, comments, errors and unknown members is in the result."""
        words = [
            "Marigold",
            "Zanzibar",
            "Harrison",
            "Philately",
            "Bletchley",
            "Ottoline",
            "Quagmire",
            "Kingfisher",
        ]
        data = (
            b": Kingfisher\nid: Quagmire\nretry: 7\n"
            + sse(
                chunk(content="Dear Harrison"),
                {**chunk(reasoning_content="Philately"), "user": "Bletchley", "x": {"y": ["Quagmire 9"]}},
            )[:-14]
            + call('{"Ottoline": "Bletch', 'ley", "n": [true, "Philately"]}')[:-14]
            + b'data: {"error": {"message": "Ottoline", "code": "server_error"}}\n\nKingfisher\n\n'
        )
        found = redacted(data)

        assert all(word.encode() in data for word in words)
        assert not [word for word in words if word.lower().encode() in found.lower()]
        assert len(data) == len(found)
        assert b"server_error" in found
        assert b'"name": "book_ferry"' in found

    def test_literals_may_come_in_pieces(self) -> None:
        """A literal that is split over frames stays, the same letters in a string do not."""
        found = arguments(redacted(call('{"a": t', "ru", 'e, "b": "t', "ru", 'e"}')))
        first, second = found.arguments.values()

        assert ("exact", True) == (found.status, first)
        assert len(second) == 4
        assert second != "true"

    @pytest.mark.parametrize("n", [1, 3, 600])
    def test_pieces_of_one_frame_are_one_text(self, n: int) -> None:
        """A model's text in many blocks of one body is substituted as one text, each block in its place."""
        blocks = [{"type": "text", "text": f"word {at} "} for at in range(n)]
        body = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": blocks}
        data = json.dumps({**body, "stop_reason": "end_turn", "usage": {"input_tokens": 1}}).encode()
        found = json.loads(redacted(data))["content"]

        assert LETTERS.other("".join(block["text"] for block in blocks)) == "".join(
            block["text"] for block in found
        )

    @pytest.mark.parametrize("number", ["4111111111111111", "-123456789012", "100000000000000000"])
    def test_long_numbers_go(self, number: str) -> None:
        """An integer that may be an account or a card has other digits, as many, wherever it is; counts stay."""
        member = {**chunk(content="x"), "account": int(number), "usage": {"prompt_tokens": int(number)}}
        data = sse(member)[:-14] + call(f'{{"card": {number}, "n": [{number}]}}')
        found = redacted(data)
        values = arguments(found).arguments.values()
        event = json.loads(found.split(b"data: ")[1])
        (first, (second,)) = values

        assert [len(number)] * 3 == [len(str(one)) for one in (first, second, event["account"])]
        assert int(number) not in (first, event["account"])
        assert (first, int(number)) == (second, event["usage"]["prompt_tokens"])

    @pytest.mark.parametrize("number", ["1760000000", "18446744073709551615", "1234567890123.5", "0"])
    def test_other_numbers_stay(self, number: str) -> None:
        """Times, counts, floats, and numbers as long as a limit of integers."""
        found = arguments(redacted(call(f'{{"a": {number}}}')))

        assert json.loads(number) == found.arguments.popitem()[1]

    def test_spellings_stay(self) -> None:
        """An escape on the wire is an escape again, with as many digits."""
        text = '{"a": "été 😀"}'
        short, long = redacted(call(text)), redacted(call(text, ascii=True))

        assert arguments(short).arguments == arguments(long).arguments
        assert len(call(text, ascii=True)) == len(long)
        assert long.isascii()

    def test_a_pair_may_come_in_halves(self) -> None:
        """Half a surrogate pair at the end of a fragment still meets the other half."""
        found = arguments(redacted(call('{"a": "\ud83d', '\ude00"}', ascii=True)))

        assert "exact" == found.status
        assert 1 == len(found.arguments.popitem()[1])

    def test_ids_keep_what_they_are(self) -> None:
        """The prefix of an id stays; a placeholder for no id does, too."""
        found = redacted(call("{}").replace(b"call_Zanzibar", b"None"))

        assert b'"id": "None"' in found
        assert re.search(rb'"id": "call_(?!Zanzibar)[A-Za-z]{8}"', redacted(call("{}")))

    def test_names_on_demand(self) -> None:
        """Names of tools are kept, or replaced with the other letters."""
        assert "book_ferry" == arguments(redacted(call("{}"))).name
        assert NAMES.plain("book_ferry") == arguments(redacted(call("{}"), names=True)).name

    def test_text_on_demand(self) -> None:
        """The model's text can be kept; arguments and ids never are."""
        data = sse(chunk(content="Harrison"))[:-14] + call('{"a": "Harrison"}')
        found = redacted(data, keep_text=True)

        assert b'"content": "Harrison"' in found
        assert 1 == found.count(b"Harrison")
        assert b"Zanzibar" not in found

    def test_arguments_that_belong_to_no_call_are_no_text(self) -> None:
        """Argument text that could not be placed goes, also where text is kept."""
        late = {
            "type": "response.function_call_arguments.delta",
            "item_id": "fc_9",
            "delta": '{"a": "Harrison"}',
        }
        data = (corpora.CORPORA / "recordings/responses/namespace.sse").read_bytes()
        found = redacted(data + sse(late)[:-14], keep_text=True)

        assert b"Harrison" not in found
        assert b'"delta": "{\\"' in found

    def test_base64_is_written_anew(self) -> None:
        """JSON inside base64 is redacted, and the checksums of the messages are right."""
        data = (corpora.CORPORA / "recordings/bedrock-invoke-anthropic/single-call.bin").read_bytes()
        found = redacted(data)

        assert sizes(data) == sizes(found)
        assert all(checksums(found))
        assert texts(data) != texts(found)
        assert [text.keys() for text in texts(data)] == [text.keys() for text in texts(found)]

    def test_wrong_checksums_stay_wrong(self) -> None:
        """A message that was damaged is damaged still."""
        data = (corpora.CORPORA / "recordings/bedrock-converse/wrong-checksum.bin").read_bytes()

        assert False in checksums(data)
        assert checksums(data) == checksums(redacted(data))

    def test_messages_that_cannot_be_found_are_refused(self) -> None:
        """A binary stream with broken lengths is refused by name, not published."""
        data = (corpora.CORPORA / "recordings/bedrock-converse/single-call.bin").read_bytes()
        with pytest.raises(BadRecording, match=r"^made: it cannot be redacted, the lengths") as caught:
            redacted(data + b"Harrison and some more bytes")

        assert "Harrison" not in str(caught.value)

    def test_impossible_lengths_are_refused(self) -> None:
        """A head whose checksum is right may announce more headers than there are bytes."""
        lengths = (16).to_bytes(4, "big") + (9).to_bytes(4, "big")
        head = lengths + crc32(lengths).to_bytes(4, "big")
        with pytest.raises(BadRecording, match=r"the lengths of the message at byte 0 are impossible$"):
            redacted(head + bytes(40))

    @pytest.mark.parametrize("size", [3, 12, 40, 150])
    def test_a_cut_message_is_no_trouble(self, size: int) -> None:
        """A binary stream that ends inside a message is redacted as far as it goes."""
        data = (corpora.CORPORA / "recordings/bedrock-converse/single-call.bin").read_bytes()
        found = redacted(data + data[:size])

        assert len(data) + size == len(found)
        assert redacted(data) == found[: len(data)]

    def test_errors_in_headers_are_redacted(self) -> None:
        """A header's description of an error goes, other headers stay."""
        headers = {":message-type": b"error", ":error-code": b"Throttled", ":error-message": b"Harrison"}
        block = b"".join(
            bytes([len(name)]) + name.encode() + b"\x07" + len(value).to_bytes(2, "big") + value
            for name, value in headers.items()
        )
        block += b"\x01n\x00"  # a header that is not text ends the search
        lengths = (16 + len(block)).to_bytes(4, "big") + len(block).to_bytes(4, "big")
        message = lengths + crc32(lengths).to_bytes(4, "big") + block
        found = redacted(message + crc32(message).to_bytes(4, "big"))

        assert all(checksums(found))
        assert b"Throttled" in found
        assert LETTERS.plain("Harrison").encode() in found

    @pytest.mark.parametrize(
        "file",
        [
            "chat-completions/arguments-snapshots-before-value.sse",
            "chat-completions/framing-multi-line.sse",
            "gemini/streamed-arguments.sse",
            "openai-assistants/code-that-openai-runs.sse",
            "responses/namespace.sse",
            "vercel-data/parallel-calls.ndjson",
            "vercel-ui/old-version-text-tool.sse",
            "vercel-ui/whole-message.json",
        ],
    )
    def test_names_are_replaced_in_every_dialect(self, file: str) -> None:
        """Wherever a dialect puts a name, calls have the other one."""
        data = (corpora.CORPORA / "recordings" / file).read_bytes()
        before, after = (
            [event.name for event in replay(recorded(one)) if isinstance(event, ToolCall)]
            for one in (data, redacted(data, names=True))
        )

        assert [NAMES.plain(name) for name in before] == after

    @pytest.mark.parametrize("coded", ["bm8gSlNPTg==", "e31=", "!!"])
    def test_other_base64_is_text(self, coded: str) -> None:
        """Base64 content that is not JSON, or would be written otherwise, is replaced letter by letter."""
        data = sse({**chunk(content="x"), "bytes": coded})

        assert LETTERS.plain(coded).encode() in redacted(data)

    def test_a_byte_order_mark_is_no_trouble(self) -> None:
        """The mark before the first field hides no field."""
        assert redacted(call("{}")) == redacted(b"\xef\xbb\xbf" + call("{}"))[3:]

    def test_bytes_that_are_no_text_stay(self) -> None:
        """Bytes that are not UTF-8 are where they were."""
        data = call("{}")[:-14] + b'data: {"x": "Harri\xffson"}\n\n'

        other = LETTERS.plain("Harri\udcffson")

        assert (other[:5].encode() + b"\xff" + other[6:].encode()) in redacted(data)

    def test_what_would_behave_otherwise_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The result is compared with the original, whatever the substitution did."""
        monkeypatch.setattr(Letters, "arguments", lambda _self, text: text.replace("}", "x"))
        with pytest.raises(
            BadRecording,
            match=r"^made: it cannot be redacted, its events would be others: .* 'arguments' means",
        ):
            redacted(call('{"a": 1}'))

    @pytest.mark.parametrize("member", ["finish_reason", "tool_calls"])
    def test_a_refusal_names_the_member(self, member: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A word of the wire that redaction takes for a text, or a name for a caller's key, is named."""
        module = importlib.import_module("wholecall.recordings.redacting.rules")
        monkeypatch.setattr(module, "is_word", lambda key, text: key != member and is_word(key, text))
        monkeypatch.setattr(module, "is_key_word", lambda text: text != member and is_key_word(text))
        expected = f"its events would be others: redaction does not know what {member!r} means there"
        with pytest.raises(BadRecording) as caught:
            redacted(call('{"a": 1}'))

        assert f"made: it cannot be redacted, {expected}" == str(caught.value)

    def test_a_refusal_names_nothing_of_arguments(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Names in arguments are the model's, and stay out of the message."""
        monkeypatch.setattr(Letters, "arguments", lambda _self, text: text.replace("}", "x"))
        with pytest.raises(BadRecording) as caught:
            redacted(call('{"secret_key": {"secret": 1}}'))

        assert "secret" not in str(caught.value)


def messages(data: bytes) -> list[bytes]:
    """Return the messages of a binary event stream."""
    found, start = [], 0
    while start < len(data):
        end = start + int.from_bytes(data[start : start + 4], "big")
        found.append(data[start:end])
        start = end
    return found


def sizes(data: bytes) -> list[int]:
    """Return the sizes of the messages."""
    return [len(message) for message in messages(data)]


def checksums(data: bytes) -> list[bool]:
    """Return which messages have the right checksum."""
    return [crc32(message[:-4]) == int.from_bytes(message[-4:], "big") for message in messages(data)]


def texts(data: bytes) -> list[dict[str, Any]]:
    """Return the content of the messages' base64."""
    return [json.loads(base64.b64decode(coded)) for coded in re.findall(rb'"bytes":"([^"]*)"', data)]


class TestRecordings:
    """The facts about a recording."""

    def test_requests_lose_their_keys(self) -> None:
        """The user, the query and the fragment of a URL go; other notes have other letters, times stay."""
        request = Request("POST", "https://me:secret@api.example:8443/v1/chat?key=Harrison#top")
        meta = {"started": "2025-01-02T03:04:05.678Z", "by": ["Harrison"], "n": 3}
        found = redact(recorded(call("{}"), request=request, meta=meta), Redaction("seed"))

        assert found.request is not None
        assert "https://api.example:8443/v1/chat" == found.request.url
        assert {
            "started": meta["started"],
            "by": [ALPHABETS.of("meta").plain("Harrison")],
            "n": 3,
        } == found.meta

    def test_a_url_that_is_none_is_left_out(self) -> None:
        """An unreadable URL might hold anything."""
        found = redact(recorded(call("{}"), request=Request("GET", "http://[Harrison")), Redaction("seed"))

        assert Request("GET", None) == found.request

    def test_chunks_and_times_stay(self) -> None:
        """The bytes come in the chunks that they came in, cut anywhere."""
        data = call('{"a": "été"}')
        chunks: list[Chunk] = [(at / 10, data[at : at + 1]) for at in range(len(data))]
        found = list(redact(Recording(name="made", chunks=iter(chunks)), Redaction("seed")).chunks)

        assert [(at, 1) for at, _ in chunks] == [(at, len(piece)) for at, piece in found]
        assert redacted(data) == b"".join(piece for _, piece in found)


class TestCommand:
    """`wholecall redact`."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Make a folder with a recording the current one."""
        monkeypatch.chdir(tmp_path)
        (tmp_path / "a.sse").write_bytes(call('{"a": "Harrison"}'))
        return tmp_path

    def test_a_recording_is_written(self) -> None:
        """The result is a recording in our format, with the letters of the seed."""
        assert 0 == main(["redact", "a.sse", "-o", "out.jsonl", "--seed", "seed"])
        (found,) = read("out.jsonl")
        assert "wholecall" == found.form
        assert redacted(call('{"a": "Harrison"}')) == b"".join(piece for _, piece in found.chunks)

    def test_bare_bytes_are_written(self, folder: Path) -> None:
        """The bytes of one recording are written bare."""
        options = ["--to", "raw", "--seed", "seed", "--names", "--keep-text"]
        assert 0 == main(["redact", "a.sse", "-o", "out.sse", *options])
        expected = redacted(call('{"a": "Harrison"}'), names=True, keep_text=True)
        assert expected == (folder / "out.sse").read_bytes()

    def test_each_run_has_other_letters(self, folder: Path) -> None:
        """Without a seed the substitution cannot be known."""
        for name in ("b", "c"):
            assert 0 == main(["redact", "a.sse", "-o", name])
        assert (folder / "b").read_bytes() != (folder / "c").read_bytes()

    def test_one_of_many(self, folder: Path) -> None:
        """`--only` chooses a recording by its place."""
        (folder / "b.sse").write_bytes(b"data: {}\n\n")
        assert 0 == main(["redact", "a.sse", "b.sse", "--to", "raw", "--only", "2", "-o", "out"])
        assert b"data: {}\n\n" == (folder / "out").read_bytes()

    def test_what_cannot_be_redacted_is_named(
        self, capsysbinary: pytest.CaptureFixture[bytes], folder: Path
    ) -> None:
        """The others are written all the same."""
        data = (corpora.CORPORA / "recordings/bedrock-converse/single-call.bin").read_bytes()
        (folder / "bad.bin").write_bytes(data + bytes(12))
        assert 3 == main(["redact", "bad.bin", "a.sse"])
        out, err = capsysbinary.readouterr()
        assert b"bad.bin: it cannot be redacted" in err
        assert 1 == out.count(b'{"wholecall":')

    @pytest.mark.parametrize(
        ("options", "said"), [(["none.sse"], "No such"), (["a.sse", "-o", "."], "directory")]
    )
    def test_troubles(self, options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
        """A file that cannot be read or written is reported, with exit code 3."""
        assert 3 == main(["redact", *options])
        assert said in capsys.readouterr().err

    def test_nothing_to_redact(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        """A file without recordings is not a success."""
        (folder / "none.har").write_bytes(b'{"log": {"entries": []}}')
        assert 3 == main(["redact", "none.har"])
        assert "there is no such recording" in capsys.readouterr().err


class TestFields:
    """Texts in fields of different kinds."""

    def test_each_kind_of_field_has_letters_of_its_own(self) -> None:
        """The same word as an id, a name, in a text, an argument, an argument's key, a comment and in the data next to
        the stream.
        """
        word = "Marigoldenrodes"
        said = chunk(
            content=word,
            tool_calls=[
                {"index": 0, "id": word, "function": {"name": word, "arguments": f'{{"{word}":"{word}"}}'}}
            ],
        )
        data = b": " + word.encode() + b"\n\n" + sse(said)
        found = redact(recorded(data, meta={"by": word}), Redaction("seed", names=True))
        written = b"".join(piece for _, piece in found.chunks)
        event = json.loads(written.split(b"data: ")[1])
        delta = event["choices"][0]["delta"]
        call = delta["tool_calls"][0]
        ((key, value),) = json.loads(call["function"]["arguments"]).items()
        kinds = [
            call["id"],
            call["function"]["name"],
            delta["content"],
            value,
            found.meta["by"],
            written[2:17].decode(),
        ]

        assert (key, 6, False) == (value, len(set(kinds)), word in kinds)

    def test_ids_are_one_kind_wherever_they_stand(self) -> None:
        """An id is the same under every key, so that related parts still match."""
        word = "Marigold77"
        data = sse({"id": word, "call_id": word, "toolCallId": word, "ids": [word], "other": word})
        event = json.loads(redacted(data).split(b"data: ")[1].split(b"\n")[0])
        other = event.pop("other")

        assert [event["id"]] * 4 == [event["id"], event["call_id"], event["toolCallId"], *event["ids"]]
        assert other != event["id"]

    @pytest.mark.parametrize("seed", ["a", "b"])
    def test_equal_seeds_make_equal_alphabets(self, seed: str) -> None:
        """Kinds differ from one another and by the seed, and by nothing else."""
        one, other = Alphabets(seed), Alphabets(seed)

        assert one.of("id").plain(MIXED) == other.of("id").plain(MIXED) != one.of("text").plain(MIXED)
        assert one.of("id").plain(MIXED) != Alphabets(seed + "x").of("id").plain(MIXED)

    @pytest.mark.parametrize("key", ["sk-proj-abcdefghijkl", "Kx7Kx7Kx7Kx7Kx7Kx7"])
    def test_a_key_as_model_or_delay_is_replaced(self, key: str) -> None:
        """Text that looks like a key is not one of the words that stay, and a delay is a number."""
        found = redacted(
            b"retry: " + key.encode() + b"\nretry: 10\n\n" + sse({**chunk(content="x"), "model": key})
        )

        assert (False, True) == (key.encode() in found, b"\nretry: 10\n" in found)

    @pytest.mark.parametrize("model", ["accounts/fireworks/models/qwen3", "gpt-4o-mini-2024-07-18"])
    def test_names_of_models_stay(self, model: str) -> None:
        """A path of words is not a key."""
        assert model.encode() in redacted(sse({**chunk(content="x"), "model": model}))


class TestCallsInStrings:
    """JSON about calls in a string: names stay, or are replaced everywhere alike; arguments are never shown."""

    @pytest.mark.parametrize(
        "name", ["coze/requires-an-action", "coze/parallel-calls", "dify/single-call", "dify/parallel-calls"]
    )
    @pytest.mark.parametrize("names", [False, True])
    def test_no_argument_is_shown(self, name: str, names: bool) -> None:
        """The calls of the redacted stream have other members and values, and other names only on request."""
        data = (corpora.CORPORA / "recordings" / f"{name}.sse").read_bytes()
        before, after = calls_of(data), calls_of(redacted(data, names=names))

        assert (len(before), not names) == (
            len(after),
            [one[0] for one in before] == [one[0] for one in after],
        )
        assert [] == [
            word
            for _, text in before
            for word in re.findall("[A-Za-z]{2,}", text)
            if word not in ("true", "false", "null")
            and word.encode() in b"".join(text.encode() for _, text in after)
        ]


def calls_of(data: bytes) -> list[tuple[str, str]]:
    """Return the name and the argument text of each call of a stream."""
    events = replay(recorded(data))
    return [
        (event.name, event.raw_arguments) for event in events if isinstance(event, (ToolCall, ServerToolCall))
    ]
