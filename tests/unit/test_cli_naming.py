from __future__ import annotations

from pathlib import PurePath

from tests.support.together import together
from wholecall.cli.show import below_common_folder, common_folder


@together(
    ("names", "shown"),
    [
        (["a/b/x.sse"], ["x.sse"]),
        (["/logs/x.har#1", "/logs/x.har#2"], ["x.har#1", "x.har#2"]),
        (["a/b/x.sse", "a/c/x.sse"], ["b/x.sse", "c/x.sse"]),
        (["a/x.sse", "a/b/x.sse"], ["x.sse", "b/x.sse"]),
        (["a/x.sse", "b/x.sse"], ["a/x.sse", "b/x.sse"]),
        (["-"], ["-"]),
        (["a/x.sse", "/b/x.sse"], ["a/x.sse", "/b/x.sse"]),
        (["x.sse", "a/x.sse"], ["x.sse", "a/x.sse"]),
    ],
)
def test_what_all_names_have_in_common_goes(names: list[str], shown: list[str]) -> None:
    """Names keep their distinguishing parts; where they share no folder they stay unchanged."""
    assert [PurePath(name) for name in shown] == list(map(PurePath, below_common_folder(names)))


def test_there_may_be_no_common_folder() -> None:
    """The current folder is never named, and an absolute name shares nothing with a relative one."""
    assert ["", "", "a"] == [common_folder(folders) for folders in ([".", "a"], ["/a", "a"], ["a", "a/b"])]
