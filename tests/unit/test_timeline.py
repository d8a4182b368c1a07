from __future__ import annotations

import json
from typing import Any
from zlib import crc32

import pytest

from tests.support.encode_bedrock import header, message
from wholecall import Limits, Policy, StreamClosed, StreamFault, UnknownDialect, events
from wholecall.recordings.timeline.effects import CallChange
from wholecall.recordings.timeline.steps import Piece, pieces_of
from wholecall.timeline import Step, Timeline, timeline


def steps(*chunks: bytes, **options: Any) -> list[Step]:
    """Return the steps of a stream in these chunks."""
    return list(timeline(((None, chunk) for chunk in chunks), **options))


def places(*chunks: bytes, **options: Any) -> list[tuple[int, int, str | None, str]]:
    """Return where each step is, its frame's name and text."""
    return [(one.offset, one.size, one.event, one.data) for one in steps(*chunks, **options)]


def changes(*chunks: bytes, **options: Any) -> list[CallChange]:
    """Return all that became of calls."""
    return [change for step in steps(*chunks, **options) for change in step.changes]


def chat(*calls: dict[str, Any], finish: str | None = None) -> bytes:
    """Return one frame of a chat stream."""
    delta = {"tool_calls": list(calls)} if calls else {}
    chunk = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def fragment(arguments: str, **labels: Any) -> dict[str, Any]:
    """Return a piece of a call on index 0."""
    function = {"arguments": arguments, **({"name": labels.pop("name")} if "name" in labels else {})}
    return {"index": 0, "function": function, **labels}


def faults(step: Step) -> list[str]:
    """Return the kinds of the step's faults."""
    return [event.kind for event in step.events if isinstance(event, StreamFault)]


DONE = b"data: [DONE]\n\n"


