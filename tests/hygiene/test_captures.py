"""Output of the program in the pages, compared with its real output."""

from __future__ import annotations

from tests.support.captures import PAGES, PROJECT, captured, renewed


def test_pages_show_what_the_program_writes() -> None:
    """Every captured block of a page equals, letter for letter, its command's present output."""
    pages = {name: (PROJECT / name).read_text("utf-8") for name in PAGES}
    made = {name: renewed(text) for name, text in pages.items()}

    assert pages == {name: text for name, (text, _) in made.items()}
    assert sum(count for _, count in made.values()) > 0


def test_a_block_is_written_anew() -> None:
    """A block that says something else is replaced, and nothing around it."""
    command = "inspect --calls corpora/recordings/chat-completions/cut-relabelled.sse"
    head, foot = f"a\n<!-- captured: wholecall {command} -->\n```\n", "```\n<!-- /captured -->\nb\n"

    assert (head + captured(command) + foot, 1) == renewed(f"{head}old\n{foot}")
