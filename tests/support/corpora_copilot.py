"""Recordings of GitHub Copilot's session events."""

from __future__ import annotations

from tests.support import encode_copilot as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, compact, every, json_array, sse

__all__: list[str] = []

SUB = "agent-explore-1"


def own(id: str, name: str, arguments: JSON, *flags: str) -> JSON:
    """Return an expected call that the agent executes."""
    return {"id": id, "name": name, "arguments": arguments, "flags": list(flags)}


@case("copilot/single-call", suffix="ndjson")
def single_call() -> Built:
    """A tool of the client, asked for before it starts; the answer comes in the next turn."""
    call = Call("call_Ab12", "show_chart", '{"harbour":"Ærøskøbing","hours":[0,6.25,12]}')
    extra = {"requestId": "req-1", "sessionId": "sess-7c1f"}
    events = [
        wire.event("session.start", sessionId="sess-7c1f", producer="copilot-agent", version=1),
        wire.prompt("Show me the tide."),
        wire.turn_start(0, model="gpt-5.4"),
        wire.event("assistant.intent", intent="Drawing a chart"),
        *wire.reasoned("r-1", ["A chart ", "says more."]),
        *wire.spoken("m-1", ["Here is ", "the tide 🌊."]),
        *wire.pieces_of(call, every(9)),
        wire.message("m-1", "Here is the tide 🌊.", call, reasoningText="A chart says more."),
        wire.event("assistant.reasoning", reasoningId="r-1", content="A chart says more."),
        wire.usage(41, "tool_calls"),
        wire.asked(call, "perm-1"),
        wire.answered("perm-1"),
        wire.requested(call, "req-1"),
        wire.started(call),
        wire.event("external_tool.completed", requestId="req-1"),
        wire.completed(call, "shown"),
        wire.turn_end(0),
        wire.turn_start(1, model="gpt-5.4"),
        *wire.spoken("m-2", ["There ", "it is."]),
        wire.message("m-2", "There it is."),
        wire.usage(5, "stop"),
        wire.turn_end(1),
        wire.idle(),
    ]
    arguments = {"harbour": "Ærøskøbing", "hours": [0, 6.25, 12]}
    return wire.lines(events), expect(good(call.id, call.name, arguments, extra=extra), reason="stop")


@case("copilot/parallel-interleaved", 26, 56, 102, suffix="ndjson")
def parallel() -> Built:
    """Two of the agent's own tools and one of the client, all at once; executions begin before anyone is asked."""
    own_1, theirs = Call("toolu_01", "view", '{"path":"tides.py"}'), Call("toolu_02", "ask_skipper", "")
    own_2 = Call("toolu_03", "bash", '{"command":"ls \\"quay 1\\""}')
    one, two = wire.pieces_of(own_1, every(4)), wire.pieces_of(own_2, every(7))
    events = [
        wire.turn_start(2),
        *(told for pair in zip(one, two, strict=False) for told in pair),
        *two[len(one) :],
        *one[len(two) :],
        wire.message("m-1", "", own_1, theirs, own_2),
        wire.started(own_1),
        wire.started(theirs),
        wire.started(own_2),
        wire.requested(theirs, "req-1"),
        wire.event("tool.execution_partial_result", toolCallId=own_2.id, partialOutput="a\n"),
        wire.completed(own_2, "a\nb"),
        wire.completed(own_1, "import math"),
        wire.completed(theirs, "Aye."),
        wire.turn_end(2),
        wire.idle(),
    ]
    server = [
        own("toolu_01", "view", {"path": "tides.py"}),
        own("toolu_03", "bash", {"command": 'ls "quay 1"'}),
    ]
    return wire.lines(events), expect(good(theirs.id, theirs.name, {}), server=server)