class TestPlaces:
    """The bytes of a step."""

    @pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
    def test_line_ends(self, end: str) -> None:
        """A frame ends after its blank line, whatever the line ends are."""
        stream = f"data: a{end}{end}: hi{end}data: b{end}{end}".encode()
        first = 7 + 2 * len(end)
        expected = [
            (0, first, "message", "a"),
            (first, 11 + 3 * len(end), "message", "b"),
            (len(stream), 0, None, ""),
        ]

        assert expected == places(stream)
        assert expected == places(*(stream[n : n + 1] for n in range(len(stream))))

    def test_a_mark_at_the_beginning(self) -> None:
        """A byte order mark belongs to the first step."""
        assert [(0, 12, "message", "a"), (12, 0, None, "")] == places(b"\xef\xbb\xbfdata: a\n\n")

    def test_what_the_end_completes(self) -> None:
        """A frame without its blank line belongs to the last step, as does one JSON object without a line end."""
        assert [(0, 9, "message", "a"), (9, 7, "message", "b")] == places(b"data: a\n\ndata: b")
        assert [(0, 11, "", '{"error":1}')] == places(b'{"error":1}')

    def test_two_frames_at_the_end(self) -> None:
        """Of two frames that the end completes, the last has all bytes and all that came of them."""
        found = places(b'event: x\ndata: a\n{"b":')

        assert [(0, 0, "", '{"b":'), (0, 22, "x", "a")] == found

    def test_a_json_text_among_the_lines(self) -> None:
        """A bare object that a field ends has no byte of the field's line."""
        assert [
            (0, 9, "message", "x"),
            (9, 13, "", '{"error":\n 1'),
            (22, 9, "message", "a"),
            (31, 0, None, ""),
        ] == places(b'data: x\n\n{"error":\n 1\ndata: a\n\n')

    def test_a_cut_value_among_json_lines(self) -> None:
        """A value that the next line cuts short has no byte of that line."""
        stream = b'{"a":1\n{"b":2}\r\n\n{"c":3}\n'
        expected = [
            (0, 7, "", '{"a":1'),
            (7, 9, "", '{"b":2}'),
            (16, 9, "", '{"c":3}'),
            (25, 0, None, ""),
        ]

        assert expected == places(stream)
        assert expected == places(*(stream[n : n + 1] for n in range(len(stream))))

    def test_the_elements_of_an_array(self) -> None:
        """An element ends with its bracket, a word before its comma; the comma belongs to the next element."""
        assert [
            (0, 8, "", '{"a":1}'),
            (8, 5, "", "12"),
            (13, 11, "", '{"b":[2]}'),
            (24, 2, None, "]\n"),
        ] == places(b'[{"a":1},\n 12, {"b":[2]}]\n')

    def test_coded_lines(self) -> None:
        """Lines of the Vercel AI SDK are frames by their codes."""
        assert [(0, 10, "9", '{"a":1}'), (10, 6, "0", '"x"'), (16, 0, None, "")] == places(
            b'9:{"a":1}\n0:"x"\n'
        )

    def test_binary_messages(self) -> None:
        """A message is a step; text after a broken message is shown at the end, unchanged."""
        good = message(header(":event-type", "ping"), b"{}")
        broken = good[:4] + b"\xff" + good[5:]
        expected = [
            (0, len(good), "ping", "{}"),
            (len(good), 12, None, broken[:12].decode("utf-8", "replace")),
            (len(good) + 12, len(good) - 12, None, broken[12:].decode("utf-8", "replace")),
        ]
        stream = good + broken

        assert expected == places(stream)
        assert expected == places(*(stream[n : n + 1] for n in range(len(stream))))
        assert [(0, 20, None)] == [found[:3] for found in places(good[:20])]

    def test_an_impossible_length(self) -> None:
        """A message that is shorter than its own head ends the stream, and nothing hangs."""
        head = (0).to_bytes(4, "big") * 2
        stream = head + crc32(head).to_bytes(4, "big")

        assert [(0, 12, ["bad_crc"]), (12, 4, [])] == [
            (one.offset, one.size, faults(one)) for one in steps(stream + b"more", framing="eventstream")
        ]

    @pytest.mark.parametrize("stream", [b"", b"  \n", b"\xef\xbb", b"<html>\n</html>\n"])
    def test_no_frame(self, stream: bytes) -> None:
        """For bytes that are not a stream the last step shows the beginning."""
        assert [(0, len(stream), None, stream.decode("utf-8", "replace"))] == places(stream)

    def test_only_the_beginning_is_kept(self) -> None:
        """A step without a frame shows at most 64 KiB of its bytes, and counts all of them."""
        (step,) = steps(b"x" * 70_000, b"y" * 70_000)

        assert (140_000, "x" * 65_536) == (step.size, step.data)

    @pytest.mark.parametrize(
        ("limits", "kind", "rest"),
        [
            (Limits(max_line_bytes=30), "line_too_long", [(66, 10, None)]),
            (Limits(max_event_bytes=10), "event_too_large", [(66, 10, "message"), (76, 0, None)]),
            (Limits(max_stream_bytes=40), "stream_too_large", [(66, 10, None)]),
        ],
    )
    def test_a_limit(self, limits: Limits, kind: str, rest: list[Any]) -> None:
        """A step where trouble came without a frame shows its bytes, the same ones for every cut."""
        stream = b"data: a\n\ndata: " + b"x" * 50 + b"\n\ndata: c\n\n"
        expected = [(0, 9, "message"), (9, 57, None), *rest]

        for chunks in ([stream], [stream[n : n + 1] for n in range(len(stream))]):
            found = steps(*chunks, limits=limits)

            assert expected == [(one.offset, one.size, one.event) for one in found]
            assert ("data: xxx", [kind]) == (found[1].data[:9], faults(found[1]))


class TestPieces:
    """The cuts of a stream before it is fed."""

    def test_a_line_has_a_head(self) -> None:
        """The first bytes of a line come by themselves, however they came; its rest ends with its end."""
        lines = pieces_of("sse")

        assert [Piece(b"dat", "head")] == list(lines.cut(b"dat"))
        assert [Piece(b"a: x", "head"), Piece(b"y", "open")] == list(lines.cut(b"a: xy"))
        assert [Piece(b"z\n", "end"), Piece(b"\n", "end")] == list(lines.cut(b"z\n\n"))
        assert b"" == lines.rest()

    def test_a_carriage_return_waits(self) -> None:
        """A CR at the end of the bytes waits for its LF, or for the end."""
        lines = pieces_of("jsonl")

        assert [Piece(b"{}", "head")] == list(lines.cut(b"{}\r"))
        assert [Piece(b"\r\n", "end"), Piece(b"{}", "head")] == list(lines.cut(b"\n{}\r"))
        assert b"\r" == lines.rest()

    def test_brackets_and_commas(self) -> None:
        """A closing token ends its element, an opening or separating token ends the element before it."""
        array = pieces_of("jsonarray")

        assert ["head", "head", "open", "head", "open", "end", "end"] == [
            piece.kind for piece in array.cut(b'[{"a":[1]}')
        ]
        assert b"" == array.rest()


