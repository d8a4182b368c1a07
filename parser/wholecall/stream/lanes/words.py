"""What members hold in a stream with nothing odd in it, for the views of all lanes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import msgspec

__all__ = ["Counts", "Id", "Name", "NoList", "Nothing", "Word"]

Word = Annotated[str, msgspec.Meta(min_length=1)]
Id = Annotated[str, msgspec.Meta(pattern=r"^[\w.:/-]{1,64}\Z")]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-zA-Z0-9_.:/-]{1,64}\Z")]
Nothing = Union[Literal[""], None]
NoList = Union[Annotated[list[Any], msgspec.Meta(max_length=0)], None]
Counts = Union[dict[str, Any], None]
