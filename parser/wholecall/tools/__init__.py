"""Tools: the definitions that the model was given, and the check of a call's arguments."""

from wholecall.tools.answers import answer_check
from wholecall.tools.tool import AnyTools, Tool, Tools, TypedForm, TypedTools

__all__ = ["AnyTools", "Tool", "Tools", "TypedForm", "TypedTools", "answer_check"]

_private = True