@case("copilot/whole-log", 71, 90, suffix="json")
def whole_log() -> Built:
    """A session's log as one array, without pieces: messages tell all; arguments may be a text or not be there."""
    one, two = Call("c1", "grep", '{"pattern":"tide\\\\s+table"}'), Call("c2", "report_intent", "")
    three = Call("c3", "mark_done", '{"n":3}')
    untold = {"toolCallId": two.id, "name": two.name}
    events = [
        wire.prompt("Where is the table?"),
        wire.turn_start(0),
        wire.event("assistant.reasoning", reasoningId="r-1", content="Search first."),
        wire.message(
            "m-1",
            "Searching.",
            wire.request(one, arguments=one.arguments),
            untold,
            reasoningText="Search first.",
        ),
        wire.started(one, arguments=one.arguments),
        wire.started(two),
        wire.completed(two),
        wire.completed(one, "tides.py:3"),
        wire.turn_end(0),
        wire.turn_start(1),
        wire.message("m-2", "Found.", three),
        wire.requested(three, "req-1"),
        wire.completed(three),
        wire.turn_end(1),
    ]
    found = good("c3", "mark_done", {"n": 3})
    server = [own("c1", "grep", {"pattern": "tide\\s+table"}), own("c2", "report_intent", {})]
    return json_array(wire.numbered(events)), expect(found, server=server)


@case("copilot/free-text-tools", 105, suffix="ndjson")
def free_text() -> Built:
    """Tools that take free text: the agent's own is told with its input in an object, the client's as it is."""
    patch = "*** Begin Patch\n*** Update File: a.py\n-x = \"1\"\n+x = '1' # ½\n*** End Patch"
    own_call = Call("custom_call_1", "apply_patch", patch, custom=True)
    theirs = Call("custom_call_2", "note", '{"not": json', custom=True)
    events = [
        wire.turn_start(0),
        *wire.pieces_of(own_call, every(11)),
        wire.message("m-1", "", own_call),
        wire.started(own_call),
        wire.completed(own_call, "patched"),
        wire.turn_end(0),
        wire.turn_start(1),
        *wire.pieces_of(theirs, every(5)),
        wire.message("m-2", "", theirs),
        wire.requested(theirs, "req-1"),
        wire.started(theirs),
        wire.completed(theirs),
        wire.turn_end(1),
        wire.idle(),
    ]
    server = [own(own_call.id, "apply_patch", {"input": patch}, "done_mismatch")]
    custom = [{"id": theirs.id, "name": "note", "input": '{"not": json'}]
    return wire.lines(events), expect(server=server, custom=custom)


@case("copilot/dropped-connection", 51, suffix="ndjson")
def dropped_connection() -> Built:
    """The stream ends before anyone says who executes the call that was told, and inside one that was not."""
    told, cut = Call("c1", "bash", '{"command":"make"}'), Call("c2", "view", '{"path":"a.py"}')
    events = [
        wire.turn_start(0),
        *wire.pieces_of(told, every(6)),
        wire.message("m-1", "", told, chunkIndex=0, chunkCount=2),
        *wire.pieces_of(cut, every(6))[:-1],
    ]
    lost = drop("c2", "view", "unterminated", '{"path":"a.p')
    server = [own("c1", "bash", {"command": "make"})]
    return wire.lines(events), expect(
        server=server, dropped=[lost], reason="malformed", anomalies=["missing_finish"]
    )


@case("copilot/session-error", 52, suffix="ndjson")
def session_error() -> Built:
    """An error inside a call ends its turn; the session goes on."""
    lost, call = Call("c1", "dredge", '{"metres":12}'), Call("c2", "dredge", '{"metres":3}')
    error = {"errorType": "rate_limit", "message": "Slow down.", "statusCode": 429}
    events = [
        wire.prompt("Dredge."),
        wire.turn_start(0),
        *wire.pieces_of(lost, every(5))[:-1],
        wire.event("session.error", **error),
        wire.idle(),
        wire.prompt("Again."),
        *wire.turn(Turn([call]), every(5)),
    ]
    return wire.lines(events), expect(
        good("c2", "dredge", {"metres": 3}),
        dropped=[drop("c1", "dredge", "aborted", '{"metres":')],
        faults=["provider_error"],
    )


