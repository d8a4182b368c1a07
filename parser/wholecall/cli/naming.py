"""Names of recordings for people: their common folder is left out; it is redundant, and may be private."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

__all__ = ["below_common_folder", "common_folder", "folder_of"]


def folder_of(name: str) -> str:
    """Return the folder of a recording, by its name; `"."` for the current one."""
    return str(PurePath(name).parent)


def common_folder(folders: Sequence[str]) -> str:
    """Return the folder that holds all of some folders; empty if it is only the current one or the root."""
    try:
        common = os.path.commonpath(folders)
    except ValueError:  # absolute and relative ones, or other drives
        return ""
    return "" if common == "." else common


def below_common_folder(names: Sequence[str]) -> list[str]:
    """Return the names of recordings without their common folder."""
    common = common_folder([folder_of(name) for name in names])
    return [str(PurePath(name).relative_to(common)) if common else name for name in names]
