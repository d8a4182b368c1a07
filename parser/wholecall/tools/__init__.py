"""Tools: what the model was given, and whether the arguments of a call fit."""

from wholecall.tools.answers import answer_check
from wholecall.tools.tool import AnyTools, Tool, Tools, TypedForm, TypedTools

__all__ = ["AnyTools", "Tool", "Tools", "TypedForm", "TypedTools", "answer_check"]

_private = True
