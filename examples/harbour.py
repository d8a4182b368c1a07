"""The tools of the examples: two functions, described once, for the request and for the check of returned calls."""

from __future__ import annotations

from typing import Any

from wholecall import ToolCall, Tools


def get_tide(port: str) -> dict[str, Any]:
    """Return when the water is high at a port, in UTC."""
    return {"port": port, "high": "06:12"}


def book_berth(port: str, nights: int) -> str:
    """Book a berth for a number of nights, and return its number."""
    if nights > 30:
        raise ValueError("at most 30 nights")
    return f"berth 7 at {port}, {nights} nights"


_FUNCTIONS = {function.__name__: function for function in (get_tide, book_berth)}
TOOLS = Tools[dict[str, Any]](_FUNCTIONS)


def run(call: ToolCall[dict[str, Any]]) -> object:
    """Return a tool's result for a call, or its exception: the model reads both."""
    try:
        return _FUNCTIONS[call.name](**call.value)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model is told
        return error
