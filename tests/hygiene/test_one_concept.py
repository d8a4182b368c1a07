"""One concept, one module: no two modules of a folder share a stem, as `chat` and `chat_views` would."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.hygiene.source_tree import modules
from tests.support.together import together
from wholecall.dialects.table import DIALECTS

# Modules of one folder that begin with the same word, and the reason; a family whose reason is "one concept" is to be
# merged, or made a folder.
SHARED: Mapping[tuple[str, ...], str] = {
    (
        "calls.arguments.partial",
        "calls.arguments.partial_json",
    ): "shows half a text; reads a growing one, without a stream",
    ("cli.replay", "cli.replay_output"): "the command; the forms of its output",
    ("machine.call", "machine.call_text"): "the evidence about a call; its text in every form",
    ("stream.live", "stream.live_output"): "progress of arguments; of answers",
    (
        "text.formats",
        "text.formats_code",
        "text.formats_json",
        "text.formats_shared",
        "text.formats_tags",
    ): "data: formats by their kind of markup",
}
# A dialect's name is one word: `gemini_live` is no part of `gemini`.
DIALECT_NAMES = frozenset(dialect.name.replace("-", "_") for dialect in DIALECTS)


def stem(name: str) -> tuple[str, str]:
    """Return a module's folder, and the first word of its own name."""
    folder, _, own = name.rpartition(".")
    known = DIALECT_NAMES if name.startswith("dialects.") else ()
    words = [word for word in known if f"{own}_".startswith(f"{word}_")]
    return folder, max(words, key=len, default=own.partition("_")[0] or own)


def families(names: Iterable[str]) -> set[tuple[str, ...]]:
    """Return the modules of one folder that have one stem."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in sorted(names):
        found[stem(name)].append(name)
    return {tuple(family) for family in found.values() if len(family) > 1}


def test_no_concept_is_cut() -> None:
    """Modules with one stem are one concept, except where the table says why; a family that is gone leaves it."""
    assert SHARED.keys() == families(modules())


@together(
    ("names", "found"),
    [
        (["a.chat", "a.chat_views"], {("a.chat", "a.chat_views")}),
        (["a.chat_calls", "a.chat_views"], {("a.chat_calls", "a.chat_views")}),
        (["a.chat", "a.chat.views", "b.chat_views"], set()),
        (["a.chats", "a.chat_views"], set()),
        (["dialects.x.gemini", "dialects.x.gemini_live"], set()),
        (["dialects.x.ag_ui", "dialects.x.ag_ui_views"], {("dialects.x.ag_ui", "dialects.x.ag_ui_views")}),
        (
            ["dialects.x.ag_ui_calls", "dialects.x.ag_ui_views"],
            {("dialects.x.ag_ui_calls", "dialects.x.ag_ui_views")},
        ),
        (["other.gemini", "other.gemini_live"], {("other.gemini", "other.gemini_live")}),
    ],
)
def test_families_are_found(names: list[str], found: set[tuple[str, ...]]) -> None:
    """A module, or a folder, and its parts beside it; a dialect's name is one word in the room of dialects only."""
    assert found == families(names)