@case("copilot/aborted", 94, suffix="ndjson")
def aborted() -> Built:
    """The user stops the agent while a tool runs: what had not come out is dropped."""
    done, runs = Call("c1", "view", '{"path":"a.py"}'), Call("c2", "bash", '{"command":"make all"}')
    asked = Call("c3", "ask_skipper", '{"q":"Go on?"}')
    events = [
        wire.turn_start(0),
        wire.message("m-1", "Working.", done, runs, asked),
        wire.started(done),
        wire.completed(done),
        wire.started(runs),
        wire.requested(asked, "req-1"),
        wire.event("abort", reason="user initiated"),
        wire.turn_end(0),
        wire.idle(aborted=True),
    ]
    return wire.lines(events), expect(
        good("c3", "ask_skipper", {"q": "Go on?"}),
        server=[own("c1", "view", {"path": "a.py"})],
        dropped=[drop("c2", "bash", "aborted", '{"command":"make all"}')],
        reason="aborted",
    )


@case("copilot/denied-and-waiting", 104, suffix="ndjson")
def denied() -> Built:
    """Of three calls that need a permission one gets it, one is denied, and one still waits when the log ends."""
    yes, no, open_ = (
        Call(f"c{n}", "bash", compact({"command": text})) for n, text in enumerate(("ls", "rm -rf /", "pwd"))
    )
    events = [
        wire.turn_start(0),
        wire.message("m-1", "", yes, no, open_),
        wire.asked(yes, "p-0", "shell"),
        wire.asked(no, "p-1", "shell"),
        wire.asked(open_, "p-2", "shell"),
        wire.answered("p-1", "denied-interactively-by-user"),
        wire.answered("p-0", "approved"),
        wire.started(yes),
        wire.completed(yes),
        wire.completed(no, "denied"),
    ]
    return wire.lines(events), expect(
        server=[
            own("c0", "bash", {"command": "ls"}),
            own("c2", "bash", {"command": "pwd"}, "needs_approval"),
        ],
        dropped=[drop("c1", "bash", "aborted", '{"command":"rm -rf /"}')],
        reason="malformed",
        anomalies=["missing_finish"],
    )


@case("copilot/answer-asked-for-again", 111, suffix="ndjson")
def asked_again() -> Built:
    """A model call fails inside its answer, and is made again: no message tells the first one's call, though whole."""
    lost, call = Call("call_1", "open_lock", '{"gate":2}'), Call("call_2", "open_lock", '{"gate":2}')
    events = [
        wire.turn_start(0),
        *wire.pieces_of(lost, every(4)),
        wire.event("model.call_failure", model="model-1", statusCode=502),
        *wire.pieces_of(call, every(4)),
        wire.message("m-1", "", call),
        wire.usage(9, "tool_calls"),
        wire.requested(call, "req-1"),
        wire.started(call),
        wire.completed(call),
        wire.turn_end(0),
        wire.idle(),
    ]
    return wire.lines(events), expect(
        good("call_2", "open_lock", {"gate": 2}),
        dropped=[drop("call_1", "open_lock", "aborted", '{"gate":2}')],
    )


