"""Libraries over every recorded stream of `corpora/`: `python -m benchmarks.rivals.recorded [--only NAME]`.

Three figures each, as the streams are and through the transport: right, an unsent call, silently lost; the rest are
errors and text that is not JSON. The calls that may run are those that the parser emits of a recording's first choice.
If a library does not get them through the transport, `EXCUSES` has the reason. The libraries that need older SDKs
(`systems.OLDER`) have a separate environment, with the extra `sdk-other`; only they are measured there.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.rivals.quirks import is_right, measure
from benchmarks.rivals.streams import Expected, Stream
from benchmarks.rivals.systems import OLDER, SYSTEMS, System
from wholecall import ToolCall, turns

FOLDER: Final = Path(__file__).resolve().parents[2] / "corpora" / "recordings"


@cache
def recorded(dialect: str) -> tuple[Stream, ...]:
    """Return the recorded event streams of a dialect, by name."""
    return tuple(map(_stream, sorted((FOLDER / dialect).glob("*.sse"))))


def _stream(path: Path) -> Stream:
    data = path.read_bytes()
    calls = [call for turn in turns([data]) for call in turn.calls if call.choice == 0]
    expected = tuple(Expected(call.name, call.arguments) for call in calls if isinstance(call, ToolCall))
    return Stream(path.parent.name, path.stem, (), (data,), expected)


def measured() -> list[System]:
    """Return the libraries to measure in this environment, those that the transport goes under."""
    installed = [system for system in SYSTEMS if system.installed and system.mendable]
    return [system for system in installed if system.name in OLDER] or installed


_ALL: Final = ""
_OTHER: Final = "a call of a kind that the library does not know, or hands over in another form"
_CUT: Final = "a cut at the token limit is an error for it, also beside a whole call"
_BROKEN: Final = "the stream breaks off, or ends in the provider's error, beside a whole call"
_CHOICES: Final = "alternatives: it takes the choices of an answer for one"
_ANSWERED: Final = "a call that the provider has answered itself: it is handed to the program, without a name"
_EMPTY: Final = "calls without arguments: their text is empty, which is no JSON"
_NAMED: Final = "a tool with a namespace, which it looks for under its bare name"

# Libraries that put the texts of calls of all choices together.
_MERGING: Final = ("langchain", "pydantic-ai", "smolagents", "agno")

# By recording, and there by how the name of the library begins.
EXCUSES: Final[Mapping[str, Mapping[str, str]]] = {
    "anthropic/dropped-connection": {_ALL: _BROKEN},
    "anthropic/error-event": {_ALL: _BROKEN},
    "anthropic/mcp-tool": {"any-llm": _ANSWERED},
    "anthropic/pause-turn": {"any-llm": _ANSWERED},
    "anthropic/server-tool": {"any-llm": _ANSWERED},
    "anthropic/zero-argument": {"any-llm": _EMPTY},
    "chat-completions/choices-open-late": dict.fromkeys(_MERGING, _CHOICES),
    "chat-completions/choices-two": dict.fromkeys(_MERGING, _CHOICES),
    "chat-completions/copilot-extras": {"langchain": _CHOICES, "smolagents": _CHOICES},
    "chat-completions/custom-tool": {
        "openai .stream()": _OTHER,
        "openai, own loop": _OTHER,
        "langchain": _OTHER,
        "pydantic-ai": _OTHER,
        "litellm": _OTHER,
        "any-llm": _OTHER,
        "smolagents": _OTHER,
        "agno": _OTHER,
    },
    "chat-completions/cut-length": {"openai .stream()": _CUT},
    "chat-completions/foundry-choices-by-chunk": {"langchain": _CHOICES, "smolagents": _CHOICES},
    "gemini/cut-stream": {_ALL: _BROKEN},
    "responses/custom-tool": {"langchain": _OTHER, "openai-agents": _OTHER},
    "responses/dropped-connection": {_ALL: _BROKEN},
    "responses/failed": {
        "openai .stream()": _BROKEN,
        "langchain": _BROKEN,
        "pydantic-ai": _BROKEN,
        "openai-agents": _BROKEN,
        "litellm": _BROKEN,
    },
    "responses/incomplete": {"openai .stream()": _CUT, "openai-agents": _CUT},
    "responses/namespace": {"openai-agents": _NAMED},
}


def excuse(system: str, stream: Stream) -> str:
    """Return why a library cannot read a recording right; empty where nothing is known."""
    known = EXCUSES.get(f"{stream.dialect}/{stream.title}", {})
    return next((why for name, why in known.items() if system.startswith(name)), "")


def figures(system: System, *, mended: bool) -> str:
    """Return the numbers of recordings that a library reads right, with unsent calls, and with silently lost calls."""
    verdicts = Counter[str]()
    for stream in recorded(system.dialect):
        said = measure(system, stream, mended=mended)
        verdicts["right" if is_right(stream, said) else said] += 1
    return f"{verdicts['right']} / {verdicts['wrong']} / {verdicts['lost']}"


def lines(only: str) -> Iterator[str]:
    """Yield the lines of the table, and of the excuses."""
    yield "| library | wire | recordings | as they are: right / nobody sent it / lost | with the transport |"
    yield "|---|---|---|---|---|"
    for system in measured():
        if only not in system.name:
            continue
        told = " | ".join(figures(system, mended=mended) for mended in (False, True))
        yield f"| {system.name} | {system.dialect} | {len(recorded(system.dialect))} | {told} |"
    yield from ("", "| recording | libraries | why not right |", "|---|---|---|")
    for name, reasons in EXCUSES.items():
        for why in dict.fromkeys(reasons.values()):
            whose = ", ".join(system or "all" for system, reason in reasons.items() if reason == why)
            yield f"| `{name}` | {whose} | {why} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals.recorded", description=__doc__)
    parser.add_argument("--only", default="", help="only systems whose name has this in it")
    options = parser.parse_args()
    logging.disable()
    warnings.simplefilter("ignore")
    for line in lines(options.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()