class TestSteps:
    """The content of a step."""

    def test_a_whole_call(self) -> None:
        """Each frame has its events; the verdict belongs to the frame that brought it, the rest to the end."""
        found = steps(
            chat(fragment('{"a":', id="c1", name="f")), chat(fragment("1}"), finish="tool_calls"), DONE
        )

        assert [
            ["TurnStarted", "ToolCallStarted", "ArgumentsDelta"],
            ["ArgumentsDelta", "ToolCall"],
            [],
            ["TurnFinished"],
        ] == [[type(event).__name__ for event in step.events] for step in found]
        assert [
            CallChange(0, 0, 0, None, "streaming", id="c1", name="f", added='{"a":', size=5),
            CallChange(0, 0, 0, "streaming", "ended", added="1}", size=7, outcome="exact"),
        ] == [change for step in found for change in step.changes]

    def test_chunks_and_times(self) -> None:
        """A step has the number and the time of the chunk that completed it; the end has those of the last."""
        found = timeline([(0.5, b"data: a"), (0.75, b"\n\ndata: b\n\ndata"), (2.0, b": c\n\n")])

        assert [(1, 0.75), (1, 0.75), (2, 2.0), (2, 2.0)] == [(step.chunk, step.time) for step in found]

    def test_the_dialect(self) -> None:
        """The dialect is known once a frame reveals it, or from the beginning."""
        line = Timeline()

        assert line.dialect is None
        line.feed(chat(fragment("{}", id="c1", name="f")))
        assert line.dialect == "chat-completions"
        assert Timeline("anthropic").dialect == "anthropic"

    def test_closing(self) -> None:
        """A timeline ends once; feeding it afterwards raises."""
        line = Timeline()
        line.feed(DONE)

        assert [True] == [step.end for step in line.close()]
        assert [] == line.close()
        with pytest.raises(StreamClosed):
            line.feed(b"")

    def test_mistakes(self) -> None:
        """Text is not bytes, and a framing or dialect must be known."""
        with pytest.raises(TypeError, match="encode"):
            Timeline().feed("data: a")  # type: ignore[arg-type]
        with pytest.raises(UnknownDialect, match="carrier pigeon"):
            Timeline(framing="carrier pigeon")

    def test_a_line_for_programs(self) -> None:
        """A step is one JSON line, lone surrogates included; its repr shows no text."""
        step = steps(chat(fragment('{"a":"\ud800', id="c1", name="f")))[0]
        told = json.loads(step.to_json())

        assert told["changes"][0]["added"] == '{"a":"'
        assert "arguments_delta" == told["events"][2]["type"]
        assert f"<Step 0 at 0, {step.size} bytes, 3 events>" == repr(step)
        assert "added=<6>" in repr(step.changes[0])

    def test_what_the_end_decides(self) -> None:
        """A call that is open when the stream ends is dropped by the last step."""
        found = steps(chat(fragment('{"a":', id="c1", name="f")))[-1]

        assert [
            CallChange(0, 0, 0, "streaming", "ended", size=5, outcome="dropped", reason="unterminated")
        ] == list(found.changes)
        assert (True, ("missing_finish",)) == (found.end, found.anomalies)


