"""The table of the proxy's settings as docs/proxy.md shows it, made from the settings themselves.

python -m tests.support.settings_table     prints it, to be pasted between the markers in docs/proxy.md
"""

from __future__ import annotations

import json

import msgspec

from wholecall.proxy.config import KEYS, UPSTREAM, Setting
from wholecall.proxy.values import Address


def _default(setting: Setting) -> str:
    """Return a default as the file would have it, or in words."""
    value = setting.default
    if setting.key.default or value is msgspec.NODEFAULT:
        return setting.key.default
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"`{value:g}`"
    return f"`{json.dumps(str(value) if isinstance(value, Address) else value)}`"


def markdown() -> str:
    """Return the table: a row for each key of the file, those of an upstream last."""
    rows = [*KEYS.values(), *UPSTREAM.values()]
    lines = [f"| `{row.name}` | {_default(row)} | {row.description} |".replace("  ", " ") for row in rows]
    return "\n".join(["| key | default | |", "|---|---|---|", *lines]) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - that is what it is for
