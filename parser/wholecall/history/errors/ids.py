"""The call ids that an error's text names, and the type that it expects arguments to be.

Theory of operation. An id is recognised by its form (the prefixes of the providers) or by the words before it
(`tool_call_id: …`, `… ids …: a, b.`). After a plural, after "was" and in quotes any word is an id;
elsewhere only a word with a digit, because other words may be the rest of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

__all__ = ["expected_type", "named_ids"]

MAX_IDS = 128

_WORD = r"[\w.:|/+=-]{0,510}\w"
_LIST = rf"[\[(]?(?:'{_WORD}'(?:, ?'{_WORD}'){{0,{MAX_IDS}}}|{_WORD}(?:, ?{_WORD}){{0,{MAX_IDS}}})"
# OpenAI, its items, Anthropic, Bedrock, vLLM, Kimi; not the words `call_id` and the like.
_KNOWN = re.compile(
    r"(?<![\w-])(?:(?:srv|mcp)?toolu_|tooluse_|fc_|ctc_|chatcmpl-tool-|call-(?=\w{0,40}\d)"
    r"|functions\.[\w-]{1,128}:(?=\d)|call_(?!(?:id|name|type|output|result)s?\b))[\w.:|-]{0,500}\w"
)
# The words before ids, and whether any word counts there.
_MENTIONS = (
    (re.compile(rf"ids\b'?[^:.\n]{{0,80}}: ({_LIST})", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id was '?({_WORD})", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id'?(?: of)?[ :=(]{{1,3}}'({_WORD})'", re.IGNORECASE), True),
    (re.compile(rf"(?:call|use|tool)[ _]?id'?(?: of)?[ :=(]{{1,3}}({_LIST})", re.IGNORECASE), False),
    (re.compile(rf"value '({_WORD})' at '[\w.\[\]-]{{1,200}}tooluseid'", re.IGNORECASE), True),
)
_ITEM = re.compile(r"[^,\s'\[\]()]+")
_PLACE = re.compile(r"(?:messages?|input|contents?|body|tools?|choices)(?:[.\[]|$)|https?:", re.IGNORECASE)
_EXPECTED = re.compile(
    r"(?:expected|expects|expecting|should be|must be|to be|of type|pairs from|provide|(?<!in)valid types?:"
    r"|google\.protobuf\.)[^\w']{0,3}"
    r"(?:(?:an?|one|valid|json|<class|api\.|type)[ ']{0,2}){0,4}'?"
    r"(?:(?P<object>object|dict|map|struct\b|toolcallfunctionarguments)|(?P<string>str(?:ing)?\b))"
)


def named_ids(text: str) -> tuple[str, ...]:
    """Return the call ids that a text names, each once, in their order."""
    found = [(match.start(), match[0]) for match in _KNOWN.finditer(text)]
    for pattern, any_word in _MENTIONS:
        for match in pattern.finditer(text):
            found += _listed(match, any_word)
    return tuple(dict.fromkeys(word for _, word in sorted(found)))[:MAX_IDS]


def _listed(mention: re.Match[str], any_word: bool) -> Iterator[tuple[int, str]]:
    """Yield the ids of a mention and their places, up to the first word that is not an id."""
    for word in _ITEM.finditer(mention.string, *mention.span(1)):
        if _PLACE.match(word[0]) or not (any_word or any(map(str.isdigit, word[0]))):
            return
        yield word.start(), word[0]


def expected_type(text: str) -> Literal["string", "object"] | None:
    """Return the type that a complaint about a value's type requires, None if it is not stated.

    Args:
        text: the complaint, in lower case.
    """
    match = _EXPECTED.search(text)
    if match is None:
        return None
    return "string" if match["string"] else "object"