class TestChanges:
    """The results of calls."""

    def test_text_that_waits_for_a_name(self) -> None:
        """Text of a call without a name is reported as it comes, and not again when the name does."""
        found = changes(
            chat(fragment('{"a"', id="c1")), chat(fragment(":1")), chat(fragment("}", name="f")), DONE
        )

        assert [
            (None, "pending", '{"a"', 4, None),
            ("pending", "pending", ":1", 6, None),
            ("pending", "streaming", "}", 7, "f"),
        ] == [(one.before, one.after, one.added, one.size, one.name) for one in found[:3]]

    def test_a_placeholder(self) -> None:
        """An object in the place of a placeholder replaces it, with or without a name."""
        named = changes(chat(fragment("{}", id="c1", name="f")), chat(fragment('{"a":1}')))
        nameless = changes(chat(fragment("{}", id="c1")), chat(fragment('{"a":1}')))

        for found in (named, nameless):
            assert [("{}", False, 2, ()), ('{"a":1}', True, 7, ("placeholder",))] == [
                (one.added, one.replaced, one.size, one.flags) for one in found[:2]
            ]

    def test_a_restatement(self) -> None:
        """A whole text that begins with the known text adds the rest of it."""
        added = {"type": "response.output_item.added", "output_index": 0}
        item = {"type": "function_call", "id": "i", "call_id": "c1", "name": "f", "arguments": ""}
        delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"a"'}
        done = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'}
        frames = [{**added, "item": item}, delta, done]
        found = changes(b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in frames))

        assert [
            (None, "pending", "", 0),
            ("pending", "streaming", '{"a"', 4),
            ("streaming", "settled", ":1}", 7),
        ] == [(one.before, one.after, one.added, one.size) for one in found[:3]]

    def test_deltas_behind_a_whole_object(self) -> None:
        """Fragments replace the object that a block began with, as the parser reads them."""
        block = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}
        frames = [
            {"type": "message_start", "message": {"id": "m", "model": "x"}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            *(
                {
                    "type": "content_block_delta",
                    "index": 0,
                    "delta": {"type": "input_json_delta", "partial_json": one},
                }
                for one in ('{"b"', ":2}")
            ),
            {"type": "content_block_stop", "index": 0},
        ]
        found = changes(b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in frames))

        assert [('{"a": 1}', False, 8), ('{"b"', True, 4), (":2}", False, 7)] == [
            (one.added, one.replaced, one.size) for one in found[:3]
        ]

    def test_labels_that_come_to_nothing(self) -> None:
        """A call that might only have been labels again, and was, never appears."""
        found = changes(
            chat(fragment('{"a":1}', id="c1", name="f")),
            chat({"index": 0, "id": "c2"}),
            chat(finish="tool_calls"),
            DONE,
        )

        assert {0} == {one.index for one in found}

    def test_turns_side_by_side(self) -> None:
        """A call of a response in flight is reported by its turn, whichever response came last."""
        frames = []
        for key in ("r1", "r2"):
            item = {"type": "function_call", "id": key, "call_id": f"c-{key}", "name": "f", "arguments": ""}
            where = {"response_id": key, "output_index": 0, "item_id": key}
            frames += [
                {
                    "type": "response.created",
                    "event_id": "e",
                    "response": {"id": key, "object": "realtime.response"},
                },
                {"type": "response.output_item.added", **where, "item": item},
            ]
            frames.append({"type": "response.function_call_arguments.delta", **where, "delta": "{"})
        where = {"response_id": "r1", "output_index": 0, "item_id": "r1"}
        frames.append({"type": "response.function_call_arguments.delta", **where, "delta": "}"})
        stream = b"".join(json.dumps(one).encode() + b"\n" for one in frames)

        assert [(0, "{"), (1, "{"), (0, "}")] == [
            (one.turn, one.added) for one in changes(stream, dialect="openai-realtime") if one.added
        ]

    def test_a_hole(self) -> None:
        """Where a frame could not be read, the open calls say that text may be lost."""
        found = changes(chat(fragment('{"a":', id="c1", name="f")), b'data: {"choices":[{"del\n\n')

        assert [False, True, False] == [one.hole for one in found]
        assert "incomplete_input" == found[-1].reason

    def test_edits(self) -> None:
        """A recovered call lists its changes."""
        found = changes(chat(fragment('{"a":1,}', id="c1", name="f"), finish="tool_calls"), DONE)[-1]

        assert ("recovered", ["trailing_comma"]) == (found.outcome, [edit.kind for edit in found.edits])

    def test_a_verdict_that_is_held_back(self) -> None:
        """Where a policy holds calls until the turn ends, the outcome comes after the phase."""
        stream = [
            chat(fragment('{"a":1}', id="c1", name="f"), finish="tool_calls"),
            chat(),
            DONE,
        ]
        found = changes(*stream, policy=Policy(on_bad_sibling="reject_all"))

        assert [("ended", None), ("ended", "exact")] == [(one.after, one.outcome) for one in found]

    def test_calls_without_raw_text(self) -> None:
        """A call that the wire gives as an object, or as free text, is whole."""
        item = {
            "type": "local_shell_call",
            "id": "i",
            "call_id": "c1",
            "status": "completed",
            "action": {"command": ["ls"]},
        }
        custom = {"type": "custom_tool_call", "id": "j", "call_id": "c2", "name": "sql", "input": "select"}
        body = {"object": "response", "status": "completed", "output": [item, custom]}
        found = changes(json.dumps(body).encode())

        assert [("c1", "builtin", "whole"), ("c2", "custom", "whole")] == [
            (one.id, one.kind, one.outcome) for one in found
        ]
        assert "select" == found[1].added

    def test_an_oddity_is_told_once(self) -> None:
        """An oddity is reported by the step that showed it, once for each choice."""
        late = chat(fragment('{"b":2}', id="c1", name="f"))
        found = steps(chat(fragment('{"a":1}', id="c1", name="f"), finish="tool_calls"), DONE, late, late)

        assert [(), (), ("data_after_end",), (), ()] == [step.anomalies for step in found]

    def test_the_events_are_those_of_the_parser(self) -> None:
        """Trouble in the middle changes nothing about that."""
        stream = b"data: \xff\n\n" + chat(fragment("{}", id="c1", name="f")) + b"data: {\n\n" + DONE
        told = [event for step in steps(stream) for event in step.events]

        assert list(events([stream])) == told