@case("copilot/sub-agent", 64, 112, suffix="ndjson")
def sub_agent() -> Built:
    """A sub-agent works while the main one runs a tool: their events mix, their turns do not, nor do their ids."""
    task = Call("functions.task:0", "task", '{"agent_type":"explore","prompt":"Find it."}')
    look = Call("functions.view:0", "view", '{"path":"tides.py"}')
    ask = Call("functions.ask:1", "ask_skipper", '{"q":"Which tide?"}')
    again = Call("functions.view:0", "view", '{"path":"locks.py"}')
    events = [
        wire.turn_start(0),
        wire.message("m-1", "I will look.", task),
        wire.started(task),
        wire.event("subagent.started", toolCallId=task.id, agentName="explore"),
        wire.turn_start(0, SUB),
        *wire.spoken("m-s1", ["Look", "ing."], SUB),
        *wire.spoken("m-2", ["Mean"]),
        *wire.pieces_of(look, every(8), SUB),
        *wire.spoken("m-2", ["while."]),
        wire.message("m-s1", "Looking.", look, ask, agent=SUB),
        wire.message("m-2", "Meanwhile."),
        wire.started(look, SUB),
        wire.completed(look, agent=SUB),
        wire.requested(ask, "req-1", SUB),
        wire.completed(ask, "Spring.", agent=SUB),
        wire.turn_end(0, SUB),
        wire.event("subagent.completed", toolCallId=task.id, agentName="explore"),
        wire.completed(task, "Found."),
        wire.turn_end(0),
        wire.turn_start(1),
        wire.message("m-3", "", again),
        wire.started(again),
        wire.completed(again),
        wire.turn_end(1),
        wire.idle(),
    ]
    server = [
        own(task.id, "task", {"agent_type": "explore", "prompt": "Find it."}),
        own(look.id, "view", {"path": "tides.py"}),
        own(again.id, "view", {"path": "locks.py"}),
    ]
    return wire.lines(events), expect(
        good(ask.id, "ask_skipper", {"q": "Which tide?"}), server=server, reason="stop"
    )


@case("copilot/cut-at-length", 49, suffix="ndjson")
def cut() -> Built:
    """The token limit inside a call: the agent closed its brackets for the message, and nobody executes it."""
    call = Call("c1", "create", '{"path":"a.py","text":"half of')
    closed = wire.request(Call("c1", "create"), arguments={"path": "a.py", "text": "half of"})
    events = [
        wire.turn_start(0),
        *wire.pieces_of(call, every(8)),
        wire.message("m-1", "Writing.", closed),
        wire.usage(4096, "length"),
        wire.turn_end(0),
        wire.idle(),
    ]
    lost = drop("c1", "create", "truncated", '{"path":"a.py","text":"half of"}')
    return wire.lines(events), expect(dropped=[lost], reason="length")


@case("copilot/masked-line", suffix="ndjson")
def masked() -> Built:
    """A secret is masked in the output, and an escape with it, so that the line is no JSON: others tell all of it."""
    call = Call("c1", "post_notice", '{"key":"s3cr3t","text":"Closed"}')
    events = [
        wire.turn_start(0),
        *wire.pieces_of(call, every(8)),
        wire.message("m-1", "", call),
        wire.requested(call, "req-1"),
        wire.completed(call),
        wire.turn_end(0),
        wire.idle(),
    ]
    rows = wire.lines(events).splitlines(keepends=True)
    rows[2] = rows[2].replace(b's3cr3t\\"', b'******"')
    found = good("c1", "post_notice", {"key": "s3cr3t", "text": "Closed"})
    return b"".join(rows), expect(found, faults=["undecodable_frame"])


@case("copilot/extract", 46, 64, suffix="sse")
def extract() -> Built:
    """Two prompts, of which only what was said is left: no turns, no executions; the ids come again."""
    first = Call("functions.view:0", "view", '{"path":"a.py"}')
    second = Call("functions.view:0", "view", '{"path":"b.py"}')
    third = Call("functions.view:0", "view", '{"path":"c.py"}')
    events = wire.extracted(
        [
            wire.prompt("Look."),
            *wire.pieces_of(first, every(8)),
            wire.message("m-1", "", first),
            wire.prompt("And in b?"),
            *wire.spoken("m-2", ["And ", "in b."]),
            *wire.pieces_of(second, every(8)),
            wire.message("m-2", "And in b.", second),
            wire.idle(),
            wire.message("m-3", "", third),
        ]
    )
    server = [own("functions.view:0", "view", {"path": path}) for path in ("a.py", "b.py", "c.py")]
    return b"".join(sse(told) for told in events), expect(
        server=server, reason="unknown", anomalies=["missing_finish"]
    )
