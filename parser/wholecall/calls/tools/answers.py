"""The expected form of an answer: a type, or a JSON Schema, alone or as in a request.

Theory of operation. The forms are those of tools (see `tool`), but a value need not be an object: a list, a number and
a union are possible. A mapping is a JSON Schema, or a part of a request that holds one; a table says under which keys.
No type selects JSON's own types: `"json"` takes any value.

Sources: the request references of OpenAI (Chat Completions `response_format`, Responses `text.format`), Anthropic
(`output_config.format`, formerly `output_format`), Gemini (`responseSchema` and `responseJsonSchema` of
`generationConfig`), Cohere (`response_format`), Ollama (`format`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union, get_origin

from wholecall.calls.tools import spelling, types, validators
from wholecall.calls.tools.misfit import Check
from wholecall.calls.tools.schema import schema_check
from wholecall.calls.tools.tool import Tool

_SCHEMAS = (
    *("format", "json_schema", "schema"),
    *("responseJsonSchema", "response_json_schema", "responseSchema", "response_schema"),
)
_UNASKED = frozenset({"text", "json_schema"})  # types of a format that has no schema


def answer_check(form: Any) -> Union[Check, None]:
    """Return the check of an answer, None where any JSON value is accepted.

    Raises:
        TypeError: the form describes no answer.
        ValueError: a JSON Schema is not valid, or refers to another document.
        ImportError: a JSON Schema needs the extra `schema`.
    """
    if isinstance(form, str) and form == "json":
        return None
    if isinstance(form, Tool):
        return form.check
    validator = validators.validator_of(form)
    if validator is not None:
        return validator.check
    dump = None if isinstance(form, type) else getattr(form, "model_dump", None)
    if callable(dump):  # an SDK's object
        form = dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(form, Mapping):
        return _by_schema(form)
    if isinstance(form, type) or get_origin(form) is not None:
        return types.value_check(form)
    raise TypeError(
        f"a {type(form).__name__} describes no answer; give a type, a JSON Schema, or 'json' for any JSON"
    )


def _by_schema(form: Mapping[str, Any]) -> Check:
    """Return the check by a JSON Schema, or by a part of a request that holds one."""
    schema: Any = form
    while isinstance(inner := next((schema[key] for key in _SCHEMAS if key in schema), None), Mapping):
        schema = inner
    asked = schema.get("type")
    if asked == "json_object":
        return types.type_check(dict)
    if isinstance(asked, str) and asked in _UNASKED:
        raise TypeError(f"the format {asked!r} has no schema; give one, or 'json' for any JSON")
    checked = schema_check(spelling.json_schema(schema, ""), "")
    if checked.unchecked:
        raise ValueError(f"the JSON Schema cannot be checked {checked.unchecked}")
    return checked.check
