"""Restores the bytes of a body that a tool read in an encoding other than the server's.

Theory of operation. Event streams are UTF-8 whatever their content type says (WHATWG HTML 9.2.4), but tools that export
text follow the type: without a charset mitmproxy reads `text/event-stream` as Latin-1 and Chromium as Windows-1252.
Both keep every byte as a character, so the reversal is exact. It is applied if it gives valid UTF-8. Text that was read
correctly does not do that by chance: it would have to contain such a misreading itself.
"""

from __future__ import annotations

import re

__all__ = ["bytes_of"]

# The characters that Windows-1252 has where Latin-1 has controls; for its gaps, its readers keep the control.
_LATIN_1 = {
    ord(char): byte
    for byte in range(0x80, 0xA0)
    if (char := bytes([byte]).decode("cp1252", "replace")) != "\ufffd"
}
# A character that is in neither encoding; most text that was read as UTF-8 has one soon.
_ANOTHER = re.compile(f"[^\0-\xff{''.join(map(chr, _LATIN_1))}]")


def bytes_of(text: str, content_type: str, *, is_binary: bool) -> bytes:
    """Return a server's bytes from the text that a tool made of them.

    Args:
        text: the body.
        content_type: the content type that the tool states.
        is_binary: whether the type is of bytes other than text.
    """
    kind = content_type.lower()
    if text.isascii() or "charset" in kind or "json" in kind or _ANOTHER.search(text):
        return text.encode("utf-8", "surrogatepass")
    try:
        data = text.translate(_LATIN_1).encode("latin-1")
        if not is_binary:
            data.decode()
    except ValueError:  # it was read as UTF-8
        return text.encode("utf-8", "surrogatepass")
    return data
