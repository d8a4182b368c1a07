"""Write a request for a wire: notes of parts that it cannot say, in the words of the wire that was read.

Theory of operation. A writer knows that its wire has no place for a part, and the reader's wire knows the part's name:
`Wire.places` has it. Texts of one message that become one text have a blank line in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from wholecall.dialects import decode
from wholecall.history import encode_arguments
from wholecall.repairing.translation.asked import Asked, File, Image, Text
from wholecall.repairing.translation.reading import Members, Notes, Untranslatable

_private = True

_DATA_URL: Final = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.=+-]+)*;base64,", re.ASCII)
_WEB: Final = ("https://", "http://")


class Writing(NamedTuple):
    """The notes for a request that is being written.

    Attributes:
        notes: where members are noted that are left out.
        places: the paths of parts in the wire that was read, by our name for the part.
        wire: the name of the wire that is written.
    """

    notes: Notes
    places: Mapping[str, str]
    wire: str

    def user(self, user: str, most: int) -> str | None:
        """Return the name of a user, None if there is none, or a longer one than the API accepts, which is noted.

        Args:
            user: the name in the request.
            most: characters that the API accepts.
        """
        if len(user) > most:
            self.leave("user")
            return None
        return user or None

    def leave(self, part: str) -> None:
        """Note a part without a place in the wire."""
        self.notes.leave(self.places.get(part, part))

    def refuse(self, part: str, reason: str) -> NoReturn:
        """Refuse a request because of a part.

        Raises:
            Untranslatable: always.
        """
        raise Untranslatable(self.places.get(part, part), f"{self.wire} {reason}")


class Wire(NamedTuple):
    """How requests of a wire are read and written.

    Attributes:
        read: reads a request.
        write: writes one.
        places: the paths of parts, by our names for them.
        endpoint: the end of the path of its requests.
    """

    read: Callable[[Members], Asked]
    write: Callable[[Asked, Writing], dict[str, Any]]
    places: Mapping[str, str]
    endpoint: str


def joined(texts: Iterable[str]) -> str:
    """Return texts as one, with a blank line between them; empty ones are left out, for they say nothing."""
    return "\n\n".join(text for text in texts if text)


def texts_of(parts: Iterable[object]) -> list[str]:
    """Return the texts among some parts."""
    return [part.text for part in parts if isinstance(part, Text)]


def arguments_of(text: str) -> dict[str, Any]:
    """Return the object of arguments; text that is no object is wrapped, as in histories (`{"INVALID_JSON": text}`)."""
    value = decode.plain(text) if text.strip() else {}
    if isinstance(value, dict):
        return value
    wrapped = encode_arguments(text, "anthropic")
    assert isinstance(wrapped, dict)
    return wrapped


def image_of(url: str, path: str, detail: str = "") -> Image:
    """Return the picture of a URL.

    Raises:
        Untranslatable: it is neither a web address nor base64 data.
    """
    media_type, data = _opened(url, path)
    if data is None:
        return Image(url=url, detail=detail)
    return Image(data=data, media_type=media_type, detail=detail)


def file_of(url: str, path: str, name: str = "") -> File:
    """Return the document of a URL, as `image_of`."""
    media_type, data = _opened(url, path)
    if data is None:
        return File(url=url, name=name)
    return File(data=data, media_type=media_type, name=name)


def _opened(url: str, path: str) -> tuple[str, str | None]:
    match = _DATA_URL.match(url)
    if match is not None:
        return match[1] or "application/octet-stream", url[match.end() :]
    if not url.startswith(_WEB):
        raise Untranslatable(path, "must be a web address, or base64 data with its type")
    return "", None


def url_of(medium: Image | File) -> str:
    """Return a picture or a document as a URL."""
    return medium.url or f"data:{medium.media_type};base64,{medium.data}"
